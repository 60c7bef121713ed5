// Measures the calls that an agent really makes: the first call, which starts the server, and the hundred calls after
// it.
//
// Every round starts all routes again, one after the other in random order. Nothing is warmed up. CPU time is that of
// the process between client and server; on a machine with other work it is much less noisy than the duration.
import { ERAS, httpRoutes, openRoute, shuffled, startHttp, stdioRoutes } from '../parts/call-routes.mjs';
import { median, percentile } from '../parts/statistics.mjs';

export const title = 'First calls (echo tool, fresh processes)';

const ROUNDS = 7;
const SPANS = { 'calls 1–20': 20, 'calls 1–100': 100 };
const COMPARED = new Set([
  'direct, legacy client',
  'direct, modern client',
  'line proxy',
  'gateway, legacy client',
  'gateway, modern client',
]);

/** One route: how long its first call took, and times and CPU time of each span of calls. */
const tryOut = async (definition) => {
  const { connectMs, firstMs, call, close } = await openRoute(definition, 'hello');
  const few = await call(SPANS['calls 1–20']);
  const more = await call(SPANS['calls 1–100'] - SPANS['calls 1–20']);
  await close();
  return {
    // A gateway is running before the first call; a server that is called directly has to be started for it.
    firstMs: definition.params ? firstMs : connectMs + firstMs,
    startMs: connectMs + firstMs,
    'calls 1–20': few,
    'calls 1–100': { times: [...few.times, ...more.times], cpuMs: few.cpuMs + more.cpuMs },
  };
};

const runRound = async (definitions) => {
  const samples = new Map();
  for (const definition of shuffled(definitions)) samples.set(definition.name, await tryOut(definition));
  return samples;
};

const ofFirst = (kind, rounds) => {
  const middle = (name, key) => median(rounds.map((samples) => samples.get(name)[key]));
  return ERAS.flatMap((era) => {
    const [own, other] = [`gateway, ${era} client`, `direct, ${era} client`];
    const ratio = (what, key, budget) => ({
      what: `${kind}, ${what}: gateway / direct, ${era}`,
      value: middle(own, key) / middle(other, key),
      unit: '×',
      budget,
      note: `${middle(own, key).toFixed(0)} against ${middle(other, key).toFixed(0)} ms`,
    });
    return [ratio('first call, server start included', 'firstMs', 2), ratio('spawn to the first answer', 'startMs')];
  });
};

const ofSpan = (kind, span, rounds) => {
  const where = `${kind}, ${span}`;
  const times = (name) => rounds.flatMap((samples) => samples.get(name)[span].times);
  const cpus = (name) => rounds.map((samples) => samples.get(name)[span].cpuMs / SPANS[span]);
  const names = [...rounds[0].keys()].sort();
  const lines = names.map((name) => ({
    what: `${where}: ${name}, median`,
    value: median(times(name)),
    unit: 'ms',
    note: `p95 ${percentile(times(name), 0.95).toFixed(2)} ms, ${rounds.length} starts`,
  }));
  for (const name of names.filter((one) => !one.startsWith('direct')))
    lines.push({
      what: `${where}: CPU per call, ${name}`,
      value: median(cpus(name)),
      unit: 'ms',
      note: `by start ${Math.min(...cpus(name)).toFixed(2)}–${Math.max(...cpus(name)).toFixed(2)} ms`,
    });
  for (const era of ERAS) {
    const [own, other] = [`gateway, ${era} client`, `direct, ${era} client`];
    lines.push({
      what: `${where}: added by the gateway, ${era}`,
      value: median(times(own)) - median(times(other)),
      unit: 'ms',
      budget: span === 'calls 1–20' ? 1 : undefined,
    });
  }
  if (rounds[0].has('line proxy')) {
    const [own, other] = ['gateway, legacy client', 'line proxy'];
    const ratio = (what, of) => ({
      what: `${where}: ${what} / line proxy`,
      value: median(of(own)) / median(of(other)),
      unit: '×',
    });
    lines.push(ratio('gateway', times), ratio('CPU of the gateway', cpus));
  }
  return lines.filter(({ value }) => !Number.isNaN(value));
};

export const measure = async ({ rounds: wanted }) => {
  const http = await startHttp();
  const lines = [];
  const kinds = {
    stdio: () => stdioRoutes().filter(({ name }) => COMPARED.has(name)),
    http: () => httpRoutes(http.url),
  };
  for (const [kind, routes] of Object.entries(kinds)) {
    const rounds = [];
    for (let round = 0; round < Number(wanted ?? ROUNDS); round++) rounds.push(await runRound(routes()));
    lines.push(...ofFirst(kind, rounds), ...Object.keys(SPANS).flatMap((span) => ofSpan(kind, span, rounds)));
  }
  http.close();
  return lines;
};
