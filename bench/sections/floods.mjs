// Measures a neighbour's calls while another server or client attacks.
//
// Each attack has its own gateway, with an honest server, a hostile one and an honest client, each in its own process.
// The hostile side is quiet and attacks in turns; the medians of several turns count. A flooding process takes a core
// from the others; the control, which writes to /dev/null, shows what that alone costs.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createHome } from '../parts/gateway-world.mjs';
import { verdictOf } from '../parts/report.mjs';
import { median } from '../parts/statistics.mjs';

export const title = 'Floods and freezes (a neighbour’s call beside an attacker)';

const ROUNDS = 3;
const QUIET_MS = 300;
const ATTACK_MS = 800;
const MOST_RATIO = 2;
const WORST_MS = 250;
const MOST_MEGABYTES = 300;

const path = (relative) => new URL(`../${relative}`, import.meta.url).pathname;
const node = (...args) => ({ command: process.execPath, args });
const ECHO = { name: 'echo', connection: { type: 'stdio', ...node(path('servers/echo-stdio.mjs')) } };
const FLOODER = path('servers/flooder.mjs');
const GATEWAY = path('../dist/bin/anygpt.js');

const CONTROL = 'to /dev/null';
const ON_STDIO = [
  CONTROL,
  'ping',
  'sampling',
  'elicitation',
  'roots',
  'log',
  'progress',
  'list changed',
  'list changed, 10,000 tools each',
  'answers to nothing',
  'malformed lines',
  'plain text',
  '1-byte lines',
  'a line without end',
  'one byte at a time',
  'stderr',
  'stderr without lines',
  'notification of 700,000 names',
  'notification of 40,000 names',
  'notifications of 250 KB',
  'notifications of 3,000 names',
  'notifications of 8 MiB',
  'answer to nothing of 700,000 names',
];
const OVER_HTTP = [
  'ping',
  'log',
  'notification of 40,000 names',
  'notifications of 3,000 names',
  'notifications of 8 MiB',
  'answer one byte at a time',
  'events one byte at a time',
  'error one byte at a time',
];
const BY_CLIENT = [
  'result: names 700,000',
  'result: names 45,000 in four objects',
  'result: blocks 200,000',
  'result: blocks 60,000',
  'result: text 15.9 MiB',
  'result: escapes 15.9 MiB',
  'result: euro signs 15.9 MiB',
  'arguments of 350,000 names',
  'arguments of 9,000 names',
  'arguments of 3.9 MB',
  'unread results of 4 MB',
  'unfinished bodies of 3.9 MB',
  'pipelined requests',
  'short requests',
];

let asked = 0;

/** Sends a message to a child and waits for the reply. */
const ask = (child, message) =>
  new Promise((resolve) => {
    const id = ++asked;
    const hear = (answer) => {
      if (answer.to !== id) return;
      child.off('message', hear);
      resolve(answer);
    };
    child.setMaxListeners(0).on('message', hear);
    child.send({ ...message, id });
  });

const openNeighbour = async (how) => {
  const child = fork(path('parts/neighbour.mjs'), { env: { PATH: process.env.PATH } });
  const { pid } = await ask(child, how);
  return {
    pid,
    call: (name, args) =>
      ask(child, { call: { name: 'execute_tool', arguments: { server: 'evil', tool: name, arguments: args } } }),
    measure: async (ms) => (await ask(child, { measure: ms })).samples,
    close: () => {
      child.kill();
      return once(child, 'exit');
    },
  };
};

/** Peak resident memory of a process in MB; 0 without /proc. */
const peakMegabytes = (pid) => {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
};

/** Turns of quiet and of attack; `attack` begins one and resolves when it is over. */
const inTurns = async (neighbour, attack) => {
  const rounds = [];
  await neighbour.measure(QUIET_MS);
  for (let round = 0; round < ROUNDS; round++) {
    const quiet = await neighbour.measure(QUIET_MS);
    const over = attack();
    const during = await neighbour.measure(ATTACK_MS);
    // A server that has flooded us may answer late; do not wait for it.
    await Promise.race([over, new Promise((resolve) => setTimeout(resolve, QUIET_MS))]);
    rounds.push({ quiet: median(quiet), during: median(during), worst: Math.max(...during), calm: Math.max(...quiet) });
  }
  return rounds;
};

const evil = (connection) => ({ name: 'evil', connection });

/** A server that floods on its own, behind a gateway on stdio. */
const byServer = (kind, connection) => async () => {
  const { env } = createHome([ECHO, evil(connection)]);
  const neighbour = await openNeighbour({ ...node(GATEWAY, 'mcp', 'serve'), env });
  try {
    // The quiet kind starts it.
    await neighbour.call('flood', { kind: 'nothing at all', ms: 0 });
    const rounds = await inTurns(neighbour, () => neighbour.call('flood', { kind, ms: ATTACK_MS }));
    return { rounds, megabytes: peakMegabytes(neighbour.pid) };
  } finally {
    await neighbour.close();
  }
};

/** A server that does not answer its greeting, or does not read, while it is called. */
const byFreeze = (script, width) => async () => {
  const { env } = createHome([ECHO, evil({ type: 'stdio', ...node('-e', script) })]);
  const neighbour = await openNeighbour({ ...node(GATEWAY, 'mcp', 'serve'), env });
  try {
    const rounds = await inTurns(neighbour, async () => {
      // These answers are not awaited.
      for (let at = 0; at < width; at++) void neighbour.call('any', { text: 'x'.repeat(10_000) });
    });
    return { rounds, megabytes: peakMegabytes(neighbour.pid) };
  } finally {
    await neighbour.close();
  }
};

/** A server that begins large answers and never ends them, while it is called `width` times. */
const byUnfinished = (connection, width) => async () => {
  const { env } = createHome([ECHO, evil(connection)]);
  const neighbour = await openNeighbour({ ...node(GATEWAY, 'mcp', 'serve'), env });
  try {
    await neighbour.call('flood', { kind: 'nothing at all', ms: 0 });
    const rounds = await inTurns(neighbour, async () => {
      for (let at = 0; at < width; at++) void neighbour.call('answer', { kind: 'answers without end' });
    });
    return { rounds, megabytes: peakMegabytes(neighbour.pid) };
  } finally {
    await neighbour.close();
  }
};

/** A client that attacks, alone or with a server, a gateway on HTTP. */
const byClient = (kind) => async () => {
  const { env } = createHome([ECHO, evil({ type: 'stdio', ...node(FLOODER) })]);
  const gateway = spawn(process.execPath, [GATEWAY, 'mcp', 'serve', '--http', '0'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const hostile = fork(path('parts/hostile-client.mjs'), { env: { PATH: process.env.PATH } });
  const url = await new Promise((resolve) => {
    let text = '';
    gateway.stderr.on('data', (chunk) => {
      text = `${text}${chunk}`.slice(-10_000);
      const found = /http:\/\/127\S+\/mcp/.exec(text)?.[0];
      if (found) resolve(found);
    });
  });
  const neighbour = await openNeighbour({ url });
  try {
    await neighbour.call('flood', { kind: 'nothing at all', ms: 0 });
    await ask(hostile, { url, kind });
    const rounds = await inTurns(neighbour, () => ask(hostile, { url, kind, ms: ATTACK_MS - 100 }));
    return { rounds, megabytes: peakMegabytes(gateway.pid) };
  } finally {
    hostile.kill();
    await neighbour.close();
    gateway.kill();
    await once(gateway, 'exit');
  }
};

const scenarios = async () => {
  const remote = spawn(process.execPath, [FLOODER, '--http'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [address] = await once(remote.stdout, 'data');
  const connection = { type: 'http', url: String(address).trim() };
  const frozen = 'process.stdin.resume(); setInterval(() => {}, 1000)';
  const list = [
    ...ON_STDIO.map((kind) => [`stdio: ${kind}`, byServer(kind, { type: 'stdio', ...node(FLOODER) })]),
    ...OVER_HTTP.map((kind) => [`http: ${kind}`, byServer(kind, connection)]),
    ['stdio: freezes while it starts', byFreeze(frozen, 16)],
    ['stdio: never reads', byFreeze('setInterval(() => {}, 1000)', 64)],
    ['http: answers without end', byUnfinished(connection, 16)],
    ...BY_CLIENT.map((kind) => [`client: ${kind}`, byClient(kind)]),
  ];
  return { list, close: () => remote.stdin.end() };
};

const shown = (ms) => `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;

const toLines = (name, { rounds, megabytes }) => {
  const isControl = name.endsWith(CONTROL);
  const ratio = median(rounds.map(({ quiet, during }) => during / quiet));
  const note = `${shown(median(rounds.map(({ quiet }) => quiet)))} → ${shown(median(rounds.map(({ during }) => during)))}`;
  const calm = `quiet ${shown(median(rounds.map(({ calm: worst }) => worst)))}, worst of all ${shown(Math.max(...rounds.map(({ worst }) => worst)))}`;
  const lines = [
    { what: `${name}: median`, value: ratio, unit: '×', budget: MOST_RATIO, note },
    {
      what: `${name}: worst`,
      value: median(rounds.map(({ worst }) => worst)),
      unit: 'ms',
      budget: WORST_MS,
      note: calm,
    },
    { what: `${name}: memory`, value: megabytes, unit: 'MB', budget: MOST_MEGABYTES },
  ];
  return isControl ? lines.map(({ budget, ...line }) => line) : lines;
};

export const measure = async ({ scenario: wanted }) => {
  const { list, close } = await scenarios();
  const lines = [];
  for (const [name, run] of list) {
    if (wanted && !wanted.some((text) => name.includes(text))) continue;
    const start = performance.now();
    lines.push(...toLines(name, await run()));
    process.stderr.write(`${name}: ${Math.round(performance.now() - start)} ms\n`);
  }
  close();
  // Missed budgets first.
  const rank = (line) => (verdictOf(line) === 'MISS' ? 0 : line.budget === undefined ? 1 : 2);
  return lines.sort((a, b) => rank(a) - rank(b));
};
