// Measures the time from spawn to the first search answer, against `node -e 0` in the same run; repeats are
// interleaved.
import { spawn } from 'node:child_process';
import { createCachedWorld, createHome } from '../parts/gateway-world.mjs';
import { initialize, openLines, processState } from '../parts/line-client.mjs';
import { median, percentile } from '../parts/statistics.mjs';
import { syntheticCorpus } from '../parts/tool-corpus.mjs';

export const title = 'Start (spawn to first answer)';

const REPEATS = 11;
const path = (relative) => new URL(`../../${relative}`, import.meta.url).pathname;
const GATEWAY = path('dist/bin/discovery.js');
const CLI = path('dist/bin/anygpt.js');
const SAMPLES = ['weather', 'calendar', 'units', 'notes'];

/** Milliseconds until a command has ended; undefined if it fails. */
const toExit = (args, options) =>
  new Promise((resolve, reject) => {
    const start = performance.now();
    const child = spawn(process.execPath, args, { stdio: 'ignore', ...options });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code === 0 ? performance.now() - start : undefined));
  });

/** Milliseconds until the gateway has answered a search, and the state of its process then. */
const toAnswer = async ({ env, home }) => {
  const start = performance.now();
  const lines = openLines(process.execPath, [GATEWAY], { env, cwd: home });
  await initialize(lines);
  const initialized = performance.now() - start;
  const { result } = await lines.request('tools/call', {
    name: 'search_tools',
    arguments: { query: 'create an issue' },
  });
  const ms = performance.now() - start;
  const state = processState(lines.pid);
  await lines.close();
  const found = JSON.parse(result.content[0].text).results?.length ?? 0;
  if (found === 0) throw new Error(`the gateway found nothing: ${result.content[0].text}`);
  return { ms, initialized, state };
};

const coldHome = () =>
  createHome(
    SAMPLES.map((name) => ({
      name,
      connection: { type: 'stdio', command: process.execPath, args: [path(`examples/servers/${name}.mjs`)] },
    })),
  );

export const measure = async () => {
  const world = await createCachedWorld(syntheticCorpus(1000, 10_000));
  const pinned = await createCachedWorld(syntheticCorpus(1000, 10_000), { approval: 'new' });
  const samples = { node: [], warm: [], pinned: [], cold: [], help: [], search: [] };
  for (let at = 0; at < REPEATS + 1; at++) {
    const round = {
      // In the same environment as the others: certificates named in it, for example, are read at every start.
      node: await toExit(['-e', '0'], { env: world.env }),
      warm: await toAnswer(world),
      pinned: await toAnswer(pinned),
      help: await toExit([CLI, '--help'], { env: world.env }),
      search: await toExit([CLI, 'mcp', 'search', 'create an issue'], { env: world.env, cwd: world.home }),
      cold: await toAnswer(coldHome()),
    };
    // The first round fills the disk cache.
    if (at > 0) for (const [name, sample] of Object.entries(round)) samples[name].push(sample);
  }
  const node = median(samples.node);
  const warm = samples.warm.map(({ ms }) => ms);
  const states = samples.warm.flatMap(({ state }) => state ?? []);
  const ratio = (what, ms, budget) => ({ what, value: ms / node, unit: '×', budget, note: `${ms.toFixed(0)} ms` });
  return [
    { what: 'node -e 0', value: node, unit: 'ms', note: `${REPEATS} interleaved repeats` },
    ratio('warm: to the first search answer, median', median(warm), 5),
    ratio('warm: to the first search answer, p95', percentile(warm, 0.95)),
    ratio('warm, all tools pinned, median', median(samples.pinned.map(({ ms }) => ms)), 5),
    ratio('warm: to initialize', median(samples.warm.map(({ initialized }) => initialized))),
    ...(states.length === 0
      ? []
      : [
          {
            what: 'warm: resident memory',
            value: median(states.map(({ megabytes }) => megabytes)),
            unit: 'MB',
            budget: 200,
            note: '1,000 servers, 10,000 tools',
          },
          {
            what: 'warm: child processes',
            value: Math.max(...states.map(({ children }) => children)),
            unit: '',
            budget: 0,
          },
        ]),
    { what: 'warm: servers started', value: world.wasStarted() ? 1 : 0, unit: '', budget: 0 },
    ratio('cold: to the first search answer, median', median(samples.cold.map(({ ms }) => ms))),
    ratio('anygpt --help', median(samples.help), 2),
    ...(samples.search.includes(undefined) ? [] : [ratio('anygpt mcp search, warm', median(samples.search), 4)]),
  ];
};
