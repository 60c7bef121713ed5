/**
 * Checks one imported entry: returns it, or why it is skipped.
 * @module
 */
import * as z from 'zod/mini';
import { check } from '../../config/problems.ts';
import { isReservedName, nameProblem, type ServerEntry, serverSchema } from '../../config/server-schema.ts';
import { isLocal } from '../../core/transport-parts.ts';
import type { ToolFilter } from './tool-filter.ts';

/** A server found in a file, its path there, and the tools that its client uses. */
export interface ImportedEntry {
  readonly entry: ServerEntry;
  readonly path: string;
  readonly filter?: ToolFilter | undefined;
}

/** The result of importing a document. */
export interface Imported {
  readonly entries: readonly ImportedEntry[];
  /** One sentence for every entry that cannot be used. */
  readonly problems: readonly string[];
  /** One sentence for everything the user should know about an imported entry. */
  readonly notes: readonly string[];
  /** One sentence for every entry skipped on purpose: this gateway itself, or a client's built-in. */
  readonly skipped: readonly string[];
}

const namelessSchema = z.omit(serverSchema, { name: true });
const OTHER_SCHEME = /^(?:wss?|unix|pipe):/i;

/** Checks an entry in the format of `discovery.servers`, without its name. */
export function toImported(name: string, raw: unknown, path: string, filter?: ToolFilter): Imported {
  // A server with a reserved name is kept; joining gives it another name.
  const wrongName = isReservedName(name) ? undefined : nameProblem(name);
  if (wrongName !== undefined) return leftOut(`${path}: its name ${wrongName}`);
  const { checkable, address } = setAside(raw);
  const checked = check(namelessSchema, checkable, path);
  if (!checked.ok) return leftOut(checked.problems.join('; '));
  const { connection } = checked.value;
  if (connection === undefined) return leftOut(`${path}.connection: is missing`);
  const entry: ServerEntry = { name, ...checked.value };
  if (address !== undefined && !isLocal(connection)) entry.connection = { ...connection, url: address };
  return { ...NOTHING, entries: [{ entry, path, filter }] };
}

/**
 * Excludes the address from the check if its scheme is one we cannot use. Such an entry is kept, listed with its
 * address, and fails with that address.
 */
function setAside(raw: unknown): { readonly checkable: unknown; readonly address?: string } {
  const { connection } = (raw ?? {}) as { connection?: { type?: unknown; url?: unknown } };
  const url = connection?.url;
  if (typeof url !== 'string' || !OTHER_SCHEME.test(url)) return { checkable: raw };
  return { checkable: { ...(raw as object), connection: { ...connection, url: 'http://localhost' } }, address: url };
}

/** An empty result. */
const NOTHING: Imported = { entries: [], problems: [], notes: [], skipped: [] };

/** Reports an entry that cannot be used. */
export const leftOut = (problem: string): Imported => ({ ...NOTHING, problems: [problem] });

/** Reports an entry skipped on purpose. */
export const passedOver = (reason: string): Imported => ({ ...NOTHING, skipped: [reason] });

/** Joins several results. */
export const joinImported = (parts: readonly Imported[]): Imported => ({
  entries: parts.flatMap(({ entries }) => entries),
  problems: parts.flatMap(({ problems }) => problems),
  notes: parts.flatMap(({ notes }) => notes),
  skipped: parts.flatMap(({ skipped }) => skipped),
});
