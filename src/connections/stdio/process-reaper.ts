/**
 * Ends whole process trees, even when we are killed ourselves.
 *
 * Each child leads a process group. A tiny detached `sh` reads the group numbers from a pipe that only we hold open.
 * When we die, in whatever way, the pipe ends and `sh` kills the groups that are still recorded. A parent-death signal
 * would not do: grandchildren do not inherit it, and `npx` puts every server one level down. A process that left its
 * group with `setsid` is left alone: it is meant to live on, such as the browser that a server opened for a login.
 *
 * While the operating system starts a child, which takes milliseconds, its number is unknown. So the reaper is told
 * when a start begins. If we die before the start has ended, the reaper looks for that child (on Linux): a process that
 * lost the same parent as the reaper, leads a session, was started between the start and our end, and has three sockets
 * as Node makes them.
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { elapsedNow } from '../../async/clock.ts';

// No `--` before the group: dash, which is `sh` on Debian, takes it for a process id.
// In `/proc/N/stat`, behind the name: 2 is the parent, 4 the session, 20 the time of the start.
const REAPER = `
trap '' INT TERM HUP
groups=''
since=''
while read -r sign word; do
  case "$sign" in
    '?') since=$word ;;
    +) since=''; groups="$groups\${word:+ $word}" ;;
    *)
      rest=''
      for g in $groups; do [ "$g" = "$word" ] || rest="$rest $g"; done
      groups=$rest
      ;;
  esac
done
[ -n "$since" ] && read -r now rest < /proc/uptime
for g in $groups; do kill -TERM "-$g"; done 2>/dev/null
[ -n "$groups$since" ] && sleep 1
if [ -n "$since" ]; then
  read -r stat < "/proc/$$/stat"
  set -- \${stat##*) }
  parent=$2
  for dir in /proc/[0-9]*; do
    read -r stat < "$dir/stat" || continue
    set -- \${stat##*) }
    [ "$2" = "$parent" ] && [ "$4" = "\${dir#/proc/}" ] || continue
    [ "\${20}" -ge "$since" ] && [ "\${20}" -le "\${now%.*}\${now#*.}" ] || continue
    [ -S "$dir/fd/0" ] && [ -S "$dir/fd/1" ] && [ -S "$dir/fd/2" ] && groups="$groups $4"
  done
fi
for g in $groups; do kill -KILL "-$g"; done 2>/dev/null
`;

/** The clock tick that Linux shows to programs, whatever its internal one. */
const TICKS_PER_SECOND = 100;

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
  // Without a reaper, a `kill -9` of ours may leave children behind; nothing else depends on it. The next child tries
  // again.
  started.on('error', () => {
    if (reaper === started) reaper = undefined;
  });
  started.stdin?.on('error', () => {});
  started.unref();
  (started.stdin as unknown as { unref?: () => void } | null)?.unref?.();
  for (const group of guarded) started.stdin?.write(`+ ${group}\n`);
  return started;
}

/** Starts a process that leads its own group and does not outlive us. */
export function spawnGuarded<C extends Pick<ChildProcess, 'pid'>>(start: () => C): C {
  if (process.platform === 'win32') return start();
  // Before the start, so that no child is without it. Data written to a pipe with room has left us when `write`
  // returns.
  reaper ??= startReaper();
  reaper.stdin?.write(`? ${ticksSinceBoot()}\n`);
  let pid: number | undefined;
  try {
    const child = start();
    pid = child.pid;
    return child;
  } finally {
    if (pid !== undefined) guarded.add(pid);
    reaper.stdin?.write(`+ ${pid ?? ''}\n`);
    if (guarded.size === 0) dismissReaper();
  }
}

/** Nothing was started, so there is nothing to guard. */
function dismissReaper(): void {
  reaper?.stdin?.end();
  reaper = undefined;
}

/** Returns the time as Linux records it at the start of a process; empty elsewhere. */
function ticksSinceBoot(): string {
  try {
    const [seconds] = readFileSync('/proc/uptime', 'utf8').split(' ');
    return String(Math.floor(Number(seconds) * TICKS_PER_SECOND));
  } catch {
    return '';
  }
}

/** Forgets a process group that has ended. */
export function releaseGroup(pid: number): void {
  guarded.delete(pid);
  reaper?.stdin?.write(`- ${pid}\n`);
}

/** Sends a signal to a whole tree. Returns whether a process received it. */
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

/** Waits until the group is empty or the time is over. Returns whether it is empty. */
export async function groupGone(pid: number, withinMs: number): Promise<boolean> {
  const until = elapsedNow() + withinMs;
  for (let pause = 5; ; pause = Math.min(pause * 2, 50)) {
    if (!signalGroup(pid, 0)) return true;
    if (elapsedNow() >= until) return false;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Waits for a process to exit; false when that takes longer. */
export function exited(child: ChildProcess, withinMs: number): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(true);
  return new Promise((resolve) => {
    const timer = setTimeout(() => done(false), withinMs);
    const onExit = () => done(true);
    const done = (gone: boolean) => {
      clearTimeout(timer);
      child.off('exit', onExit);
      resolve(gone);
    };
    child.once('exit', onExit);
  });
}
