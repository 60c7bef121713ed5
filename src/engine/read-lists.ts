/**
 * Reads tool lists while somebody waits: a state in, what could not be read out. For commands that answer once.
 * @module
 */

import { connectMs } from '../connections/connect-time.ts';
import { type ErrorInfo, ServerConnectionError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { isProvider, type SourceDefinition } from '../core/tool-provider.ts';
import type { EngineState } from './engine-state.ts';

/** Whose tools are listed, and how long that is waited for. */
export interface ReadListsOptions {
  /** Only these; names of servers that do not exist are passed over. Default all. */
  readonly servers?: readonly string[] | undefined;
  /** Also lists that are known. */
  readonly again?: boolean | undefined;
  /** How long to wait altogether. Default: as long as all of them may take to connect. */
  readonly waitMs?: number | undefined;
  /** Hears who is still being waited for, at the start and whenever one but the last is done. */
  readonly onChange?: ((waiting: readonly string[], total: number) => void) | undefined;
}

/** How long one is waited for that could not be listed last time, where all lists are wanted. */
const KNOWN_TO_FAIL_MS = 3_000;

/** How long a provider of the program is waited for. */
const PROVIDER_MS = 5_000;

/** Reads each list with the retries of discovery, as long as the time lasts. Resolves with what went wrong, by server; who is not done in time is among them. */
export async function readLists(
  { servers, catalog, discovery }: EngineState,
  { servers: wanted, again = false, waitMs, onChange }: ReadListsOptions,
): Promise<ReadonlyMap<string, ErrorInfo>> {
  const definitions = (wanted ?? [...servers.keys()]).flatMap((name) => servers.get(name)?.definition ?? []);
  const due = definitions.filter(({ name }) => again || !catalog.isSeen(name));
  const failed = new Map<string, ErrorInfo>();
  if (due.length === 0) return failed;
  const rounds = Math.ceil(due.length / LIMITS.atOnce.servers);
  const isKnownToFail = (name: string) => wanted === undefined && !again && discovery.failure(name) !== undefined;
  const patienceWith = (definition: SourceDefinition) => {
    if (isKnownToFail(definition.name)) return KNOWN_TO_FAIL_MS;
    return isProvider(definition) ? PROVIDER_MS : connectMs(definition);
  };
  const patience = waitMs ?? rounds * Math.max(...due.map(patienceWith));
  const waiting = new Set(due.map(({ name }) => name));
  onChange?.([...waiting], due.length);
  const all = Promise.all(
    [...waiting].map(async (name) => {
      const error = await discovery.listed(name);
      if (!waiting.delete(name)) return;
      if (error) failed.set(name, error.toInfo());
      if (waiting.size > 0) onChange?.([...waiting], due.length);
    }),
  );
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, patience);
  });
  await Promise.race([all, over]);
  clearTimeout(timer);
  for (const name of waiting) {
    const message = `${name} did not list its tools within ${patience / 1000} s.`;
    // What went wrong so far says more than that the time is over.
    failed.set(name, (discovery.failure(name) ?? new ServerConnectionError(name, message)).toInfo());
  }
  waiting.clear();
  return failed;
}
