/**
 * Defines what a command may use of the process. It is passed in, so that commands run anywhere.
 * @module
 */
import type { Readable, Writable } from 'node:stream';

/** An output stream; a terminal has a width. */
export type Output = Writable & { readonly isTTY?: boolean | undefined; readonly columns?: number | undefined };

/** The process, as a command sees it. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Calls the listener on SIGINT, SIGTERM and SIGHUP; returns a function that removes it. */
  onSignal(listener: (signal: NodeJS.Signals) => void): () => void;
  /** Reserves stdout for the returned stream; everything else printed there goes to stderr. */
  reserveStdout?(): Output;
  /** Ends the process at once. */
  exit(code: number): never;
}

/** Exit codes of the command line. */
export const EXIT = { ok: 0, usage: 1, notFound: 2, failed: 3, refused: 4 } as const;
