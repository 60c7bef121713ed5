/**
 * Chooses one of a command's subcommands by its name.
 * @module
 */
import { refuseWord, UsageError } from './usage-error.ts';

/** Returns the subcommand; throws `UsageError` with the nearest name for one that does not exist. */
export function subcommandNamed<T>(command: string, table: Readonly<Record<string, T>>, name: string | undefined): T {
  const names = Object.keys(table);
  if (name === undefined) throw new UsageError(`<subcommand> is missing: ${names.join(', ')}`);
  const found = Object.hasOwn(table, name) ? table[name] : undefined;
  if (found !== undefined) return found;
  return refuseWord(`Unknown subcommand "${command} ${name}".`, name, names, `Subcommands: ${names.join(', ')}`);
}
