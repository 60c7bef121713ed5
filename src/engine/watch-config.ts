/**
 * Reloads an engine when the files its configuration came from change, or when `config reload` says so.
 *
 * Files are looked at again and again rather than subscribed to: that also notices a file that was renamed over, a folder
 * that was removed and made again, and a link that now leads elsewhere. A change takes effect once it has been quiet for
 * a while (`config/quiet-time.ts`): nobody can tell from half a YAML file that the rules are still to come.
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { wallNow } from '../async/clock.ts';
import { ABSENT, lookAt } from '../config/heard-reads.ts';
import { type QuietTimes, quietTime } from '../config/quiet-time.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import type { Logger } from '../core/types.ts';
import { coreOf, type EngineHandle } from './engine-handle.ts';

/** Touched by `anygpt mcp config reload` and `trust`; running gateways of the same home watch it. */
export const reloadStamp = (home: string): string => join(home, 'reload');

/** Tells running gateways of this home to reload. */
export function touchReloadStamp(home: string, now: () => number = wallNow): void {
  writeStamp(home, new Date(now()).toISOString());
}

/** Tells running gateways of this home that what is trusted has changed; nobody asked them to take anything else. */
export function touchTrustStamp(home: string, now: () => number = wallNow): void {
  writeStamp(home, `${new Date(now()).toISOString()} ${TRUST}`);
}

const TRUST = 'trust';

function writeStamp(home: string, text: string): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  writeFileSync(reloadStamp(home), `${text}\n`, { mode: 0o600 });
}

/** Who touched the stamp: a person who wants a reload, or `trust`. */
type Asker = 'reload' | 'trust';

const whoAsked = (stamp: string): Promise<Asker> =>
  readFile(stamp, 'utf8').then(
    (text) => (text.trimEnd().endsWith(` ${TRUST}`) ? 'trust' : 'reload'),
    () => 'reload',
  );

/** What is watched beside the stamp that a reload leaves, and where changes are said. */
export interface WatchOptions {
  readonly logger: Logger;
  /** Also watch the configuration files themselves. */
  readonly files?: boolean;
  /** How long a changed file must have been quiet before it counts. */
  readonly settleMs?: number;
  /** The same for a change in a format of which a part looks like a whole, such as YAML. */
  readonly partialMs?: number;
  /** The same where such a change takes something away: a rule, a server, a setting. */
  readonly lossMs?: number;
}

/** How often files are looked at. */
const LOOK_MS = 500;
/** How often the stamp alone is looked at: `config reload` is a person's command. */
const LOOK_STAMP_MS = 1000;

type Signatures = ReadonlyMap<string, string>;

/** A change that is waiting to be old enough. */
interface Pending {
  readonly signatures: Signatures;
  readonly since: number;
  quietMs: number;
}

/**
 * Watches until the returned function is called. A configuration that cannot be used is said and not taken, and neither is
 * one that lacks what a file said that has gone: the old one stays until the file is back. A file that is written again
 * with the same content, or in which only things changed that are nobody's servers, changes nothing: some clients rewrite
 * their files all the time. A reload that somebody asks for counts at once, but for a file that is being written.
 */
export async function watchConfig(
  handle: EngineHandle,
  { logger, files = false, settleMs = 300, partialMs = 2000, lossMs = 10_000 }: WatchOptions,
): Promise<() => void> {
  const times: QuietTimes = { settleMs, partialMs, lossMs };
  const engine = coreOf(handle);
  const { home, files: read } = await engine.source();
  const stamp = reloadStamp(home);
  let stampSeen = await lookAt(stamp);
  /** Every file that any load was interested in: one that has vanished may come back. As it was when it was last read. */
  const known = new Map(read);
  let pending: Pending | undefined;
  let stopped = false;
  let said: string | undefined;
  /** Who waits for a load. */
  let asked: Asker | undefined;

  const look = async (): Promise<Signatures> =>
    new Map(await Promise.all([...known.keys()].map(async (path) => [path, await lookAt(path)] as const)));

  const remember = async (signatures: Signatures) => {
    for (const [path, signature] of signatures) known.set(path, signature);
    // What the last load read, as it was then: a change since is a change to come.
    for (const [path, signature] of (await engine.source()).files) known.set(path, signature);
  };

  const take = async (change: Pending) => {
    let held = false;
    const isWanted = asked === 'reload';
    /** Whether what was loaded may take effect now: it is what lies on disk, and has been for long enough. */
    const confirm = async (next: ResolvedConfig, before: ResolvedConfig | undefined) => {
      if (!isWanted) await refuseLost(before, next);
      const changed = [...known].flatMap(([path, was]) => (change.signatures.get(path) === was ? [] : [path]));
      const quietMs = quietTime(before, next, changed, times);
      const waited = performance.now() - change.since;
      // Who asks for a reload has saved the file, unless it was written a moment ago and lacks something.
      const left = isWanted && (quietMs <= settleMs || (await age(changed)) >= quietMs) ? 0 : quietMs - waited;
      change.quietMs = quietMs;
      held = left > 0 || !same(await look(), change.signatures);
      return !held;
    };
    try {
      const swapped = await engine.reload({ ifChanged: !isWanted, confirm });
      if (held) return;
      said = undefined;
      if (swapped) logger.info({}, 'the configuration was reloaded');
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      // A file that is written again with the same mistake is told of once.
      const level = error instanceof Gone ? 'warn' : 'error';
      const effect = engine.problem ? 'and there is no old one' : 'the old one stays';
      const what = error instanceof Gone ? why : `the new configuration cannot be used, ${effect}: ${why}`;
      if (why !== said) logger[level]({}, what);
      said = why;
    }
    pending = undefined;
    asked = undefined;
    await remember(change.signatures);
  };

  const tick = async () => {
    const now = await lookAt(stamp);
    if (stopped) return;
    if (now !== stampSeen) {
      stampSeen = now;
      const asker = now === ABSENT ? undefined : await whoAsked(stamp);
      if (asker === 'reload') pending = { signatures: await look(), since: performance.now(), quietMs: 0 };
      if (asked !== 'reload') asked = asker ?? asked;
    }
    if (!files && !asked) return;
    const signatures = await look();
    if (stopped) return;
    if (!asked && same(signatures, known)) pending = undefined;
    else if (!pending || !same(signatures, pending.signatures))
      pending = { signatures, since: performance.now(), quietMs: settleMs };
    else if (performance.now() - pending.since >= pending.quietMs) await take(pending);
  };

  const every = Math.max(10, Math.min(settleMs, files ? LOOK_MS : LOOK_STAMP_MS));
  let timer: NodeJS.Timeout | undefined;
  const again = () => {
    if (stopped) return;
    timer = setTimeout(() => void tick().then(again, again), every).unref();
  };
  again();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

const same = (one: Signatures, other: Signatures): boolean => {
  for (const [path, signature] of one) if (other.get(path) !== signature) return false;
  return true;
};

/** Milliseconds since the youngest of these files was written; what is not there is not being written. */
async function age(paths: readonly string[]): Promise<number> {
  const times = await Promise.all(
    paths.map((path) =>
      stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  );
  return wallNow() - Math.max(0, ...times);
}

/** Refuses a configuration that is without what a file says which was there: the origin, or the user's own beside it. */
async function refuseLost(before: ResolvedConfig | undefined, next: ResolvedConfig): Promise<void> {
  const kept = new Set([next.origin, ...(next.floorFiles ?? [])]);
  for (const file of [before?.origin, ...(before?.floorFiles ?? [])]) {
    if (file !== undefined && !kept.has(file) && (await lookAt(file)) === ABSENT) throw new Gone(file);
  }
}

/** A file that the configuration in force was made from is not there any more, and what it said would be lost. */
class Gone extends Error {
  constructor(file: string) {
    super(
      `${file} is gone; what it said stays in force until it is back. To go on without it, run: anygpt mcp config reload`,
    );
  }
}
