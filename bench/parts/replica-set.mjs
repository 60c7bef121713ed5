// Starts several gateways on one Redis behind a round-robin proxy, each a process of its own, restarted when it dies.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ANYGPT = fileURLToPath(new URL('../../dist/bin/anygpt.js', import.meta.url));
const PROXY = fileURLToPath(new URL('../servers/round-robin.mjs', import.meta.url));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const freePort = async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
};

/** Waits until something listens on a port. */
const untilOpen = async (port) => {
  for (let left = 1_200; left > 0; left -= 1) {
    const socket = createConnection(port, '127.0.0.1');
    const isOpen = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await pause(25);
  }
  throw new Error(`nothing listens on port ${port}`);
};

/** A program on a port that is started again when it dies, until it is closed. */
const supervised = async (port, command, args, env) => {
  let child;
  let isClosed = false;
  let deaths = 0;
  const start = () => {
    child = spawn(command, args, { stdio: ['ignore', 'ignore', process.env.BENCH_LOG ? 2 : 'ignore'], env });
    child.once('exit', () => {
      if (isClosed) return;
      deaths += 1;
      setTimeout(() => isClosed || start(), 200);
    });
  };
  start();
  await untilOpen(port);
  return {
    port,
    get pid() {
      return child.pid;
    },
    get deaths() {
      return deaths;
    },
    signal: (name) => child.kill(name),
    close: async () => {
      isClosed = true;
      child.kill('SIGCONT');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 15_000);
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      clearTimeout(timer);
    },
  };
};

/** A Redis of its own, without files. */
export const startRedis = async () => {
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', tmpdir()];
  const redis = await supervised(port, 'redis-server', args, process.env);
  return Object.assign(redis, { url: `redis://127.0.0.1:${port}` });
};

/** `count` replicas with one configuration, more `options` of `serve`, and the tokens of a home. Without Redis they stand alone. */
export const startReplicas = async ({ count, config, redis, options = [], home: first }) => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-replicas-'));
  const file = join(folder, 'config.json');
  writeFileSync(file, JSON.stringify(config));
  const key = 'the key of all replicas of the benchmark';
  const replicas = [];
  // Web pages know the gateways by the address of the proxy.
  const front = await freePort();
  const origins = ['localhost', '127.0.0.1'].flatMap((host) => ['--allowed-origin', `http://${host}:${front}`]);
  for (let index = 0; index < count; index += 1) {
    const home = join(folder, `home-${index}`);
    if (first) cpSync(first, home, { recursive: true });
    else mkdirSync(home);
    const port = await freePort();
    const env = {
      ...process.env,
      ...(redis && { ANYGPT_REDIS_URL: redis.url, ANYGPT_CLUSTER_KEY: key }),
      ANYGPT_HOME: home,
    };
    const args = [ANYGPT, 'mcp', 'serve', '--http', String(port), '--config', file, ...origins, ...options];
    replicas.push(Object.assign(await supervised(port, process.execPath, args, env), { home }));
  }
  const targets = replicas.map((one) => String(one.port));
  const proxy = await supervised(front, process.execPath, [PROXY, String(front), ...targets], process.env);
  return {
    replicas,
    proxy,
    address: `http://127.0.0.1:${front}/mcp`,
    close: async () => {
      await Promise.all([proxy, ...replicas].map((one) => one.close()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
