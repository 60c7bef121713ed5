// Measures one call of an echo tool in a warm process, direct and with something in between.
//
// Every route has its own client process, as agents have; in a shared process the routes would warm each other up. The
// routes take turns of a few calls, so that a busy moment of the machine hits all of them; but each turn then starts
// with caches left by the others. So there are also turns in which all calls of a route follow each other. The order is
// random each time. All of it is repeated with new processes, because what V8 compiles when, and where the code lies,
// differs between processes.
import { ERAS, httpRoutes, openRoute, shuffled, startHttp, stdioRoutes } from '../parts/call-routes.mjs';
import { median, percentile } from '../parts/statistics.mjs';

export const title = 'Call (echo tool, one at a time, steady state)';

/** `first-calls.mjs` measures the calls before. V8 goes on compiling the code of a call for some thousand calls. */
const WARM_UP = 300;
const CALLS = 300;
const ROUNDS = 3;
const SMALL = 'hello';
const LARGE = 'x'.repeat(64 * 1024);
const WAYS = {
  small: { text: SMALL, callsPerTurn: 25, hasBudgets: true },
  'small, in a row': { text: SMALL, callsPerTurn: CALLS, hasBudgets: true },
  'small, after 3,000 calls': { text: SMALL, callsPerTurn: 25, warmUp: 3_000 },
  '64 KiB': { text: LARGE, callsPerTurn: 25, share: 1 / 4 },
};

/** Milliseconds of every call, and CPU time of all of them, by route, of one set of processes. */
const race = async (definitions, { text, callsPerTurn, warmUp = WARM_UP }) => {
  const routes = [];
  for (const definition of shuffled(definitions)) routes.push(await openRoute(definition, text));
  const samples = new Map(definitions.map(({ name }) => [name, { times: [], cpuMs: 0 }]));
  for (const { call } of routes) await call(warmUp);
  for (let done = 0; done < CALLS; done += callsPerTurn) {
    for (const { name, call } of shuffled(routes)) {
      const { times, cpuMs } = await call(callsPerTurn);
      samples.get(name).times.push(...times);
      samples.get(name).cpuMs += cpuMs;
    }
  }
  for (const { close } of routes) await close();
  return samples;
};

const toLines = (where, rounds) => {
  const times = (name) => rounds.flatMap((samples) => samples.get(name).times);
  const cpu = (name) => median(rounds.map((samples) => samples.get(name).cpuMs / CALLS));
  const cpuNote = (name) => (Number.isNaN(cpu(name)) ? '' : `CPU per call ${cpu(name).toFixed(3)} ms, `);
  const middle = (name) => median(times(name));
  const lines = [...rounds[0].keys()].map((name) => ({
    what: `${where}: ${name}, median`,
    value: middle(name),
    unit: 'ms',
    note: `p95 ${percentile(times(name), 0.95).toFixed(3)} ms, ${cpuNote(name)}${times(name).length} calls`,
  }));
  const compare = (what, above, below, budget) => {
    const each = rounds
      .map((samples) => median(samples.get(above).times) / median(samples.get(below).times))
      .sort((a, b) => a - b);
    const p95 = percentile(times(above), 0.95) / percentile(times(below), 0.95);
    return {
      what: `${where}: ${what}`,
      value: middle(above) / middle(below),
      unit: '×',
      budget,
      note: `p95 ${p95.toFixed(2)} ×; by round ${each[0].toFixed(2)}–${each.at(-1).toFixed(2)} ×`,
    };
  };
  for (const era of ERAS) {
    const [own, other] = [`gateway, ${era} client`, `direct, ${era} client`];
    lines.push(compare(`gateway / direct, ${era}`, own, other, 1.75));
    lines.push({
      what: `${where}: added by the gateway, ${era}`,
      value: middle(own) - middle(other),
      unit: 'ms',
      budget: 1,
    });
  }
  if (rounds[0].has('line proxy')) {
    for (const name of ['byte pipe', 'line proxy', 'SDK proxy'])
      lines.push(compare(`${name} / direct, legacy`, name, 'direct, legacy client'));
    const [own, other] = ['gateway, legacy client', 'line proxy'];
    lines.push(compare('gateway / line proxy, legacy', own, other, 1.25));
    lines.push({ what: `${where}: CPU of the gateway / line proxy, legacy`, value: cpu(own) / cpu(other), unit: '×' });
  }
  return lines.filter(({ value }) => !Number.isNaN(value));
};

/** The budgets are for a plain call; the other rows are for comparison. */
const withoutBudgets = (lines) => lines.map(({ budget, ...line }) => line);

export const measure = async ({ rounds: wanted }) => {
  const lines = [];
  const http = await startHttp();
  for (const [kind, routes] of Object.entries({ stdio: stdioRoutes, http: () => httpRoutes(http.url) })) {
    for (const [name, way] of Object.entries(WAYS)) {
      const rounds = [];
      const count = Math.ceil(Number(wanted ?? ROUNDS) * (way.share ?? 1));
      for (let round = 0; round < count; round++) rounds.push(await race(routes(), way));
      const shown = toLines(`${kind}, ${name}`, rounds);
      lines.push(...(way.hasBudgets ? shown : withoutBudgets(shown)));
    }
  }
  http.close();
  return lines;
};
