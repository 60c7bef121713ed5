/**
 * What a command may touch of the process. Handed in, so that commands run anywhere.
 * @module
 */
import type { Readable, Writable } from 'node:stream';

/** Where text goes; on a terminal it has a width. */
export type Output = Writable & { readonly isTTY?: boolean | undefined; readonly columns?: number | undefined };

/** A process, as a command sees it. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Called on SIGINT, SIGTERM and SIGHUP; returns how to stop listening. */
  onSignal(listener: (signal: NodeJS.Signals) => void): () => void;
  /** Keeps stdout to the stream this gives back; whatever else is printed there from now on goes to stderr. */
  reserveStdout?(): Output;
  /** Ends the process at once. */
  exit(code: number): never;
}

/** Exit codes of the command line. */
export const EXIT = { ok: 0, usage: 1, notFound: 2, failed: 3, refused: 4 } as const;
