// Talks bare JSON-RPC with a command. Without an SDK, so that only the other side is timed.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Starts a command and exchanges newline-delimited JSON with it. */
export const openLines = (command, args, options = {}) => {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], ...options });
  const waiting = new Map();
  let rest = '';
  let errors = '';
  let next = 1;
  child.stderr.on('data', (chunk) => {
    errors = (errors + chunk).slice(-4000);
  });
  child.stdout.on('data', (chunk) => {
    rest += chunk;
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      const message = JSON.parse(rest.slice(0, end));
      rest = rest.slice(end + 1);
      waiting.get(message.id)?.resolve(message);
      waiting.delete(message.id);
    }
  });
  const ended = new Promise((resolve) => {
    child.once('close', (code) => {
      for (const { reject } of waiting.values()) reject(new Error(`${args.join(' ')} ended with ${code}: ${errors}`));
      resolve(code);
    });
  });
  const write = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  return {
    pid: child.pid,
    notify: (method, params) => write({ method, params }),
    request: (method, params) =>
      new Promise((resolve, reject) => {
        const id = next++;
        waiting.set(id, { resolve, reject });
        write({ id, method, params });
      }),
    close: () => {
      child.stdin.end();
      return ended;
    },
  };
};

/** Initialises as an agent of 2025 does. */
export const initialize = async (lines) => {
  await lines.request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1.0.0' },
  });
  lines.notify('notifications/initialized');
};

/** Resident memory of a process in MB, and how many children it has; undefined without /proc. */
export const processState = (pid) => {
  try {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
    );
    return { megabytes: Number(kilobytes) / 1024, children: children.length };
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
};

/** CPU time of all threads of a process so far, in ms; NaN without such a process or without /proc. */
export const cpuOf = (pid) => {
  try {
    const tasks = `/proc/${pid}/task`;
    const nanoseconds = readdirSync(tasks).map((task) =>
      Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]),
    );
    return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6;
  } catch (error) {
    if (error.code === 'ENOENT') return Number.NaN;
    throw error;
  }
};
