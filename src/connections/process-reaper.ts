/**
 * Ends whole process trees, also when we are killed ourselves.
 *
 * Each child leads a process group. A tiny detached `sh` reads the group numbers from a pipe that only we hold open;
 * when we die, in whatever way, the pipe ends and it kills the groups that are still recorded. A parent-death signal
 * would not do: it is not inherited by grandchildren, and `npx` puts every server one level down.
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process';

// No `--` before the group: dash, which is `sh` on Debian, takes it for a process id.
const REAPER = `
trap '' INT TERM HUP
groups=''
while read -r sign group; do
  if [ "$sign" = + ]; then groups="$groups $group"
  else
    rest=''
    for g in $groups; do [ "$g" = "$group" ] || rest="$rest $g"; done
    groups=$rest
  fi
done
for g in $groups; do kill -TERM "-$g"; done 2>/dev/null
[ -n "$groups" ] && sleep 1
for g in $groups; do kill -KILL "-$g"; done 2>/dev/null
`;

const guarded = new Set<number>();
let reaper: ChildProcess | undefined;

function startReaper(): ChildProcess {
  const started = spawn('/bin/sh', ['-c', REAPER], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
  });
  started.on('exit', () => {
    if (reaper === started) reaper = undefined;
  });
  // Without a reaper a `kill -9` of ours may leave children behind; nothing else depends on it.
  started.on('error', () => {});
  started.stdin?.on('error', () => {});
  started.unref();
  (started.stdin as unknown as { unref?: () => void } | null)?.unref?.();
  for (const group of guarded) started.stdin?.write(`+ ${group}\n`);
  return started;
}

/** Records a process group that must not outlive us. */
export function guardGroup(pid: number): void {
  if (process.platform === 'win32') return;
  guarded.add(pid);
  if (reaper) reaper.stdin?.write(`+ ${pid}\n`);
  else reaper = startReaper();
}

/** Forgets a process group that is gone. */
export function releaseGroup(pid: number): void {
  guarded.delete(pid);
  reaper?.stdin?.write(`- ${pid}\n`);
}

/** Sends a signal to a whole tree. Returns whether anything was there to receive it. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  if (process.platform === 'win32') {
    if (signal === 0) return false;
    spawn('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true }).on('error', () => {});
    return true;
  }
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** Waits until the group is empty, or the time is over. Returns whether it is empty. */
export async function groupGone(pid: number, withinMs: number): Promise<boolean> {
  const until = Date.now() + withinMs;
  for (let pause = 5; ; pause = Math.min(pause * 2, 50)) {
    if (!signalGroup(pid, 0)) return true;
    if (Date.now() >= until) return false;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
