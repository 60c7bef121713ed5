/**
 * Defines a dialect: the points in which clients' entries differ. Data only.
 * @module
 */

/**
 * How references to variables are written.
 * - `literal`: no references, `${X}` is text
 * - `braces`: `${X}`, `${X:-default}`, `${env:X}`, `${file:path}`
 * - `dollar`: like `braces`, and `$X`; `%X%` on Windows
 * - `shell`: like `dollar`, and `$(command)`, which is never run here
 * - `vscode`: `${env:X}`, `${input:id}`, `${workspaceFolder}`, `${userHome}` and so on; `${X}` is text
 * - `opencode`: `{env:X}`, `{file:path}`
 * - `continue`: `${{ secrets.X }}`
 */
export type VariableStyle = 'literal' | 'braces' | 'dollar' | 'shell' | 'vscode' | 'opencode' | 'continue';

/** A field with a timeout: what it limits, and its unit in milliseconds. */
export interface TimeoutField {
  readonly key: string;
  readonly limits: 'connect' | 'call';
  readonly unit: 1 | 1_000;
  /** The client itself ignores smaller values. */
  readonly atLeast?: number | undefined;
}

/** Everything in which clients' entries differ. */
export interface Dialect {
  readonly variables: VariableStyle;
  /** What a URL without a type means. Default `http`, which falls back to SSE. */
  readonly urlWithoutType?: 'sse' | 'refused' | undefined;
  readonly timeouts?: readonly TimeoutField[] | undefined;
  /** `tools` is a list of names, not of definitions. */
  readonly toolsAreFilter?: boolean | undefined;
  /** Names in tool lists may contain `*` and `?`. */
  readonly globs?: boolean | undefined;
  /** An empty list of allowed tools means all of them. */
  readonly emptyIncludeIsAll?: boolean | undefined;
  /** Where a registered client expects the answers of logins, unless the entry says so. */
  readonly redirectUri?: string | undefined;
  /** With a list of allowed tools, the list of forbidden tools is ignored. */
  readonly includeWins?: boolean | undefined;
}

/** The dialect of our own custom files and files of unknown origin. */
export const PLAIN: Dialect = { variables: 'braces' };
