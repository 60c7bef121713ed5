// Runs the soak: starts everything, puts load on it, breaks things, and takes samples.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { startServer } from './gateway-process.mjs';
import { readHeap } from './heap-snapshot.mjs';
import { percentile } from './statistics.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const ANYGPT = here('../../dist/bin/anygpt.js');
const SERVER = here('../servers/soak-server.mjs');
const PROBE = new URL('./soak-probe.mjs', import.meta.url).href;

const LOCAL = ['one', 'two', 'three'];
const CLIENTS = 8;
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const FAULT_EVERY = 30 * SECOND;
const CHANGE_EVERY = MINUTE;
const RECONNECT_EVERY = 5 * MINUTE;
const SAMPLE_EVERY = 10 * SECOND;
/** Heap snapshots of a run. Each stops the gateway for seconds. */
const HEAPS = 8;
/** What is told on stderr is kept this long, in characters. */
const KEPT = 100_000;
const SERVER_FAULTS = ['die', 'exit', 'close', 'noise', 'flood', 'stderr', 'fail'];

/** Runs for so many minutes. Returns the samples and what happened. */
export async function runSoak({ minutes, warmUp, heapsFrom, say }) {
  const folder = mkdtempSync(join(tmpdir(), 'anygpt-soak-'));
  const remote = await startServer('soak-server', ['--http']);
  const gateway = await startGateway(folder, remote.address);
  const end = new AbortController();
  const stop = () => end.abort();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  const told = { calls: 0, wrong: 0, answered: [], faults: {}, abandoned: 0, mayAbandon: true, isTimed: true };
  const samples = [];
  /** What heap snapshots hold, evenly spaced from `heapsFrom` on. */
  const heaps = [];
  const clients = Array.from({ length: CLIENTS }, (_, at) => new SoakClient(gateway.address, at, told));
  const timers = [];
  const every = (ms, act) => timers.push(setInterval(() => void act().catch(() => {}), ms));
  try {
    await Promise.all(clients.map((client) => client.connect()));
    for (const server of [...LOCAL, 'remote']) await clients[0].execute(server, 'echo');
    const perSecond = await fastest(clients);
    const rate = perSecond / 5;
    say(`the gateway answers about ${perSecond.toFixed(0)} calls a second here; load is ${rate.toFixed(0)}`);
    for (const key of ['calls', 'wrong']) told[key] = 0;
    told.answered.length = 0;
    const began = performance.now();
    const over = () => end.signal.aborted || performance.now() - began > minutes * MINUTE || !gateway.isRunning();
    const load = clients.map((client) => client.callAt(rate / CLIENTS, over));
    every(FAULT_EVERY, () => breakSomething(gateway, clients, told));
    setTimeout(() => {
      told.mayAbandon = false;
    }, warmUp * MINUTE).unref();
    every(CHANGE_EVERY, async () => {
      const server = LOCAL[Math.floor(Math.random() * LOCAL.length)];
      await clients[0].execute(server, 'change');
      // Cut, and kept for ten minutes: more of them would look like a leak in a short run.
      await clients[0].execute(server, 'large');
    });
    every(RECONNECT_EVERY, async () => {
      // Not in the last moment: nobody would wait for them.
      if (performance.now() - began < minutes * MINUTE - SAMPLE_EVERY)
        await Promise.all(clients.map((client) => client.reconnect()));
    });
    while (!over()) {
      await sleep(Math.min(SAMPLE_EVERY, minutes * MINUTE));
      if (!gateway.isRunning()) break;
      const at = (performance.now() - began) / MINUTE;
      const isDue = at >= heapsFrom + ((minutes - heapsFrom) * heaps.length) / HEAPS;
      if (isDue) {
        told.isTimed = false;
        gateway.wantSnapshot(heaps.length);
      }
      const sample = { at, ...(await gateway.sample()) };
      samples.push(sample);
      if (isDue && gateway.isRunning()) heaps.push({ at, calls: told.calls, ...gateway.takeSnapshot() });
      say(shown(sample, told));
    }
    await Promise.all(load);
    const wasRunning = gateway.isRunning();
    for (const timer of timers) clearInterval(timer);
    await Promise.all(clients.map((client) => client.close()));
    // Sessions, breakers and limits are back at their base after a minute of quiet; a short run waits less.
    const quiet = minutes >= 10 ? MINUTE : 15 * SECOND;
    if (wasRunning && !end.signal.aborted) await sleep(quiet);
    const after = wasRunning ? await gateway.numbers() : undefined;
    const descendants = wasRunning ? descendantsOf(gateway.pid) : [];
    const code = await gateway.close();
    const left = descendants.filter(isAlive);
    return {
      ...{ minutes, perSecond, rate, samples, wasRunning, code, left: left.length, after },
      ...{
        warnings: gateway.warnings,
        calls: told.calls,
        wrong: told.wrong,
        faults: told.faults,
        abandoned: told.abandoned,
        heaps,
      },
      p99: percentile(told.answered, 0.99),
    };
  } finally {
    for (const timer of timers) clearInterval(timer);
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
    gateway.kill();
    await remote.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const shown = ({ at, heap, rss, handles, fds, files, processes }, { calls, wrong }) =>
  `${at.toFixed(1).padStart(5)} min: heap ${(heap / 2 ** 20).toFixed(1)} MiB, RSS ${(rss / 2 ** 20).toFixed(0)} MiB, ` +
  `${handles} handles, ${fds} descriptors, ${files} files, ${processes} processes, ${calls} calls, ${wrong} failed`;

/** Starts the gateway with the probe. */
async function startGateway(folder, remote) {
  const config = join(folder, 'config.json');
  const local = (name) => ({
    name,
    connection: { type: 'stdio', command: process.execPath, args: [SERVER] },
    timeouts: { call: 5_000 },
  });
  const servers = [...LOCAL.map(local), { name: 'remote', connection: { type: 'http', url: remote } }];
  writeFileSync(config, JSON.stringify({ discovery: { servers, limits: { breaker: { open: 1_000 } } } }));
  const home = join(folder, 'home');
  // Holds the name of the heap snapshot that is to be written next.
  const snapshot = join(folder, 'snapshot');
  writeFileSync(snapshot, '');
  const args = ['--expose-gc', '--import', PROBE, ANYGPT, 'mcp', 'serve', '--http', '0', '--metrics', '0'];
  const child = spawn(process.execPath, [...args, '--config', config], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, HOME: folder, ANYGPT_HOME: home, SOAK_SNAPSHOT: snapshot },
  });
  let heard = '';
  const warnings = [];
  let probed = () => {};
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    heard = (heard + chunk).slice(-KEPT);
    for (;;) {
      const found = /^soak-probe (\{.*\})\n/m.exec(heard);
      if (!found) return;
      heard = heard.slice(0, found.index) + heard.slice(found.index + found[0].length);
      const { warning, ...numbers } = JSON.parse(found[1]);
      if (warning === undefined) probed(numbers);
      else warnings.push(warning);
    }
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const addressOf = async (pattern) => {
    for (let at = 0; at < 600; at++) {
      const [found] = pattern.exec(heard) ?? [];
      if (found) return found;
      await sleep(50);
    }
    throw new Error(`the gateway does not listen: ${heard}`);
  };
  const metrics = await addressOf(/http:\S+\/metrics/);
  const address = await addressOf(/http:\S+\/mcp/);
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  return {
    ...{ address, pid: child.pid, warnings, isRunning },
    /** Writes a heap snapshot with the next sample. */
    wantSnapshot: (name) => writeFileSync(snapshot, join(folder, `${name}.heapsnapshot`)),
    /** Reads the snapshot that was wanted last, and deletes its file. */
    takeSnapshot: () => {
      const file = readFileSync(snapshot, 'utf8');
      const held = readHeap(JSON.parse(readFileSync(file, 'utf8')));
      writeFileSync(snapshot, '');
      rmSync(file);
      return held;
    },
    sample: async () => {
      const answered = new Promise((resolve) => {
        probed = resolve;
      });
      child.kill('SIGUSR2');
      const { heap, code, rss, kinds } = await Promise.race([answered, exited.then(() => ({ kinds: {} }))]);
      return {
        ...{ heap, code, rss, kinds },
        handles: Object.values(kinds).reduce((sum, one) => sum + one, 0),
        timers: kinds.Timeout ?? 0,
        fds: readdirSync(`/proc/${child.pid}/fd`).length,
        files: countFiles(home),
        processes: descendantsOf(child.pid).length,
      };
    },
    numbers: async () => {
      const text = await (await fetch(metrics)).text();
      const sumOf = (name) =>
        [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))].reduce((sum, [, one]) => sum + +one, 0);
      return {
        sessions: sumOf('anygpt_client_sessions'),
        running: sumOf('anygpt_calls_running'),
        waiting: sumOf('anygpt_calls_waiting'),
        breakers: sumOf('anygpt_breaker_open'),
      };
    },
    close: async () => {
      child.kill('SIGTERM');
      return exited;
    },
    kill: () => isRunning() && child.kill('SIGKILL'),
  };
}

/** One client, which speaks the old or the new protocol. */
class SoakClient {
  constructor(address, at, told) {
    this.address = address;
    this.era = at % 2 === 0 ? 'modern' : 'legacy';
    this.told = told;
  }

  async connect() {
    const options = this.era === 'modern' ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {};
    this.client = new Client({ name: `soak-${this.era}`, version: '1' }, options);
    this.transport = new StreamableHTTPClientTransport(new URL(this.address));
    await this.client.connect(this.transport);
  }

  async close() {
    await this.transport?.terminateSession?.().catch(() => {});
    await this.client?.close().catch(() => {});
  }

  async reconnect() {
    // Half of them leave without a word, as programs do.
    if (Math.random() < 0.5) await this.close();
    else await this.leave();
    await this.connect();
  }

  /**
   * Disconnects without ending the session. The gateway keeps it for half an hour, or until it needs the place, so that
   * only those of the warm-up do not look like a leak.
   */
  async leave() {
    if (this.era === 'legacy' && !this.told.mayAbandon) return this.close();
    if (this.era === 'legacy') this.told.abandoned += 1;
    await this.client.close().catch(() => {});
  }

  execute(server, tool, args = {}) {
    const request = { server, tool, arguments: { text: 'soak', ...args } };
    return this.client.callTool({ name: 'execute_tool', arguments: request });
  }

  async call() {
    const start = performance.now();
    try {
      const result = await this.#one();
      this.told.calls += 1;
      if (result.isError) this.told.wrong += 1;
      else if (this.told.isTimed && this.told.answered.length < KEPT)
        this.told.answered.push(performance.now() - start);
    } catch {
      this.told.wrong += 1;
    }
  }

  #one() {
    const lot = Math.random();
    const server = [...LOCAL, 'remote'][Math.floor(Math.random() * 4)];
    if (lot < 0.1) return this.client.callTool({ name: 'search_tools', arguments: { query: 'echo a text' } });
    if (lot < 0.12) return this.client.callTool({ name: 'list_tools', arguments: { server } });
    if (lot < 0.15) return this.execute(server, 'slow');
    if (lot < 0.17) return this.execute(server, 'no_such_tool');
    return this.execute(server, 'echo');
  }

  /** Calls at a rate, one after the other, until it is over. */
  async callAt(perSecond, over) {
    let next = performance.now();
    while (!over()) {
      next = Math.max(next + SECOND / perSecond, performance.now() - SECOND);
      await sleep(Math.max(0, next - performance.now()));
      await this.call();
    }
  }
}

/** Calls a second if nobody waits between calls. */
async function fastest(clients) {
  const took = 3 * SECOND;
  const end = performance.now() + took;
  let calls = 0;
  await Promise.all(
    clients.map(async (client) => {
      while (performance.now() < end) {
        await client.execute(LOCAL[calls++ % LOCAL.length], 'echo');
      }
    }),
  );
  return (calls * SECOND) / took;
}

/** One random fault: of a server, of a client, or of a frozen server. */
async function breakSomething(gateway, clients, told) {
  const server = LOCAL[Math.floor(Math.random() * LOCAL.length)];
  const client = clients[Math.floor(Math.random() * clients.length)];
  const kinds = [...SERVER_FAULTS, 'freeze', 'abort', 'disconnect'];
  const how = kinds[Math.floor(Math.random() * kinds.length)];
  told.faults[how] = (told.faults[how] ?? 0) + 1;
  if (how === 'freeze') {
    const children = descendantsOf(gateway.pid).filter((pid) => commandOf(pid).includes('soak-server'));
    const pid = children[Math.floor(Math.random() * children.length)];
    if (pid === undefined) return;
    signal(pid, 'SIGSTOP');
    await sleep(5 * SECOND);
    signal(pid, 'SIGCONT');
  } else if (how === 'abort') {
    const left = new AbortController();
    const name = 'execute_tool';
    const args = { server, tool: 'slow', arguments: {} };
    const call = client.client.callTool({ name, arguments: args }, { signal: left.signal });
    setTimeout(() => left.abort(), 50);
    await call;
  } else if (how === 'disconnect') {
    // In the middle of calls.
    await client.leave();
    await client.connect();
  } else await client.execute(server, 'misbehave', { how });
}

const signal = (pid, name) => {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
};

const isAlive = (pid) => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

const commandOf = (pid) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
};

/** The processes below one, without those that have ended. */
function descendantsOf(root) {
  const parents = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const [state, parent] = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1].split(' ');
      if (state !== 'Z') parents.set(Number(name), Number(parent));
    } catch {
      // It has ended meanwhile.
    }
  }
  const found = [];
  for (let under = [root]; under.length > 0; ) {
    under = [...parents].flatMap(([pid, parent]) => (under.includes(parent) ? [pid] : []));
    found.push(...under);
  }
  return found;
}

const countFiles = (folder) => {
  try {
    return readdirSync(folder, { recursive: true }).filter((name) => statSync(join(folder, name)).isFile()).length;
  } catch {
    return 0;
  }
};
