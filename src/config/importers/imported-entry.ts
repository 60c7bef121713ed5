/**
 * One entry of an imported file in, a checked server entry or the reason to leave it out, out.
 * @module
 */
import { check } from '../problems.ts';
import { isReservedName, nameProblem, type ServerEntry, serverSchema } from '../server-schema.ts';

/** What an importer found in a document. */
export interface Imported {
  readonly entries: readonly { readonly entry: ServerEntry; readonly path: string }[];
  /** One sentence for every entry that was left out. */
  readonly problems: readonly string[];
}

const namelessSchema = serverSchema.omit({ name: true });

/** Checks an entry that was brought into the shape of `discovery.servers`, without its name. */
export function toImported(name: string, raw: unknown, path: string): Imported {
  // A reserved name is no reason to lose a server: it is given a number where names meet.
  const wrongName = isReservedName(name) ? undefined : nameProblem(name);
  if (wrongName !== undefined) return leftOut(`${path}: its name ${wrongName}`);
  const checked = check(namelessSchema, raw, path);
  if (!checked.ok) return leftOut(checked.problems.join('; '));
  if (checked.value.connection === undefined) return leftOut(`${path}.connection: is missing`);
  return { entries: [{ entry: { name, ...checked.value }, path }], problems: [] };
}

/** An entry that cannot be used, and why. */
export const leftOut = (problem: string): Imported => ({ entries: [], problems: [problem] });

/** Several findings as one. */
export const joinImported = (parts: readonly Imported[]): Imported => ({
  entries: parts.flatMap(({ entries }) => entries),
  problems: parts.flatMap(({ problems }) => problems),
});
