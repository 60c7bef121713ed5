/**
 * How one client writes a server: the few points in which dialects of the same entry differ. Data only.
 * @module
 */

/**
 * How references to variables are written.
 *
 * - `literal`: not at all, `${X}` is text
 * - `braces`: `${X}`, `${X:-default}`, `${env:X}`, `${file:path}`
 * - `dollar`: those and `$X`; `%X%` on Windows
 * - `shell`: those and `$(command)`, which is never run here
 * - `vscode`: `${env:X}`, `${input:id}`, `${workspaceFolder}`, `${userHome}` and so on; `${X}` is text
 * - `opencode`: `{env:X}`, `{file:path}`
 * - `continue`: `${{ secrets.X }}`
 */
export type VariableStyle = 'literal' | 'braces' | 'dollar' | 'shell' | 'vscode' | 'opencode' | 'continue';

/** A field that holds a time-out: what it limits, and how many milliseconds one of its units is. */
export interface TimeoutField {
  readonly key: string;
  readonly limits: 'connect' | 'call';
  readonly unit: 1 | 1_000;
  /** Smaller values are ignored by the client itself. */
  readonly atLeast?: number | undefined;
}

/** Everything in which clients differ inside an entry. */
export interface Dialect {
  readonly variables: VariableStyle;
  /** What a URL without a type means; `http` where nothing is said, which falls back to SSE. */
  readonly urlWithoutType?: 'sse' | 'refused' | undefined;
  readonly timeouts?: readonly TimeoutField[] | undefined;
  /** `tools` is a list of names, not of definitions. */
  readonly toolsAreFilter?: boolean | undefined;
  /** Names in tool lists may hold `*` and `?`. */
  readonly globs?: boolean | undefined;
  /** An empty list of allowed tools means all of them. */
  readonly emptyIncludeIsAll?: boolean | undefined;
  /** With a list of allowed tools, the list of forbidden ones does not count. */
  readonly includeWins?: boolean | undefined;
}

/** What our own custom files and files of unknown origin are read as. */
export const PLAIN: Dialect = { variables: 'braces' };
