/**
 * Defines what a command is: its help, its options and its action. Each has a file in `commands/`.
 * @module
 */
import type { parseArgs } from 'node:util';
import type { Io } from './io.ts';

/** The parsed options. The words after `--`, which are positionals too, are under `--`. */
export type Values = Readonly<Record<string, unknown>>;

/** One command. It returns the exit code; `main` reports what it throws. */
export interface Command {
  readonly usage: string;
  readonly options: NonNullable<Parameters<typeof parseArgs>[0]>['options'];
  /** Options that may stand without their value, with what they mean then. */
  readonly bare?: Readonly<Record<string, string>>;
  /** What to say besides of an option that the command does not have. */
  readonly unknownOption?: string;
  run(values: Values, positionals: readonly string[], io: Io): Promise<number>;
}
