/**
 * Removes audit files that are too many or too old. From surplus files, the newest calls of every tool are kept in one
 * file, with equal room for every server. So neither many calls of one tool nor many tools of one server can displace
 * the few calls of another. Returns how many records were removed.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { LIMITS } from '../core/limits.ts';

/** What is kept beside an audit file. */
export interface Retention {
  /** Rotated files. */
  readonly files: number;
  /** A rotated file is removed when it was last written so long before the rotation before this one. */
  readonly days: number;
  /** Calls of one tool that are kept from surplus files. */
  readonly perTool: number;
  /** Bytes that the kept calls may take. */
  readonly keptBytes: number;
}

const ROTATED = /^\d{4}-.*Z-[0-9a-f]{6}$/;
const KEPT = 'kept';
const TEMPORARY = /^kept\.[0-9a-f]{6}$/;
const DAY_MS = 86_400_000;

/** Returns the file and its rotated files, the newest first; the file of kept calls comes last. */
export async function auditFiles(file: string): Promise<string[]> {
  const names = await namesBeside(file);
  const rotated = names
    .filter((name) => ROTATED.test(name))
    .sort()
    .reverse();
  return ['', ...rotated, ...names.filter((name) => name === KEPT)].map((name) => beside(file, name));
}

/** Removes surplus files. Resolves with the number of removed records. Only one process at a time may call this. */
export async function retain(
  file: string,
  { files, days, perTool, keptBytes }: Retention,
  now: number,
): Promise<number> {
  const names = await namesBeside(file);
  let dropped = 0;
  for (const name of names.filter((one) => TEMPORARY.test(one))) {
    if ((await changedAt(beside(file, name))) < now - LIMITS.age.auditTemporary)
      await unlink(beside(file, name)).catch(unlessGone);
  }
  const rotated = names.filter((name) => ROTATED.test(name)).sort();
  const times = await Promise.all(rotated.map((name) => changedAt(beside(file, name))));
  // The clock may be years ahead. A file is old only if it was old at the rotation before this one, too.
  const [, before = Number.NEGATIVE_INFINITY] = [...times].sort((a, b) => b - a);
  const oldest = Math.min(now, before) - days * DAY_MS;
  const left = rotated.filter((_, at) => (times[at] as number) >= oldest);
  for (const name of rotated) if (!left.includes(name)) dropped += await remove([beside(file, name)]);
  const surplus = left.slice(0, Math.max(0, left.length - files)).map((name) => beside(file, name));
  const kept = beside(file, KEPT);
  if (surplus.length === 0) return dropped;
  // Reads only the kept file and the surplus. Whatever happens meanwhile, one of the two is complete.
  const sum = new Kept(perTool, oldest);
  for (const path of [...(names.includes(KEPT) ? [kept] : []), ...surplus])
    await readLines(path, (line) => sum.add(line));
  const text = sum.text(keptBytes);
  if (text !== '' || names.includes(KEPT)) await replace(kept, text);
  for (const path of surplus) await unlink(path).catch(unlessGone);
  return dropped + sum.dropped;
}

/** Writes a temporary file and renames it, so that the file is either old or new. */
async function replace(kept: string, text: string): Promise<void> {
  const temporary = `${kept}.${randomBytes(3).toString('hex')}`;
  const handle = await open(temporary, 'wx', 0o600);
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
  await rename(temporary, kept);
}

type ToolLines = Map<string, Set<string>>;

/** The newest lines of every tool of every server. */
class Kept {
  readonly #perTool: number;
  readonly #oldest: number;
  readonly #servers = new Map<string, ToolLines>();
  /** Lines of calls about to be sent, until the line of their end: if that never comes, they are all that is known. */
  readonly #begun = new Map<string, string[]>();
  dropped = 0;

  constructor(perTool: number, oldest: number) {
    this.#perTool = perTool;
    this.#oldest = oldest;
  }

  add(line: string): void {
    const entry = parsed(line);
    const call = JSON.stringify([entry?.traceId, entry?.server, entry?.tool]);
    const begun = this.#begun.get(call) ?? [];
    if (entry?.event === 'sending') {
      this.#begun.set(call, [...begun, line]);
      return;
    }
    begun.shift();
    if (begun.length === 0) this.#begun.delete(call);
    // Records dropped earlier stay counted.
    if (entry?.event === 'dropped') this.dropped += count(entry.count, 0);
    else if (!wasSent(entry) || !(Date.parse(String(entry?.time)) >= this.#oldest))
      this.dropped += count(entry?.count, 1);
    else this.#keep(JSON.stringify([entry.server]), JSON.stringify([entry.tool]), line);
  }

  /** Returns all lines in order, with equal room for every server. */
  text(maxBytes: number): string {
    for (const [call, lines] of this.#begun) {
      const [, server, tool] = JSON.parse(call) as unknown[];
      for (const line of lines) this.#keep(JSON.stringify([server]), JSON.stringify([tool]), line);
    }
    const servers = [...this.#servers.values()]
      .map((tools) => ({ tools, bytes: bytesOf(linesOf(tools)) }))
      .sort((a, b) => a.bytes - b.bytes);
    let left = maxBytes;
    let all: string[] = [];
    for (const [at, { tools }] of servers.entries()) {
      // Servers with little come first: what they do not need is left to the others.
      const lines = this.#fit(tools, Math.floor(left / (servers.length - at)));
      left -= bytesOf(lines);
      all = all.concat(lines);
    }
    return all
      .sort()
      .map((line) => `${line}\n`)
      .join('');
  }

  /**
   * Returns the lines of one server in order. Halves the number per tool until they fit; in the end drops the oldest.
   */
  #fit(tools: ToolLines, maxBytes: number): string[] {
    for (let most = this.#perTool; ; most = Math.floor(most / 2)) {
      for (const lines of tools.values()) this.#shorten(lines, Math.max(1, most));
      // Every line starts with its time, so sorting is chronological.
      const all = linesOf(tools).sort();
      let bytes = bytesOf(all);
      let gone = 0;
      for (; most <= 1 && bytes > maxBytes; gone++) bytes -= bytesOf(all.slice(gone, gone + 1));
      this.dropped += gone;
      if (bytes <= maxBytes) return all.slice(gone);
    }
  }

  #keep(server: string, tool: string, line: string): void {
    const tools: ToolLines = this.#servers.get(server) ?? new Map();
    this.#servers.set(server, tools);
    // A set, because after a crash between two steps the same line may come twice.
    const lines = tools.get(tool) ?? new Set();
    tools.set(tool, lines);
    lines.add(line);
    this.#shorten(lines, this.#perTool);
  }

  #shorten(lines: Set<string>, most: number): void {
    for (const line of lines) {
      if (lines.size <= most) return;
      lines.delete(line);
      this.dropped += 1;
    }
  }
}

const linesOf = (tools: ToolLines): string[] => [...tools.values()].flatMap((lines) => [...lines]);

const bytesOf = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);

async function remove(paths: readonly string[]): Promise<number> {
  let lines = 0;
  for (const path of paths) {
    await readLines(path, (line) => {
      const entry = parsed(line);
      if (entry?.event !== 'sending') lines += count(entry?.count, entry?.event === 'dropped' ? 0 : 1);
    });
    await unlink(path).catch(unlessGone);
  }
  return lines;
}

/** Tells whether a call was sent, according to its line. */
const wasSent = (entry: Record<string, unknown> | undefined): entry is Record<string, unknown> =>
  entry !== undefined && entry.outcome !== 'refused' && entry.sent !== false;

const count = (written: unknown, otherwise: number): number =>
  Number.isSafeInteger(written) && (written as number) >= 0 ? (written as number) : otherwise;

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(line) as unknown;
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    // Half a line, after a crash or on a full disk.
    return undefined;
  }
}

async function readLines(path: string, onLine: (line: string) => void): Promise<void> {
  let rest = '';
  try {
    for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark: 128 * 1024 })) {
      const lines = (rest + chunk).split('\n');
      rest = (lines.pop() ?? '').slice(0, LIMITS.audit.foreignLine);
      for (const line of lines) if (line !== '') onLine(line);
    }
  } catch (error) {
    unlessGone(error);
  }
  if (rest !== '') onLine(rest);
}

const beside = (file: string, name: string): string => (name === '' ? file : `${file}.${name}`);

async function namesBeside(file: string): Promise<string[]> {
  const prefix = `${basename(file)}.`;
  const names = await readdir(dirname(file)).catch(unlessGone);
  return (names ?? []).filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
}

const changedAt = async (path: string): Promise<number> =>
  (await stat(path).catch(unlessGone))?.mtimeMs ?? Number.POSITIVE_INFINITY;

function unlessGone(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
}
