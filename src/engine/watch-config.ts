/**
 * Reloads an engine when its configuration files change, or on `config reload`.
 *
 * Files are polled rather than subscribed to. Polling also notices a file that was replaced by a rename, a folder that
 * was deleted and made again, and a link with a new target. A change takes effect once the file has been quiet for a
 * while (`config/quiet-time.ts`): half a YAML file does not show that its rules are still to come.
 * @module
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { wallNow } from '../async/clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { ABSENT, lookAt } from '../config/heard-reads.ts';
import { type QuietTimes, quietTime } from '../config/quiet-time.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { LIMITS } from '../core/limits.ts';
import type { Logger } from '../core/types.ts';
import type { EngineCore } from './engine-core.ts';
import { coreOf, type EngineHandle } from './engine-handle.ts';

/** Touched by `anygpt mcp config reload` and `trust`. Running gateways of the same home watch it. */
export const reloadStamp = (home: string): string => join(home, 'reload');

/** The stamp of an engine's home as it is now, for `WatchOptions.stampBefore`. */
export const stampNow = async (handle: EngineHandle): Promise<string> =>
  lookAt(reloadStamp(await coreOf(handle).stateFolder()));

/** Tells running gateways of this home to reload. */
export function touchReloadStamp(home: string, now: () => number = wallNow): void {
  writeStamp(home, new Date(now()).toISOString());
}

/**
 * Tells running gateways of this home that the trusted files have changed, without asking for a reload of anything
 * else.
 */
export function touchTrustStamp(home: string, now: () => number = wallNow): void {
  writeStamp(home, `${new Date(now()).toISOString()} ${TRUST}`);
}

const TRUST = 'trust';

function writeStamp(home: string, text: string): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  writeFileSync(reloadStamp(home), `${text}\n`, { mode: 0o600 });
}

/** What touched the stamp: `config reload`, or `trust`. */
type Asker = 'reload' | 'trust';

const whoAsked = (stamp: string): Promise<Asker> =>
  readFile(stamp, 'utf8').then(
    (text) => (text.trimEnd().endsWith(` ${TRUST}`) ? 'trust' : 'reload'),
    () => 'reload',
  );

/** What is watched beside the reload stamp, and where changes are logged. */
export interface WatchOptions {
  readonly logger: Logger;
  /** Also watch the configuration files themselves. */
  readonly files?: boolean;
  /** The stamp as it was before the configuration was read. A reload that was asked for since is not lost. */
  readonly stampBefore?: Promise<string> | undefined;
  /** How long a changed file must be quiet before it takes effect. */
  readonly settleMs?: number;
  /** The same for formats in which a part looks complete, such as YAML. */
  readonly partialMs?: number;
  /** The same if such a change removes something: a rule, a server, a setting. */
  readonly lossMs?: number;
}

type Signatures = ReadonlyMap<string, string>;

/** A change that waits for its quiet time. */
interface Pending {
  readonly signatures: Signatures;
  readonly since: number;
  quietMs: number;
}

/**
 * Watches until the returned function is called. An invalid configuration is logged and ignored. So is one that lost a
 * file: the old one stays until the file is back. Rewriting a file without changing its servers has no effect, because
 * some clients rewrite their files all the time. `config reload` takes effect at once, except for a file that is being
 * written.
 */
export async function watchConfig(
  handle: EngineHandle,
  {
    logger,
    files = false,
    stampBefore,
    settleMs = LIMITS.pace.settled,
    partialMs = LIMITS.pace.settledPart,
    lossMs = LIMITS.pace.settledLoss,
  }: WatchOptions,
): Promise<() => void> {
  const times: QuietTimes = { settleMs, partialMs, lossMs };
  const engine = coreOf(handle);
  const stamp = reloadStamp(await engine.stateFolder());
  let stampSeen = await (stampBefore ?? lookAt(stamp));
  /** Every file that any load looked for, with its signature when last read. A vanished file may come back. */
  const known = new Map(await engine.reads());
  let pending: Pending | undefined;
  let stopped = false;
  let said: string | undefined;
  /** What asked for the next load. */
  let asked: Asker | undefined;

  const look = async (): Promise<Signatures> =>
    new Map(await Promise.all([...known.keys()].map(async (path) => [path, await lookAt(path)] as const)));

  const remember = async (signatures: Signatures) => {
    for (const [path, signature] of signatures) known.set(path, signature);
    // As the last load saw them: a later change is still to be loaded.
    for (const [path, signature] of await engine.reads()) known.set(path, signature);
  };

  const take = async (change: Pending) => {
    let held = false;
    const isWanted = asked === 'reload';
    /** Whether the loaded configuration may take effect: it matches the disk, and has been quiet for long enough. */
    const confirm = async (next: ResolvedConfig, before: ResolvedConfig | undefined) => {
      if (!isWanted) await refuseLost(before, next);
      const changed = [...known].flatMap(([path, was]) => (change.signatures.get(path) === was ? [] : [path]));
      const quietMs = quietTime(before, next, changed, times);
      const waited = performance.now() - change.since;
      // A user who asks for a reload has saved the file, unless it was written a moment ago and lacks something.
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
      // A file saved again with the same mistake is reported once.
      const level = error instanceof Gone ? 'warn' : 'error';
      const effect = engine.problem ? 'there is no earlier one' : 'the current one stays in force';
      const what = error instanceof Gone ? why : `the new configuration cannot be used; ${effect}: ${why}`;
      if (why !== said) logger[level]({}, what);
      said = why;
    }
    pending = undefined;
    asked = undefined;
    await remember(change.signatures);
  };

  const ask = async (asker: Asker | undefined) => {
    if (asker === 'reload') pending = { signatures: await look(), since: performance.now(), quietMs: 0 };
    if (asked !== 'reload') asked = asker ?? asked;
  };

  const replicas = followReloads(engine, () => ask('reload'));

  const tick = async () => {
    const now = await lookAt(stamp);
    if (stopped) return;
    replicas.listen();
    if (now !== stampSeen) {
      stampSeen = now;
      const asker = now === ABSENT ? undefined : await whoAsked(stamp);
      await ask(asker);
      if (asker === 'reload') replicas.tell();
    }
    if (!files && !asked) return;
    const signatures = await look();
    if (stopped) return;
    if (!asked && same(signatures, known)) pending = undefined;
    else if (!pending || !same(signatures, pending.signatures))
      pending = { signatures, since: performance.now(), quietMs: settleMs };
    else if (performance.now() - pending.since >= pending.quietMs) await take(pending);
  };

  const every = Math.max(10, Math.min(settleMs, files ? LIMITS.pace.files : LIMITS.pace.stamp));
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

/** Passes requests to reload between the replicas of a gateway. Those made while Redis was away are followed later. */
function followReloads(engine: EngineCore, reload: () => Promise<void>) {
  let joined: Cluster | undefined;
  let seenUntil = 0;
  return {
    /** Listens from the time on at which there is a cluster. */
    listen: () => {
      const cluster = engine.runtime.cluster.current;
      if (!cluster || joined) return;
      joined = cluster;
      seenUntil = cluster.link.now();
      cluster.bus.on('reload', ({ at }) => {
        seenUntil = Math.max(seenUntil, at);
        void reload();
      });
      cluster.link.onUp(async () => {
        const missed = await cluster.reloads.since(seenUntil + 1).catch(() => undefined);
        seenUntil = cluster.link.now();
        if (missed?.has(RELOAD)) await reload();
      });
    },
    /** Tells the others. */
    tell: () => {
      if (!joined) return;
      seenUntil = joined.link.now();
      joined.reloads.add(RELOAD, seenUntil).catch(() => {});
      joined.bus.broadcast({ kind: 'reload' }).catch(() => {});
    },
  };
}

const RELOAD = 'reload';

const same = (one: Signatures, other: Signatures): boolean => {
  for (const [path, signature] of one) if (other.get(path) !== signature) return false;
  return true;
};

/** Milliseconds since the newest of these files was written. Missing files are ignored. */
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

/** Throws if a configuration lacks a file that the old one came from: its origin, or the user's own file beside it. */
async function refuseLost(before: ResolvedConfig | undefined, next: ResolvedConfig): Promise<void> {
  const kept = new Set([next.origin, ...(next.floorFiles ?? [])]);
  for (const file of [before?.origin, ...(before?.floorFiles ?? [])]) {
    if (file !== undefined && !kept.has(file) && (await lookAt(file)) === ABSENT) throw new Gone(file);
  }
}

/** A file of the current configuration is missing, and its content would be lost. */
class Gone extends Error {
  constructor(file: string) {
    super(`${file} is missing; its content stays in force until it is back. To drop it, run: anygpt mcp config reload`);
  }
}
