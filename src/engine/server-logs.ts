/**
 * Saves the stderr of local servers, line by line and without secrets, and reads the last run back. Each server has two
 * files of at most `limits.stderr` bytes, so that yesterday's crash can still be read today.
 * @module
 */

import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LIMITS } from '../core/limits.ts';
import { unlessMissing } from '../disk/file-error.ts';
import { makeFolder } from '../disk/make-folder.ts';
import { RedactStream } from '../secrets/redact-stream.ts';
import type { Redact } from '../secrets/redactor.ts';
import { oneLine, plainName, plainText } from '../text/plain-text.ts';

/** One run of a server's process. */
interface ServerRun {
  /** After a gap, drops the unfinished line: half a secret would not be recognised. */
  readonly write: (chunk: Buffer, isAfterGap?: boolean) => void;
  /** Notes how the run ended. Later output is still saved. */
  readonly end: (why: string) => void;
}

interface ServerLogsOptions {
  /** The state folder; the files are in its `logs` folder. */
  readonly home: string;
  /** Maximum size of one file. 0 disables saving. */
  readonly maxBytes: number;
  /** Removes secrets from a text. */
  readonly redact: Redact;
  /** Called once when writing starts to fail. Servers are not affected. */
  readonly onError: (error: Error) => void;
}

/** What is saved of a server's last run. */
interface KeptLog {
  readonly text: string;
  /** When the run began; undefined if its beginning was dropped. */
  readonly startedAt: string | undefined;
  /** File offset at which to continue reading. */
  readonly end: number;
}

/** Slows down the log of a flooding server: each pause is this many times as long as the write before it. */
const PAUSE_FACTOR = 10;
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
const BEGUN = /(?<![^\n])=== started (\S{1,40}) \((?:by )?process \d+\)\n/g;

/** Characters that a terminal or a program may treat as the end of a line. */
const BREAKS = /\r\n?|[\u000b\u000c\u0085\u2028\u2029]/g;
/** How our own lines begin, in the file and on a terminal. */
const OURS = /^(?:=|anygpt ?:)/i;
const HARMLESS = /^[\x21-\x3c\x3e-\x40B-Z[-`b-~]/;
/** Invisible at the start of a line: white space, and combining marks, which need a letter before them. */
const BLANK = /^[\s\p{M}]+/u;

/** Quotes a server's lines that look like our own, with `| `. */
export const quoteLog = (text: string): string => text.replace(BREAKS, '\n').split('\n').map(quoted).join('\n');

const quoted = (line: string): string =>
  // Test what will be shown: any number of invisible characters may come first.
  HARMLESS.test(line) || !OURS.test(plainName(line).replace(BLANK, '')) ? line : `| ${line}`;

/**
 * Makes a log safe for a terminal, line by line: an escape sequence left open in one line hides nothing of the next.
 */
export const shownLog = (text: string): string =>
  text
    .split('\n')
    .map((line) => plainText(line))
    .join('\n');

/** The file of a server's stderr. A server's name may hold any character, so the file name includes a digest. */
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

/** Saves what servers write. Never throws and never blocks: a full disk must not stop a server. */
export class ServerLogs {
  readonly #options: ServerLogsOptions;
  readonly #waiting = new Map<string, string>();
  readonly #writing = new Map<string, Promise<void>>();
  /** Output that is not written yet, still with its secrets. */
  readonly #runs = new Map<string, Set<{ readonly said: RedactStream; ended: boolean }>>();
  readonly #pauses = new Set<() => void>();
  #flushing = false;
  #prepared: Promise<void> | undefined;
  #failed = false;

  constructor(options: ServerLogsOptions) {
    this.#options = options;
  }

  /** Starts the log of a new process. */
  begin(server: string, now: number): ServerRun {
    let decoder = new TextDecoder();
    const run = { said: new RedactStream(this.#options.redact, this.#options.maxBytes), ended: false };
    const runs = this.#runs.get(server) ?? new Set();
    this.#runs.set(server, runs.add(run));
    // Another process may have died in the middle of a line.
    this.#keep(server, `\n=== started ${new Date(now).toISOString()} (by process ${process.pid})\n`);
    return {
      write: (chunk, isAfterGap) => {
        if (this.#options.maxBytes <= 0) return;
        if (isAfterGap) {
          decoder = new TextDecoder();
          run.said.dropUnfinished();
        }
        run.said.push(decoder.decode(chunk, { stream: true }));
        runs.add(run);
        this.#write(server);
      },
      end: (why) => {
        run.ended = true;
        this.#keep(server, `=== ended: ${oneLine(this.#options.redact(why), LIMITS.text.long)}\n`);
      },
    };
  }

  /** Resolves when all output so far is on disk. */
  async flush(): Promise<void> {
    this.#flushing = true;
    for (const server of this.#runs.keys()) this.#keep(server, this.#take(server, true));
    for (const resume of this.#pauses) resume();
    await Promise.all(this.#writing.values());
    this.#flushing = false;
  }

  /** Takes a server's new output without secrets: whole lines, or everything once the run has ended. */
  #take(server: string, atEnd = false): string {
    let text = '';
    const runs = this.#runs.get(server) ?? new Set();
    for (const run of runs) {
      const said = quoteLog(run.said.take(atEnd || run.ended));
      // End the line: other processes write to the same file.
      text += said !== '' && !said.endsWith('\n') ? `${said}\n` : said;
      if (run.ended) runs.delete(run);
    }
    return text;
  }

  #keep(server: string, text: string): void {
    const { maxBytes } = this.#options;
    if (maxBytes <= 0 || text === '') return;
    const before = (this.#waiting.get(server) ?? '') + this.#take(server);
    this.#waiting.set(server, lastLines(before + text, maxBytes));
    this.#write(server);
  }

  #write(server: string): void {
    if (this.#writing.has(server)) return;
    const writing = this.#drain(server).catch((error: Error) => {
      this.#writing.delete(server);
      // The folder may be gone and come back. The next write tries again.
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
      const started = performance.now();
      // Redacted here rather than on arrival: of a flood, only what is saved has to be scanned.
      const text = lastLines((this.#waiting.get(server) ?? '') + this.#take(server), this.#options.maxBytes);
      this.#waiting.delete(server);
      if (text === '') {
        this.#writing.delete(server);
        return;
      }
      try {
        await this.#append(file, Buffer.from(text));
      } catch (error) {
        const since = this.#waiting.get(server) ?? '';
        this.#waiting.set(server, lastLines(text + since, this.#options.maxBytes));
        throw error;
      }
      this.#failed = false;
      if (!this.#flushing) await this.#pause((performance.now() - started) * PAUSE_FACTOR);
    }
  }

  /** Waits for `ms`, or until `flush` resumes the writer. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const resume = () => {
        clearTimeout(timer);
        this.#pauses.delete(resume);
        resolve();
      };
      const timer = setTimeout(resume, Math.min(ms, LIMITS.pace.logWrites)).unref();
      this.#pauses.add(resume);
    });
  }

  async #append(file: string, bytes: Buffer): Promise<void> {
    const { size } = await stat(file).catch(() => ({ size: 0 }));
    // Another process may rotate at the same moment; then a little less history is kept.
    if (size > 0 && size + bytes.length > this.#options.maxBytes)
      await rename(file, olderOf(file)).catch(unlessMissing);
    const handle = await open(file, APPEND, 0o600);
    try {
      await handle.writeFile(bytes);
    } finally {
      await handle.close();
    }
  }
}

/** The end of a text, in whole lines: part of a line could be misread. */
function lastLines(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const end = text.slice(-maxChars);
  return text[text.length - maxChars - 1] === '\n' ? end : end.slice(end.indexOf('\n') + 1);
}

/** Reads what a server's last run wrote, in any process of this home. Undefined if nothing is saved. */
export async function readServerLog(home: string, server: string): Promise<KeptLog | undefined> {
  const file = serverLogFile(home, server);
  const [older, newer] = [await readTail(olderOf(file)), await readTail(file)];
  if (older === undefined && newer === undefined) return undefined;
  const all = Buffer.concat([older ?? Buffer.alloc(0), newer ?? Buffer.alloc(0)]).toString('utf8');
  const last = [...all.matchAll(BEGUN)].at(-1);
  const text = last ? all.slice(last.index + last[0].length) : all.replace(/^\n/, '');
  return { text, startedAt: last?.[1], end: newer?.length ?? 0 };
}

const olderOf = (file: string): string => `${file}.old`;

async function readTail(file: string): Promise<Buffer | undefined> {
  try {
    const handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      const { size } = await handle.stat();
      const buffer = Buffer.alloc(Math.min(size, LIMITS.files.serverLogRead));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, size - buffer.length);
      const read = buffer.subarray(0, bytesRead);
      return size > buffer.length ? read.subarray(read.indexOf('\n') + 1) : read;
    } finally {
      await handle.close();
    }
  } catch (error) {
    return unlessMissing(error);
  }
}

/** Creates the folder and deletes the oldest files beyond the limit. */
async function prepare(folder: string): Promise<void> {
  await makeFolder(folder);
  const names = (await readdir(folder)).filter((name) => /\.log(?:\.old)?$/.test(name));
  if (names.length <= LIMITS.files.serverLogs) return;
  const aged = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(join(folder, name)).catch(() => undefined))?.mtimeMs ?? 0 })),
  );
  const surplus = aged.sort((a, b) => b.at - a.at).slice(LIMITS.files.serverLogs);
  await Promise.all(surplus.map(({ name }) => rm(join(folder, name), { force: true })));
}
