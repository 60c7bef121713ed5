// Measures commands of the real binary, from spawn to exit, against `node -e 0` in the same run; repeats are
// interleaved.
//
// Every server of these worlds is cached, and leaves a mark when it is started: no command may start one.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createCachedWorld } from '../parts/gateway-world.mjs';
import { median, percentile } from '../parts/statistics.mjs';
import { syntheticCorpus } from '../parts/tool-corpus.mjs';

export const title = 'Command line (spawn to exit)';

const CLI = fileURLToPath(new URL('../../dist/bin/anygpt.js', import.meta.url));
const QUERY = 'create an issue';

/** Runs a command to its end and returns its output and time. */
const run = (args, { env, home } = {}) =>
  new Promise((resolve, reject) => {
    const start = performance.now();
    const child = spawn(process.execPath, args, { env, cwd: home, stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, out, err, ms: performance.now() - start }));
  });

/** Milliseconds of a command. Fails if the command fails or prints something unexpected. */
const timeOf = async ({ args, world, prints }) => {
  const { code, out, err, ms } = await run(args, world);
  if (code !== 0 || !prints.test(out)) throw new Error(`${args.join(' ')} ended with ${code}: ${err || out}`);
  return ms;
};

const anygpt = (...words) => [CLI, ...words];

const casesOf = (small, large) => {
  const [server] = large.servers;
  const few = '10 servers, 100 tools';
  const many = '1,000 servers, 10,000 tools';
  const found = /^Search results for "create an issue" \(\d+ found\)/;
  return [
    { what: 'anygpt --help', args: anygpt('--help'), prints: /^anygpt \d/, world: small, budget: 2 },
    { what: 'anygpt mcp --version', args: anygpt('mcp', '--version'), prints: /^\d/, world: small },
    { what: 'search', of: few, args: anygpt('mcp', 'search', QUERY), prints: found, world: small, budget: 4 },
    { what: 'search', of: many, args: anygpt('mcp', 'search', QUERY), prints: found, world: large, budget: 4 },
    { what: 'list', of: few, args: anygpt('mcp', 'list'), prints: /\(10 configured\)/, world: small },
    { what: 'list', of: many, args: anygpt('mcp', 'list'), prints: /\(1000 configured\)/, world: large },
    { what: 'tools SERVER', of: many, args: anygpt('mcp', 'tools', server), prints: /\S/, world: large },
    {
      what: 'completion of a server',
      of: many,
      args: anygpt('mcp', 'completion', '--words', '--', 'mcp', 'execute', server.slice(0, 3)),
      prints: new RegExp(server),
      world: large,
    },
    {
      what: 'completion of a tool',
      of: many,
      args: anygpt('mcp', 'completion', '--words', '--', 'mcp', 'execute', server, ''),
      prints: /\S/,
      world: large,
    },
    { what: 'config validate', of: few, args: anygpt('mcp', 'config', 'validate'), prints: /valid/, world: small },
    { what: 'config validate', of: many, args: anygpt('mcp', 'config', 'validate'), prints: /valid/, world: large },
  ];
};

const worldOf = async (servers, tools) => {
  const corpus = syntheticCorpus(servers, tools);
  return { ...(await createCachedWorld(corpus)), servers: [...corpus.keys()] };
};

export const measure = async ({ repeats }) => {
  const [small, large] = [await worldOf(10, 100), await worldOf(1000, 10_000)];
  // In the same environment as the others: certificates named in it, for example, are read at every start.
  const node = { args: ['-e', '0'], prints: /^$/, world: small };
  const cases = casesOf(small, large);
  const all = [node, ...cases];
  const samples = new Map(all.map((one) => [one, []]));
  for (let round = 0; round <= repeats; round++) {
    // Each round starts with another command, so that none always follows the same one.
    for (let at = 0; at < all.length; at++) {
      const one = all[(at + round) % all.length];
      const ms = await timeOf(one);
      // The first round fills the disk cache.
      if (round > 0) samples.get(one).push(ms);
    }
  }
  const base = median(samples.get(node));
  const lines = cases.map((one) => {
    const times = samples.get(one);
    const [ms, p95] = [median(times), percentile(times, 0.95)].map((value) => value.toFixed(0));
    return {
      what: one.of === undefined ? one.what : `warm: ${one.what}, ${one.of}`,
      value: median(times) / base,
      unit: '×',
      budget: one.budget,
      note: `${ms} ms, p95 ${p95} ms`,
    };
  });
  const started = [small, large].filter(({ wasStarted }) => wasStarted()).length;
  return [
    {
      what: 'node -e 0',
      value: base,
      unit: 'ms',
      note: `${repeats} interleaved repeats, p95 ${percentile(samples.get(node), 0.95).toFixed(0)} ms`,
    },
    ...lines,
    { what: 'worlds in which a server was started', value: started, unit: '', budget: 0 },
    await control(small),
  ];
};

/** Checks that the mark works: a command that must start a server leaves it. */
const control = async (world) => {
  await run(anygpt('mcp', 'tools', world.servers[0], '--refresh', '--timeout', '2'), world);
  return {
    what: 'control: the same after tools --refresh',
    value: world.wasStarted() ? 1 : 0,
    unit: '',
    budget: 1,
    atLeast: true,
  };
};
