/**
 * Encodes and decodes a tool list: one line of JSON about the list, then one line per tool, so that a huge list is
 * written, compared and read in small steps.
 * @module
 */
import { createHash } from 'node:crypto';
import type { ToolDefinition } from '../core/types.ts';
import { isObject } from '../json/plain-object.ts';
import type { Listing } from './listing.ts';

/** 3: earlier versions could hold masked names. */
const VERSION = 3;
/** Tools per step. */
const STEP = 20;

/** The tools of a list as lines, and their digest. Equal digests mean equal tools. */
export interface ListingLines {
  readonly lines: readonly string[];
  readonly digest: string;
}

/** Writes every tool as a line. */
export function* toLines(tools: readonly ToolDefinition[]): Generator<void, ListingLines> {
  const hash = createHash('sha256');
  const lines: string[] = [];
  for (const [index, tool] of tools.entries()) {
    const line = JSON.stringify(tool);
    hash.update(line).update('\n');
    lines.push(line);
    if (index % STEP === STEP - 1) yield;
  }
  return { lines, digest: hash.digest('hex').slice(0, 32) };
}

/** Encodes a list whose tools are already lines. */
export function* encodeListing(
  { tools: _tools, ...about }: Listing,
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
  for (let end = buffer.indexOf(10, at); end !== -1; end = buffer.indexOf(10, at)) {
    const tool = parse(buffer.toString('utf8', at, end));
    if (!isTool(tool)) return undefined;
    tools.push(tool);
    at = end + 1;
    if (tools.length % STEP === 0) yield;
  }
  return tools.length === count && at === buffer.length ? { listing: { ...about, tools }, digest } : undefined;
}

type Head = Omit<Listing, 'tools'> & { readonly version: number; readonly digest: string; readonly count: number };

function isHead(data: unknown): data is Head {
  if (!isObject(data) || data.version !== VERSION) return false;
  const { server, fingerprint, fetchedAt, skipped, digest, count, title, instructions, incomplete } = data;
  return (
    typeof server === 'string' &&
    typeof fingerprint === 'string' &&
    typeof fetchedAt === 'number' &&
    typeof digest === 'string' &&
    typeof count === 'number' &&
    Array.isArray(skipped) &&
    [title, instructions, incomplete].every((text) => text === undefined || typeof text === 'string')
  );
}

const isTool = (data: unknown): data is ToolDefinition =>
  isObject(data) && typeof data.name === 'string' && isObject(data.inputSchema);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
