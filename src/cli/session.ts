/**
 * Opens an engine for one command, handles signals and progress, and closes it at the end. The engine is loaded here, so
 * that help does not load it.
 * @module
 */

import { notesToSay } from '../config/said-notes.ts';
import type { ErrorInfo } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { createLogger, LOG_LEVELS } from '../core/log.ts';
import type { Caller } from '../core/types.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import { configFile } from '../engine/engine-world.ts';
import { visibly } from '../text/plain-text.ts';
import { askTrust } from './ask-trust.ts';
import type { Values } from './command.ts';
import { exitCodeOf } from './exit-code.ts';
import { complain, reportFailure } from './failure.ts';
import type { Io } from './io.ts';
import { toJson } from './json-document.ts';
import { block, widthOf } from './layout.ts';
import { type Paint, paintFor } from './paint.ts';
import { type Progress, progressOn, startingText } from './progress-line.ts';
import { oneOf, UsageError } from './usage-error.ts';
import { toMilliseconds } from './written-times.ts';

/** Options of every command that opens an engine. */
export const ENGINE_OPTIONS = {
  json: { type: 'boolean' },
  config: { type: 'string' },
  'trust-project': { type: 'boolean' },
  'log-level': { type: 'string' },
} as const;

/** Help for these options. */
export const ENGINE_HELP = `  --json             Print one JSON document and nothing else on stdout
  --config FILE      Use this configuration file
  --trust-project    Use this folder's configuration without asking
  --log-level LEVEL  debug, info, warn, error or silent (default error)`;

/** Options of every command that waits for servers. */
export const SESSION_OPTIONS = {
  ...ENGINE_OPTIONS,
  refresh: { type: 'boolean' },
  offline: { type: 'boolean' },
  timeout: { type: 'string' },
} as const;

/** Help for these options. */
export const SESSION_HELP = `  --refresh          Read tool lists again, even if they are cached
  --offline          Connect to no server; use cached tool lists
  --timeout TIME     Longest wait: 30 (seconds), 500ms, 2m
${ENGINE_HELP}`;

export interface Session {
  readonly engine: EngineCore;
  readonly io: Io;
  readonly json: boolean;
  readonly paint: Paint;
  readonly progress: Progress;
  /** Aborted when a signal asks the command to end. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number | undefined;
  /** The caller whose profile --profile names; undefined: the local user. */
  readonly caller: Caller | undefined;
  /**
   * Reads tool lists that are not known, or with `again` or --refresh all of them, and shows progress. Resolves with the
   * errors by server. Waits for at most --timeout, else `waitMs`.
   */
  lists(servers?: readonly string[], again?: boolean, waitMs?: number): Promise<ReadonlyMap<string, ErrorInfo>>;
  /** Plain text, wrapped to the terminal. */
  block(text: string, indent?: string): string;
  /** Writes the result. */
  print(text: string): void;
  /** Writes the document of --json with invisible characters escaped; `exact` leaves a tool's own result as it is. */
  printJson(value: unknown, exact?: 'exact'): void;
  /** Writes a message to stderr, once. */
  note(text: string): void;
  /** Reports an error instead of a result and returns its exit code. */
  fail(error: ErrorInfo): number;
}

const SIGNAL_CODES: Readonly<Partial<Record<NodeJS.Signals, number>>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/**
 * Opens an engine with the options of the command line, runs the work and closes the engine. A signal ends it at once.
 * @param about `configuration` prints every warning about the configuration, `servers` only new ones; `registries` needs
 * no configuration, and prints no warning if there is none
 */
export async function withSession(
  values: Values,
  io: Io,
  work: (session: Session) => Promise<number>,
  about: 'configuration' | 'servers' | 'registries' = 'servers',
): Promise<number> {
  const { level, refresh, offline, timeoutMs } = settingsOf(values);
  const { EngineCore } = await import('../engine/engine-core.ts');
  const engine = new EngineCore(configFile(values.config as string | undefined), {
    env: io.env,
    cwd: io.cwd,
    trustProject: values['trust-project'] === true,
    isTrusted: askTrust(io),
    logger: createLogger((line) => io.stderr.write(`anygpt: ${line}\n`), level ?? 'error'),
    offline,
    background: false,
    wholeResults: true,
  });
  const caller = values.profile === undefined ? undefined : { profile: String(values.profile) };
  const progress = progressOn(io);
  const ending = new AbortController();
  const width = widthOf(io);
  // Work may still finish after a signal; its output is dropped.
  const unlessEnding = (write: () => unknown): void => {
    if (!ending.signal.aborted) write();
  };
  const said: string[] = [];
  const say = (text: string) => {
    // The same problem may come as a warning and, shortened, as a note.
    if (said.some((other) => other.startsWith(text.replace(/…$/, '')))) return;
    said.push(text);
    complain(io, text, 0);
  };
  const session: Session = {
    engine,
    io,
    json: values.json === true,
    paint: paintFor(io),
    progress,
    signal: ending.signal,
    timeoutMs,
    caller,
    lists: async (servers, again = refresh, waitMs = undefined) => {
      const onChange = (waiting: readonly string[], total: number) =>
        unlessEnding(() => offline || progress.show(startingText(waiting, total)));
      const failed = await engine.readLists({ servers, again, caller, waitMs: timeoutMs ?? waitMs, onChange });
      unlessEnding(progress.clear);
      return failed;
    },
    block: (text, indent = '') => block(text, width, indent),
    print: (text) => unlessEnding(() => io.stdout.write(`${text}\n`)),
    printJson: (value, exact) => unlessEnding(() => io.stdout.write(toJson(exact ? value : visibly(value)))),
    note: (text) => unlessEnding(() => say(text)),
    fail: (error) => {
      unlessEnding(() => reportFailure(io, error, values.json === true));
      return exitCodeOf(error.code);
    },
  };
  let stopListening = () => {};
  const signalled = new Promise<number>((resolve) => {
    stopListening = io.onSignal((signal) => {
      const code = SIGNAL_CODES[signal] ?? 1;
      if (ending.signal.aborted) io.exit(code);
      ending.abort();
      setTimeout(() => io.exit(code), LIMITS.time.ending).unref();
      resolve(code);
    });
  });
  try {
    const started = async () => {
      const config = await engine.getConfig();
      // With --log-level, the log has the warnings.
      const isNeeded = about !== 'registries' || config.origin !== undefined;
      if (level === undefined && isNeeded && config.warnings.length > 0) {
        const telling = { whole: about === 'configuration', toPerson: !session.json, cwd: io.cwd };
        for (const note of await notesToSay(config, telling)) session.note(note);
        said.push(...config.warnings);
      }
      return work(session);
    };
    return await Promise.race([signalled, started()]);
  } finally {
    progress.clear();
    await engine.close();
    stopListening();
  }
}

function settingsOf(values: Values) {
  const given = values['log-level'];
  const level = given === undefined ? undefined : oneOf('--log-level', given, LOG_LEVELS);
  const [refresh, offline] = [values.refresh === true, values.offline === true];
  if (refresh && offline) throw new UsageError('--refresh cannot be combined with --offline');
  const timeoutMs = values.timeout === undefined ? undefined : toMilliseconds(String(values.timeout), '--timeout');
  return { level, refresh, offline, timeoutMs };
}
