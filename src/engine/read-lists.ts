/**
 * Reads tool lists while the caller waits, and reports what failed. For commands that answer once.
 * @module
 */

import { waitAtMost } from '../async/time-limit.ts';
import { connectMs } from '../connections/connect-time.ts';
import { type ErrorInfo, ServerConnectionError } from '../core/errors.ts';
import { DEFAULTS, LIMITS } from '../core/limits.ts';
import { isProvider, type SourceDefinition } from '../core/tool-provider.ts';
import type { Caller } from '../core/types.ts';
import type { EngineState } from './engine-state.ts';

/** Selects servers, and limits the wait. */
export interface ReadListsOptions {
  /** Only these servers; unknown names are ignored. Default: all. */
  readonly servers?: readonly string[] | undefined;
  /** Only the program's own providers. */
  readonly own?: boolean | undefined;
  /** Also read lists that are known. */
  readonly again?: boolean | undefined;
  /** Whose lists. Default: those of the local user. */
  readonly caller?: Caller | undefined;
  /** Timeout of the whole reading. Default: as long as all servers may take to connect. */
  readonly waitMs?: number | undefined;
  /** Receives the servers still waited for: at the start, and whenever one of them finishes, except the last. */
  readonly onChange?: ((waiting: readonly string[], total: number) => void) | undefined;
}

/**
 * Reads each list that is unknown or older than a day, with discovery's retries, until the timeout. Resolves with the
 * errors, by server; a timeout is one. An old list that could not be read again is still used, so that is no error.
 */
export async function readLists(
  { servers, catalog, discovery }: EngineState,
  { servers: wanted, own = false, again = false, waitMs, onChange }: ReadListsOptions,
): Promise<ReadonlyMap<string, ErrorInfo>> {
  const definitions = (wanted ?? [...servers.keys()]).flatMap((name) => servers.get(name)?.definition ?? []);
  const isNeeded = (name: string) => again || !catalog.isSeen(name);
  const due = definitions.filter(
    (one) => (isNeeded(one.name) || discovery.isStale(one.name)) && (!own || isProvider(one)),
  );
  const failed = new Map<string, ErrorInfo>();
  if (due.length === 0) return failed;
  const rounds = Math.ceil(due.length / LIMITS.atOnce.servers);
  const isKnownToFail = (name: string) => wanted === undefined && !again && discovery.failure(name) !== undefined;
  const patienceWith = (definition: SourceDefinition) => {
    if (isKnownToFail(definition.name)) return LIMITS.time.failing;
    return isProvider(definition) ? DEFAULTS.provider.readMs : connectMs(definition);
  };
  const patience = waitMs ?? rounds * Math.max(...due.map(patienceWith));
  const waiting = new Set(due.map(({ name }) => name));
  onChange?.([...waiting], due.length);
  const all = Promise.all(
    [...waiting].map(async (name) => {
      if (again) discovery.demand(name);
      const error = await discovery.listed(name);
      if (!waiting.delete(name)) return;
      if (error && isNeeded(name)) failed.set(name, error.toInfo());
      if (waiting.size > 0) onChange?.([...waiting], due.length);
    }),
  );
  await waitAtMost(all, patience);
  for (const name of [...waiting].filter(isNeeded)) {
    const message = `${name} did not list its tools within ${patience / 1000} s.`;
    // An earlier error says more than a timeout.
    failed.set(name, (discovery.failure(name) ?? new ServerConnectionError(name, message)).toInfo());
  }
  waiting.clear();
  return failed;
}
