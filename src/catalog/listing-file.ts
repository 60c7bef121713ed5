/**
 * Encodes and decodes a server's list: one line of JSON about the list, then one line per tool, resource and prompt, so
 * that a huge list is written, compared and read in small steps.
 * @module
 */
import { createHash } from 'node:crypto';
import type { ServerItems, ToolDefinition } from '../core/types.ts';
import { isObject } from '../json/plain-object.ts';
import type { Listing } from './listing.ts';

/** 3: earlier versions could hold masked names. */
const VERSION = 3;
/** Lines per step. */
const STEP = 20;

/** The tools and items of a list as lines, and their digest. Equal digests mean equal lists. */
export interface ListingLines {
  readonly lines: readonly string[];
  readonly digest: string;
}

/** Writes every tool as a line, then every item as a pair of its list and itself. */
export function* toLines({ tools, items = {} }: Pick<Listing, 'tools' | 'items'>): Generator<void, ListingLines> {
  const hash = createHash('sha256');
  const lines: string[] = [];
  const pairs = Object.entries(items).flatMap(([list, entries]) => (entries ?? []).map((entry) => [list, entry]));
  for (const [index, entry] of [...tools, ...pairs].entries()) {
    const line = JSON.stringify(entry);
    hash.update(line).update('\n');
    lines.push(line);
    if (index % STEP === STEP - 1) yield;
  }
  return { lines, digest: hash.digest('hex').slice(0, 32) };
}

/** Encodes a list whose entries are already lines. */
export function* encodeListing(
  { tools: _tools, items: _items, ...about }: Listing,
  { lines, digest }: ListingLines,
): Generator<void, Uint8Array> {
  const parts = [Buffer.from(`${JSON.stringify({ version: VERSION, digest, count: lines.length, ...about })}\n`)];
  for (const [index, line] of lines.entries()) {
    parts.push(Buffer.from(`${line}\n`));
    if (index % STEP === STEP - 1) yield;
  }
  return Buffer.concat(parts);
}

/**
 * Decodes the list of this server and connection, with its digest. Undefined if the bytes are incomplete, of another
 * version or of another server.
 */
export function* decodeListing(
  bytes: Uint8Array,
  server: string,
  fingerprint: string,
): Generator<void, { readonly listing: Listing; readonly digest: string } | undefined> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = buffer.indexOf(10) + 1;
  const head = parse(buffer.toString('utf8', 0, at));
  if (!isHead(head) || head.server !== server || head.fingerprint !== fingerprint) return undefined;
  const { version: _version, digest, count, ...about } = head;
  const tools: ToolDefinition[] = [];
  const items = { resources: [], resourceTemplates: [], prompts: [] } as { [List in keyof ServerItems]: unknown[] };
  let lines = 0;
  for (let end = buffer.indexOf(10, at); end !== -1; end = buffer.indexOf(10, at)) {
    const entry = parse(buffer.toString('utf8', at, end));
    if (isTool(entry)) tools.push(entry);
    else if (isItem(entry)) items[entry[0]].push(entry[1]);
    else return undefined;
    at = end + 1;
    if (++lines % STEP === 0) yield;
  }
  if (lines !== count || at !== buffer.length) return undefined;
  return { listing: { ...about, tools, items: items as unknown as ServerItems }, digest };
}

type Head = Omit<Listing, 'tools' | 'items'> & {
  readonly version: number;
  readonly digest: string;
  readonly count: number;
};

function isHead(data: unknown): data is Head {
  if (!isObject(data) || data.version !== VERSION) return false;
  const { server, fingerprint, fetchedAt, skipped, digest, count, introduction, incomplete } = data;
  return (
    typeof server === 'string' &&
    typeof fingerprint === 'string' &&
    typeof fetchedAt === 'number' &&
    typeof digest === 'string' &&
    typeof count === 'number' &&
    Array.isArray(skipped) &&
    (introduction === undefined || isObject(introduction)) &&
    (incomplete === undefined || typeof incomplete === 'string')
  );
}

const isTool = (data: unknown): data is ToolDefinition =>
  isObject(data) && typeof data.name === 'string' && isObject(data.inputSchema);

const ITEM_KEYS = { resources: 'uri', resourceTemplates: 'uriTemplate', prompts: 'name' } as const;

function isItem(data: unknown): data is [keyof ServerItems, object] {
  if (!Array.isArray(data) || !Object.hasOwn(ITEM_KEYS, String(data[0])) || !isObject(data[1])) return false;
  return typeof data[1][ITEM_KEYS[data[0] as keyof ServerItems]] === 'string';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
