// Starts programs of the benchmark as processes of their own, and asks how much memory they take.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ANYGPT = fileURLToPath(new URL('../../dist/bin/anygpt.js', import.meta.url));
const SERVERS = new URL('../servers/', import.meta.url);

/** Starts a Node program and waits for an address on its stdout or stderr. */
const start = async (args, env = {}) => {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  const address = await new Promise((resolve, reject) => {
    let text = '';
    const hear = (chunk) => {
      text += chunk;
      const [found] = /http:\/\/\S+\/mcp/.exec(text) ?? [];
      if (found) resolve(found);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('exit', (code) => reject(new Error(`${args[0]} ended with ${code}: ${text}`)));
  });
  const close = () =>
    new Promise((resolve) => {
      child.removeAllListeners('exit');
      child.once('exit', resolve);
      child.kill('SIGTERM');
    });
  return { address, close, pid: child.pid };
};

/** Starts a program of bench/servers. `nodeOptions` come before it. */
export const startServer = (name, args = [], nodeOptions = []) =>
  start([...nodeOptions, fileURLToPath(new URL(`${name}.mjs`, SERVERS)), ...args]);

/** Starts the built gateway on HTTP. `nodeOptions` come before the program. */
export const startGateway = ({ config, home, nodeOptions = [] }) =>
  start([...nodeOptions, ANYGPT, 'mcp', 'serve', '--http', '0', '--config', config], { ANYGPT_HOME: home });

/** Milliseconds of processor time that a process has used, where the system says so (Linux, in steps of 10 ms). */
export const processorTimeOf = (pid) => {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ').slice(11, 13);
  return (Number(user) + Number(system)) * 10;
};

/** Kilobytes of memory that a process has in RAM, where the system says so (Linux). */
export const residentOf = (pid) => {
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes);
};
