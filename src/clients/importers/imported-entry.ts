/**
 * One entry of an imported file in, a checked server entry or the reason to leave it out, out.
 * @module
 */
import * as z from 'zod/mini';
import { check } from '../../config/problems.ts';
import { isReservedName, nameProblem, type ServerEntry, serverSchema } from '../../config/server-schema.ts';
import type { ToolFilter } from './tool-filter.ts';

/** A server that was found in a file, the place inside it, and which of its tools its client uses. */
export interface ImportedEntry {
  readonly entry: ServerEntry;
  readonly path: string;
  readonly filter?: ToolFilter | undefined;
}

/** What an importer found in a document. */
export interface Imported {
  readonly entries: readonly ImportedEntry[];
  /** One sentence for every entry that was left out because it cannot be used. */
  readonly problems: readonly string[];
  /** One sentence for everything a person should know about an entry that was kept. */
  readonly notes: readonly string[];
  /** One sentence for every entry that was left out on purpose: this gateway itself, what a client has built in. */
  readonly skipped: readonly string[];
}

const namelessSchema = z.omit(serverSchema, { name: true });
const OTHER_SCHEME = /^(?:wss?|unix|pipe):/i;

/** Checks an entry that was brought into the shape of `discovery.servers`, without its name. */
export function toImported(name: string, raw: unknown, path: string, filter?: ToolFilter): Imported {
  // A reserved name is no reason to lose a server: it is given another where names meet.
  const wrongName = isReservedName(name) ? undefined : nameProblem(name);
  if (wrongName !== undefined) return leftOut(`${path}: its name ${wrongName}`);
  const { checkable, address } = setAside(raw);
  const checked = check(namelessSchema, checkable, path);
  if (!checked.ok) return leftOut(checked.problems.join('; '));
  const { connection } = checked.value;
  if (connection === undefined) return leftOut(`${path}.connection: is missing`);
  const entry: ServerEntry = { name, ...checked.value };
  if (address !== undefined && connection.type !== 'stdio') entry.connection = { ...connection, url: address };
  return { ...NOTHING, entries: [{ entry, path, filter }] };
}

/**
 * Clients reach servers in ways we cannot. Such an entry is kept, to be listed with the address it has and to fail with
 * that address; so the address does not take part in the check.
 */
function setAside(raw: unknown): { readonly checkable: unknown; readonly address?: string } {
  const { connection } = (raw ?? {}) as { connection?: { type?: unknown; url?: unknown } };
  const url = connection?.url;
  if (typeof url !== 'string' || !OTHER_SCHEME.test(url)) return { checkable: raw };
  return { checkable: { ...(raw as object), connection: { ...connection, url: 'http://localhost' } }, address: url };
}

/** Nothing found. */
export const NOTHING: Imported = { entries: [], problems: [], notes: [], skipped: [] };

/** An entry that cannot be used, and why. */
export const leftOut = (problem: string): Imported => ({ ...NOTHING, problems: [problem] });

/** An entry that is passed over on purpose, and why. */
export const passedOver = (reason: string): Imported => ({ ...NOTHING, skipped: [reason] });

/** Several findings as one. */
export const joinImported = (parts: readonly Imported[]): Imported => ({
  entries: parts.flatMap(({ entries }) => entries),
  problems: parts.flatMap(({ problems }) => problems),
  notes: parts.flatMap(({ notes }) => notes),
  skipped: parts.flatMap(({ skipped }) => skipped),
});
