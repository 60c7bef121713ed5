/**
 * Chooses one of a command's subcommands by its name.
 * @module
 */
import { nearestName } from '../text/nearest-names.ts';
import { UsageError } from './usage-error.ts';

/** Returns the subcommand; throws `UsageError` with the nearest name for one that does not exist. */
export function subcommandNamed<T>(command: string, table: Readonly<Record<string, T>>, name: string | undefined): T {
  const names = Object.keys(table);
  if (name === undefined) throw new UsageError(`<subcommand> is missing: ${names.join(', ')}`);
  const found = Object.hasOwn(table, name) ? table[name] : undefined;
  if (found !== undefined) return found;
  const near = nearestName(name, names);
  const hint = near === undefined ? `Subcommands: ${names.join(', ')}` : `Did you mean "${near}"?`;
  throw new UsageError(`Unknown subcommand "${command} ${name}". ${hint}`, near === undefined ? [] : [near]);
}
