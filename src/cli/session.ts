/**
 * One command's time with an engine: options in, an engine with signals, progress and lists at hand, and all of it
 * closed at the end. The engine is loaded here, so that help need not load it.
 * @module
 */

import { notesToSay } from '../config/said-notes.ts';
import type { ErrorInfo } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { createLogger, LOG_LEVELS, type LogLevel } from '../core/log.ts';
import type { DiscoveryEngine } from '../engine/discovery-engine.ts';
import { configFile } from '../engine/engine-world.ts';
import { visibly } from '../text/plain-text.ts';
import { askTrust } from './ask-trust.ts';
import type { Values } from './command.ts';
import { toMilliseconds } from './duration.ts';
import { exitCodeOf } from './exit-code.ts';
import { complain, reportFailure } from './failure.ts';
import type { Io } from './io.ts';
import { toJson } from './json-document.ts';
import { block, widthOf } from './layout.ts';
import { type Paint, paintFor } from './paint.ts';
import { type Progress, progressOn, startingText } from './progress-line.ts';
import { UsageError } from './usage-error.ts';

/** Options of every command that has an engine. */
export const ENGINE_OPTIONS = {
  json: { type: 'boolean' },
  config: { type: 'string' },
  'trust-project': { type: 'boolean' },
  'log-level': { type: 'string' },
} as const;

/** Their help. */
export const ENGINE_HELP = `  --json             One JSON document on stdout and nothing else
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

/** Their help. */
export const SESSION_HELP = `  --refresh          Read tool lists anew, even those that are known
  --offline          Connect to nothing; answer from what is known
  --timeout TIME     Longest wait: 30 (seconds), 500ms, 2m
${ENGINE_HELP}`;

export interface Session {
  readonly engine: DiscoveryEngine;
  readonly io: Io;
  readonly json: boolean;
  readonly paint: Paint;
  readonly progress: Progress;
  /** Aborted when a signal asks the command to end. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number | undefined;
  /**
   * Reads lists nobody has seen, or all that are named if `again` or --refresh say so, and shows progress. Resolves
   * with what went wrong, by server. Waits as long as --timeout says, else `waitMs`.
   */
  lists(servers?: readonly string[], again?: boolean, waitMs?: number): Promise<ReadonlyMap<string, ErrorInfo>>;
  /** Plain text, wrapped to the terminal. */
  block(text: string, indent?: string): string;
  /** Writes the result. */
  print(text: string): void;
  /** Writes the result of --json, with everything in it to be seen; `exact` leaves a tool's own result as it is. */
  printJson(value: unknown, exact?: 'exact'): void;
  /** Says something beside the result. */
  note(text: string): void;
  /** Says what went wrong, in place of a result, and gives the exit code for it. */
  fail(error: ErrorInfo): number;
}

const SIGNAL_CODES: Readonly<Partial<Record<NodeJS.Signals, number>>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/**
 * Opens an engine as the options say, works with it, and closes it; on a signal without waiting for the work.
 * @param about what the command is about: all that there is to say of the configuration is said, or only a little
 */
export async function withSession(
  values: Values,
  io: Io,
  work: (session: Session) => Promise<number>,
  about: 'configuration' | 'servers' = 'servers',
): Promise<number> {
  const { level, refresh, offline, timeoutMs } = settingsOf(values);
  const { DiscoveryEngine } = await import('../engine/discovery-engine.ts');
  const engine = new DiscoveryEngine(configFile(values.config as string | undefined), {
    env: io.env,
    cwd: io.cwd,
    trustProject: values['trust-project'] === true,
    isTrusted: askTrust(io),
    logger: createLogger((line) => io.stderr.write(`anygpt: ${line}\n`), level ?? 'error'),
    offline,
    background: false,
    wholeResults: true,
  });
  const progress = progressOn(io);
  const ending = new AbortController();
  const width = widthOf(io);
  // Work that nobody waits for any more may still come to an end.
  const unlessEnding = (write: () => unknown): void => {
    if (!ending.signal.aborted) write();
  };
  const said: string[] = [];
  const say = (text: string) => {
    // What is wrong with a configuration comes as a warning and, cut short, as a note.
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
    lists: async (servers, again = refresh, waitMs = undefined) => {
      const onChange = (waiting: readonly string[], total: number) =>
        unlessEnding(() => offline || progress.show(startingText(waiting, total)));
      const failed = await engine.readLists({ servers, again, waitMs: timeoutMs ?? waitMs, onChange });
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
      // Whoever chose a level gets them from the log.
      if (level === undefined && config.warnings.length > 0) {
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
  const level = values['log-level'] as LogLevel | undefined;
  if (level !== undefined && !LOG_LEVELS.includes(level))
    throw new UsageError(`--log-level is one of ${LOG_LEVELS.join(', ')}`);
  const [refresh, offline] = [values.refresh === true, values.offline === true];
  if (refresh && offline) throw new UsageError('--refresh reads from servers and --offline forbids it');
  const timeoutMs = values.timeout === undefined ? undefined : toMilliseconds(String(values.timeout), '--timeout');
  return { level, refresh, offline, timeoutMs };
}
