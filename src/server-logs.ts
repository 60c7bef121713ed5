/**
 * What local servers write to stderr, kept in one small file each: chunks in, lines without secrets on disk out, and the
 * last run back. Two files of at most `limits.stderr` bytes per server, so that yesterday's crash can still be read today.
 * @module
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from './make-folder.ts';

/** One life of a server's process. */
export interface ServerRun {
  /** After a gap, a line that was begun before it is left out: half a secret would not be recognised. */
  readonly write: (chunk: Buffer, isAfterGap?: boolean) => void;
  /** Says how it ended; what comes later is kept all the same. */
  readonly end: (why: string) => void;
}

export interface ServerLogsOptions {
  /** The state folder; files are in `logs` below it. */
  readonly home: string;
  /** Of one file. Nothing is kept when this is 0. */
  readonly maxBytes: number;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
  /** Told once when the disk begins to refuse; servers are not disturbed by it. */
  readonly onError: (error: Error) => void;
}

/** What is left of a server's last run. */
export interface KeptLog {
  readonly text: string;
  /** When that run began; undefined when it wrote so much that its beginning is gone. */
  readonly startedAt: string | undefined;
  /** How much of the file this is, to read on from there. */
  readonly end: number;
}

const MAX_FILES = 256;
const MAX_LINE = 8_192;
/** A secret may come in two pieces; none is longer than what is held back for the second. */
const HELD_BACK = 1_024;
const MAX_READ = 4 * 1024 * 1024;
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
const BEGUN = /^=== started (\S{1,40}) \((?:by )?process \d+\)\n/gm;

/** Where a server's stderr is kept. Names are anything, so the file is called after a digest of it, too. */
export function serverLogFile(home: string, server: string): string {
  const digest = createHash('sha256').update(server).digest('hex').slice(0, 12);
  return join(
    home,
    'logs',
    `${server
      .toLowerCase()
      .replace(/[^a-z0-9]/g, '-')
      .slice(0, 40)}-${digest}.log`,
  );
}

/** Keeps what servers write. Nothing here throws or waits: a full disk must not stop a server. */
export class ServerLogs {
  readonly #options: ServerLogsOptions;
  readonly #waiting = new Map<string, string>();
  readonly #writing = new Map<string, Promise<void>>();
  readonly #runs = new Set<() => void>();
  #prepared: Promise<void> | undefined;
  #failed = false;

  constructor(options: ServerLogsOptions) {
    this.#options = options;
  }

  /** A new process of this server. */
  begin(server: string, now: number): ServerRun {
    let decoder = new TextDecoder();
    let rest = '';
    const keep = (text: string) => this.#keep(server, this.#options.redact(text));
    const release = () => {
      if (rest !== '') keep(`${rest}\n`);
      rest = '';
    };
    this.#runs.add(release);
    this.#keep(server, `=== started ${new Date(now).toISOString()} (by process ${process.pid})\n`);
    return {
      write: (chunk, isAfterGap) => {
        if (isAfterGap) {
          decoder = new TextDecoder();
          rest = '';
        }
        const text = rest + decoder.decode(chunk, { stream: true });
        const cut = text.lastIndexOf('\n') + 1;
        rest = text.slice(cut);
        if (cut > 0) keep(text.slice(0, cut));
        if (rest.length < MAX_LINE) return;
        const clean = this.#options.redact(rest);
        rest = clean.slice(-HELD_BACK);
        this.#keep(server, clean.slice(0, -HELD_BACK));
      },
      end: (why) => {
        release();
        this.#runs.delete(release);
        keep(`=== ended: ${why.replace(/\s+/g, ' ')}\n`);
      },
    };
  }

  /** Resolves when everything said so far is on disk. */
  async flush(): Promise<void> {
    for (const release of this.#runs) release();
    await Promise.all(this.#writing.values());
  }

  #keep(server: string, text: string): void {
    const { maxBytes } = this.#options;
    if (maxBytes <= 0) return;
    this.#waiting.set(server, ((this.#waiting.get(server) ?? '') + text).slice(-maxBytes));
    if (this.#writing.has(server)) return;
    const writing = this.#drain(server).catch((error: Error) => {
      this.#writing.delete(server);
      // The folder may have gone, and may come back: whatever is written next is the next attempt.
      this.#prepared = undefined;
      if (!this.#failed) this.#options.onError(error);
      this.#failed = true;
    });
    this.#writing.set(server, writing);
  }

  async #drain(server: string): Promise<void> {
    const file = serverLogFile(this.#options.home, server);
    this.#prepared ??= prepare(join(this.#options.home, 'logs'));
    await this.#prepared;
    for (;;) {
      const text = this.#waiting.get(server);
      if (text === undefined) {
        this.#writing.delete(server);
        return;
      }
      this.#waiting.delete(server);
      try {
        await this.#append(file, Buffer.from(text));
      } catch (error) {
        const since = this.#waiting.get(server) ?? '';
        this.#waiting.set(server, (text + since).slice(-this.#options.maxBytes));
        throw error;
      }
      this.#failed = false;
    }
  }

  async #append(file: string, bytes: Buffer): Promise<void> {
    const { size } = await stat(file).catch(() => ({ size: 0 }));
    // Another process may do the same at this moment; then a little less of the past is kept.
    if (size > 0 && size + bytes.length > this.#options.maxBytes) await rename(file, olderOf(file)).catch(unlessGone);
    const handle = await open(file, APPEND, 0o600);
    try {
      await handle.writeFile(bytes);
    } finally {
      await handle.close();
    }
  }
}

/** What a server's last run wrote, of any process of this home; undefined when nothing is kept. */
export async function readServerLog(home: string, server: string): Promise<KeptLog | undefined> {
  const file = serverLogFile(home, server);
  const [older, newer] = [await readTail(olderOf(file)), await readTail(file)];
  if (older === undefined && newer === undefined) return undefined;
  const all = Buffer.concat([older ?? Buffer.alloc(0), newer ?? Buffer.alloc(0)]).toString('utf8');
  const last = [...all.matchAll(BEGUN)].at(-1);
  const text = last ? all.slice(last.index + last[0].length) : all;
  return { text, startedAt: last?.[1], end: newer?.length ?? 0 };
}

const olderOf = (file: string): string => `${file}.old`;

async function readTail(file: string): Promise<Buffer | undefined> {
  try {
    const handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      const { size } = await handle.stat();
      const buffer = Buffer.alloc(Math.min(size, MAX_READ));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, size - buffer.length);
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (error) {
    return unlessGone(error as Error);
  }
}

function unlessGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/** Servers come and go; the files of those that nobody has started for longest go with them. */
async function prepare(folder: string): Promise<void> {
  await makeFolder(folder);
  const names = (await readdir(folder)).filter((name) => /\.log(?:\.old)?$/.test(name));
  if (names.length <= MAX_FILES) return;
  const aged = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(join(folder, name)).catch(() => undefined))?.mtimeMs ?? 0 })),
  );
  const surplus = aged.sort((a, b) => b.at - a.at).slice(MAX_FILES);
  await Promise.all(surplus.map(({ name }) => rm(join(folder, name), { force: true })));
}
