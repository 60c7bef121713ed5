import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { fixture } from '../../test/fixtures/connections/harness.ts';
import { groupGone, guardGroup, releaseGroup, signalGroup } from './process-reaper.ts';

const stubborn = [process.execPath, fixture('stubborn.mjs')];
const wrapped = ['sh', '-c', `"${stubborn[0]}" "${stubborn[1]}"; true`];

it('kills whole trees of stubborn servers within two seconds after we were killed', async () => {
  const commands = [stubborn, stubborn, stubborn, wrapped, wrapped, wrapped];
  const gateway = spawn(
    process.execPath,
    ['--import', 'jiti/register', fixture('gateway-like.ts'), JSON.stringify(commands)],
    { stdio: ['ignore', 'pipe', 'inherit'], cwd: fileURLToPath(new URL('../..', import.meta.url)) },
  );
  onTestFinished(() => void gateway.kill('SIGKILL'));
  const groups = await new Promise<number[]>((resolve, reject) => {
    gateway.once('exit', (code) => reject(new Error(`exited with ${code}`)));
    gateway.stdout.once('data', (chunk: Buffer) => resolve(JSON.parse(chunk.toString())));
  });
  expect(groups).toHaveLength(6);
  // The wrappers' grandchildren ignore SIGTERM only once they run.
  await expect.poll(() => living(groups), { timeout: 20_000, interval: 50 }).toHaveLength(9);
  await expect.poll(() => living(groups).every(ignoresTerm), { timeout: 20_000, interval: 50 }).toBe(true);
  gateway.kill('SIGKILL');
  const before = Date.now();
  await expect.poll(() => living(groups), { timeout: 5000, interval: 20 }).toEqual([]);
  expect(Date.now() - before).toBeLessThan(2000);
});

it('guards again what it guarded when the reaper itself was killed', async () => {
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  const pid = child.pid as number;
  guardGroup(pid);
  const first = reapers();
  expect(first).toHaveLength(1);
  process.kill(first[0] as number, 'SIGKILL');
  await expect.poll(reapers).toEqual([]);
  const other = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  await expect
    .poll(() => {
      guardGroup(other.pid as number);
      return reapers();
    })
    .toHaveLength(1);
  for (const { pid: group } of [child, other]) {
    expect(signalGroup(group as number, 'SIGKILL')).toBe(true);
    expect(await groupGone(group as number, 2000)).toBe(true);
    releaseGroup(group as number);
  }
});

it('knows when a group is gone, and when it is not', async () => {
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  const pid = child.pid as number;
  expect(await groupGone(pid, 20)).toBe(false);
  signalGroup(pid, 'SIGTERM');
  expect(await groupGone(pid, 2000)).toBe(true);
  expect(signalGroup(pid, 'SIGTERM')).toBe(false);
});

/** Living processes of these groups. */
function living(groups: readonly number[]): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,pgid=,stat='], { encoding: 'utf8' }).trim().split('\n');
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, group, state]) => groups.includes(Number(group)) && !state?.startsWith('Z'))
    .map(([pid]) => Number(pid));
}

/** Whether a node process has its handler for SIGTERM; a shell waits and needs none. */
function ignoresTerm(pid: number): boolean {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  if (/^Name:\tsh$/m.test(status)) return true;
  const caught = BigInt(`0x${/^SigCgt:\t([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  return (caught & (1n << 14n)) !== 0n;
}

/** Our own reapers. */
function reapers(): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' }).split('\n');
  return lines
    .filter((line) => line.includes('while read -r sign') || line.includes("trap '' INT"))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, parent, state]) => Number(parent) === process.pid && !state?.startsWith('Z'))
    .map(([pid]) => Number(pid));
}
