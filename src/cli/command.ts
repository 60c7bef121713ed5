/**
 * What a command is: its help, its options, and what it does. Each stands in a file of its own in `commands/`.
 * @module
 */
import type { parseArgs } from 'node:util';
import type { Io } from './io.ts';

/** Options as they were parsed. */
export type Values = Readonly<Record<string, unknown>>;

/** One command. What it returns is the exit code; what it throws is said and turned into one by `main`. */
export interface Command {
  readonly usage: string;
  readonly options: NonNullable<Parameters<typeof parseArgs>[0]>['options'];
  run(values: Values, positionals: readonly string[], io: Io): Promise<number>;
}
