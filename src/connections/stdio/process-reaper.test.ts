import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { fixture } from '../../../test/fixtures/connections/harness.ts';
import { groupGone, releaseGroup, signalGroup, spawnGuarded } from './process-reaper.ts';

const stubborn = [process.execPath, fixture('stubborn.mjs')];
const wrapped = ['sh', '-c', `"${stubborn[0]}" "${stubborn[1]}"; true`];

/** A process of ours that starts these commands. */
function gatewayLike(commands: readonly string[][], end?: 'dies') {
  const gateway = spawn(
    process.execPath,
    ['--import', 'jiti/register', fixture('gateway-like.ts'), JSON.stringify(commands), ...(end ? [end] : [])],
    { stdio: ['ignore', 'pipe', 'inherit'], cwd: fileURLToPath(new URL('../../..', import.meta.url)) },
  );
  onTestFinished(() => void gateway.kill('SIGKILL'));
  return gateway;
}

const endless = ['sh', '-c', 'while :; do sleep 1; done'];

it('kills whole trees of stubborn servers within two seconds after we were killed', async () => {
  const commands = [stubborn, stubborn, stubborn, wrapped, wrapped, wrapped];
  const gateway = gatewayLike(commands);
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

it('leaves nothing behind when we die as soon as the servers have been started', async () => {
  const gateway = gatewayLike([endless, endless, endless], 'dies');
  const groups: number[] = JSON.parse(await text(gateway.stdout));
  expect(groups).toHaveLength(3);
  await expect.poll(() => living(groups), { timeout: 5000, interval: 20 }).toEqual([]);
});

it('leaves nothing behind when we are killed while the operating system starts a server', async () => {
  const gateway = gatewayLike([endless]);
  const pid = gateway.pid as number;
  const children = () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  // The reaper is the first. The other one is killed for as soon as it is there, long before we are told its number.
  await expect.poll(() => children().join(), { timeout: 20_000, interval: 1 }).not.toBe('');
  let seen = children();
  for (const until = Date.now() + 5000; seen.length < 2 && Date.now() < until; ) seen = children();
  gateway.kill('SIGKILL');
  const server = Number(seen[1]);
  onTestFinished(() => void signalGroup(server, 'SIGKILL'));
  expect(server).toBeGreaterThan(0);
  await expect.poll(() => living([server]), { timeout: 5000, interval: 20 }).toEqual([]);
});

it('is not kept for a server that could not be started', async () => {
  // One stays once a server was started, also in another file of this worker.
  for (const pid of reapers()) process.kill(pid, 'SIGKILL');
  await expect.poll(reapers, { timeout: 20_000 }).toEqual([]);
  for (const start of [() => spawn('/does/not/exist', { detached: true }), () => spawn('x', ['\0'])]) {
    const starting = new Promise((resolve, reject) => spawnGuarded(start).once('error', reject).once('spawn', resolve));
    await expect(starting).rejects.toThrow();
  }
  await expect.poll(reapers, { timeout: 20_000 }).toEqual([]);
});

const sleeper = () => spawnGuarded(() => spawn('sleep', ['60'], { detached: true, stdio: 'ignore' }));

it('guards again what it guarded when the reaper itself was killed', async () => {
  const child = sleeper();
  const first = reapers();
  expect(first).toHaveLength(1);
  process.kill(first[0] as number, 'SIGKILL');
  await expect.poll(reapers, { timeout: 20_000 }).toEqual([]);
  // That it is gone is heard a little later.
  const others: ChildProcess[] = [];
  await expect
    .poll(() => {
      others.push(sleeper());
      return reapers();
    })
    .toHaveLength(1);
  for (const { pid: group } of [child, ...others]) {
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

/** Living processes that lead these groups, or are about to, and those in them. */
function living(groups: readonly number[]): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,pgid=,stat='], { encoding: 'utf8' }).trim().split('\n');
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([pid, group]) => groups.includes(Number(pid)) || groups.includes(Number(group)))
    .filter(([, , state]) => !state?.startsWith('Z'))
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
