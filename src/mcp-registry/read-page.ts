/**
 * Reads what a registry answers: a page of a list, or one entry, in the envelopes of all versions of the API.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';
import { oneLine } from '../text/plain-text.ts';
import { readServer } from './read-server.ts';
import type { RegistryEntry, RegistryStatus } from './registry-server.ts';

type Raw = Readonly<Record<string, unknown>>;

export interface RegistryPage {
  readonly entries: readonly RegistryEntry[];
  /** Why entries were left out. */
  readonly skipped: readonly string[];
  /** Undefined on the last page. */
  readonly nextCursor: string | undefined;
}

const OFFICIAL = 'io.modelcontextprotocol.registry/official';
/** The key of the official data in 2025-07. */
const EARLIEST = 'x-io.modelcontextprotocol.registry';

/** Reads a page; undefined if the answer is none. */
export function readPage(answer: unknown): RegistryPage | undefined {
  if (!isObject(answer) || !Array.isArray(answer.servers)) return undefined;
  const entries: RegistryEntry[] = [];
  const skipped: string[] = [];
  for (const raw of answer.servers) {
    const entry = readEntry(raw);
    if (typeof entry === 'string') skipped.push(entry);
    else entries.push(entry);
  }
  const { metadata } = answer;
  const cursor = isObject(metadata) ? (metadata.nextCursor ?? metadata.next_cursor) : undefined;
  return { entries, skipped, nextCursor: typeof cursor === 'string' && cursor !== '' ? cursor : undefined };
}

/** Reads one entry, wrapped or bare, or gives the reason why it cannot be used. */
export function readEntry(envelope: unknown): RegistryEntry | string {
  if (!isObject(envelope)) return 'an entry is not an object';
  const raw = isObject(envelope.server) ? envelope.server : envelope;
  const server = readServer(raw);
  if (typeof server === 'string') return server;
  return { server, raw, ...statusOf(envelope, raw) };
}

/** The data beside the document; in version 2025-09-16, inside it. */
function statusOf(envelope: Raw, raw: Raw): RegistryStatus {
  const official = [envelope, raw].map(({ _meta }) => (isObject(_meta) ? _meta[OFFICIAL] : undefined)).find(isObject);
  const said = official ?? (isObject(envelope[EARLIEST]) ? envelope[EARLIEST] : {});
  const status = said.status ?? raw.status;
  const isLatest = said.isLatest ?? said.is_latest;
  return {
    status: status === 'deleted' || status === 'deprecated' ? status : 'active',
    message: textOf(said.statusMessage ?? said.status_message, LIMITS.text.reason),
    publishedAt: dateOf(said.publishedAt ?? said.published_at),
    updatedAt: dateOf(said.updatedAt ?? said.updated_at),
    isLatest: typeof isLatest === 'boolean' ? isLatest : undefined,
  };
}

function textOf(value: unknown, most: number): string | undefined {
  const text = typeof value === 'string' ? oneLine(value, most) : '';
  return text === '' ? undefined : text;
}

/** A date in any usual spelling; anything else is left out. */
function dateOf(value: unknown): string | undefined {
  const time = typeof value === 'string' && value.length <= 64 ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}
