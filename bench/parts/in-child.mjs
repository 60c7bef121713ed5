// Runs one of our scripts in a child process and returns the JSON document it prints. Memory is counted from zero
// there.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Runs a script in its own process, with access to the garbage collector. */
export const inChild = (script, ...args) => {
  const done = spawnSync(process.execPath, ['--expose-gc', fileURLToPath(script), ...args.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (done.status !== 0) throw new Error(`${args.join(' ')} ended with ${done.status ?? done.signal}`);
  return JSON.parse(done.stdout);
};

/** Heap and buffers still in use, in MB. Only inside such a process. */
export const usedMegabytes = () => {
  for (let at = 0; at < 4; at++) globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 / 1024;
};
