/**
 * A server as a child process: newline-delimited JSON on its stdin and stdout, stderr kept in a ring.
 *
 * Differs from the SDK's transport where a gateway has to: the child leads a process group that is ended as a whole,
 * noise on stdout is counted and kept, one over-long message costs one call and not the server, and nothing is parsed
 * beyond JSON.
 * @module
 */
import type { ChildProcessWithoutNullStreams, SpawnOptions } from 'node:child_process';
import type { Readable } from 'node:stream';
import spawn from 'cross-spawn';
import { writeJson } from '../exact-json.ts';
import { NestingError, parseNested } from '../json-nesting.ts';
import { type Redact, redactUnknown } from '../secrets/redactor.ts';
import { ByteRing } from './byte-ring.ts';
import {
  isJsonRpcMessage,
  type JsonRpcMessage,
  type MessageInfo,
  NotReadError,
  NotSentError,
  type Unreadable,
  unsendable,
  type Wire,
} from './json-rpc.ts';
import { LineReader } from './line-reader.ts';
import { lostAnswer } from './lost-answer.ts';
import { groupGone, releaseGroup, signalGroup, spawnGuarded } from './process-reaper.ts';
import { readInPlace, writeAtOnce } from './quick-pipe.ts';

export interface StdioTransportOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
  /** Longest message in bytes. */
  readonly maxMessageBytes: number;
  /** How much of stderr is kept. */
  readonly stderrBytes: number;
  /** Hears the same as it comes. */
  readonly onStderr?: ((chunk: Buffer) => void) | undefined;
  /** Takes known secrets out of lines that are cut. */
  readonly redact?: Redact | undefined;
  /** How long each stage of the ending may take: end of stdin, SIGTERM, SIGKILL. */
  readonly stageMs?: number;
  /** How much may wait for the child to read it, in bytes. Default: as much as one message. */
  readonly maxUnreadBytes?: number;
  /** An answer could not be read; `id` when it shows which request it belongs to. */
  readonly onUnreadable?: (id: number | undefined, why: Unreadable) => void;
}

const LAST_WORDS_MS = 250;
/** More lines of noise than this in one chunk are a flood. */
const FLOOD_LINES = 256;
/** About ten times as long as the worst line takes us. */
const PAUSE_PER_LINE_MS = 0.05;
const MAY_BE_MESSAGE = /^\ufeff?\s*\{/;
/** As much of a line on stdout that is no message is kept. */
const NOISE_CHARS = 2000;
const HEAD_CHARS = 1024;
const TAIL_CHARS = 128;

export class StdioTransport implements Wire {
  onmessage?: ((message: JsonRpcMessage, info?: MessageInfo) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  /** Lines on stdout that were not JSON-RPC. */
  noise = 0;
  readonly stderr: ByteRing;
  readonly #options: StdioTransportOptions;
  #child: ChildProcessWithoutNullStreams | undefined;
  #stdout: Readable | undefined;
  /** Noise of the chunk that is being read. */
  #unheard = '';
  #noisyLines = 0;
  #closing: Promise<void> | undefined;
  #closed = false;
  /** Whether nothing can come from the child any more, although it may run on. */
  #isMute = false;
  #exit: { readonly code: number | null; readonly signal: NodeJS.Signals | null } | undefined;

  constructor(options: StdioTransportOptions) {
    this.#options = options;
    this.stderr = new ByteRing(options.stderrBytes);
  }

  /** The child's process id while it runs. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** How the child ended, in words, once it has. */
  get exitReason(): string | undefined {
    if (!this.#exit) return this.#isMute ? 'closed its stdout' : undefined;
    const { code, signal } = this.#exit;
    return signal ? `ended by ${signal}` : `exited with code ${code}`;
  }

  start(): Promise<void> {
    const { command, args, env, cwd, maxMessageBytes } = this.#options;
    return new Promise((resolve, reject) => {
      const options: SpawnOptions = {
        env: { ...env },
        cwd,
        shell: false,
        stdio: ['pipe', 'pipe', 'pipe'],
        detached: process.platform !== 'win32',
        windowsHide: true,
      };
      // On Windows `npx` and the like are scripts, which Node's own `spawn` does not start.
      const child = spawnGuarded(() => spawn(command, [...args], options)) as ChildProcessWithoutNullStreams;
      this.#child = child;
      const lines = new LineReader({
        maxBytes: maxMessageBytes,
        onLine: (line, bytes) => this.#line(line, bytes),
        onTooLong: (head, tail) => this.#unreadable(head, tail, 'too-long'),
      });
      child.once('spawn', resolve);
      child.once('error', (error) => {
        if (child.pid === undefined) reject(error);
        else this.onerror?.(error);
      });
      // Without file descriptors for pipes there is nothing but the error, which is on its way.
      if (child.stdout === undefined) return;
      const stdout = readInPlace(child.stdout);
      this.#stdout = stdout;
      stdout.on('data', (chunk: Buffer) => {
        lines.push(chunk);
        if (this.#noisyLines > 0) this.#hearNoise(stdout);
      });
      child.stderr.on('data', (chunk: Buffer) => this.#heard(chunk));
      stdout.on('error', (error) => this.onerror?.(error));
      const ended = () => {
        if (this.#closed) return;
        this.#closed = true;
        this.onclose?.();
        void this.close();
      };
      stdout.once('close', () => {
        this.#isMute = true;
        // Mostly it is about to exit, and then the exit tells more.
        setTimeout(ended, LAST_WORDS_MS).unref();
      });
      child.stdin.on('error', (error) => {
        this.onerror?.(error);
        // A server that hears nothing answers nothing. Mostly it is about to exit, and then the exit tells more.
        setTimeout(ended, LAST_WORDS_MS).unref();
      });
      child.once('exit', (code, signal) => {
        this.#exit = { code, signal };
        // Its last words, however many they are, have to be heard before it is given up.
        stdout.resume();
        // A grandchild may hold stdout open for ever; what the child itself wrote has arrived by then.
        setTimeout(ended, LAST_WORDS_MS).unref();
      });
      // Not `exit`: what the child wrote last is still to be read then.
      child.once('close', ended);
    });
  }

  #heard(chunk: Buffer): void {
    this.stderr.push(chunk);
    this.#options.onStderr?.(chunk);
  }

  send(message: JsonRpcMessage): void {
    const stdin = this.#child?.stdin;
    if (!stdin?.writable) throw new NotSentError('the server is not running');
    const { maxMessageBytes, maxUnreadBytes = maxMessageBytes } = this.#options;
    if (stdin.writableLength > maxUnreadBytes)
      throw new NotReadError(`it has not read the last ${stdin.writableLength} bytes it was sent`);
    writeAtOnce(stdin, `${written(message)}\n`);
  }

  /** End of stdin, then SIGTERM, then SIGKILL, each to the whole group; resolves when nothing of it is left. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return;
    const { stageMs = 2000 } = this.#options;
    const { pid } = child;
    child.stdin.end();
    if (!this.#exit && !(await exited(child, stageMs))) signalGroup(pid, 'SIGTERM');
    if (!this.#exit) await exited(child, stageMs);
    // The leader is gone or does not listen; what remains of the group gets one polite signal and then no choice.
    if (signalGroup(pid, 'SIGTERM') && !(await groupGone(pid, this.#exit ? stageMs / 4 : 0))) {
      signalGroup(pid, 'SIGKILL');
      await groupGone(pid, stageMs);
    }
    releaseGroup(pid);
    for (const stream of [child.stdin, this.#stdout, child.stderr]) stream?.destroy();
  }

  #line(line: string, bytes: number): void {
    let message: unknown;
    // What is no object needs no parser to be told from a message: an exception for each line of a flood takes all our time.
    if (!MAY_BE_MESSAGE.test(line)) return this.#noise(line);
    try {
      message = parseNested(line);
    } catch (error) {
      if (!(error instanceof NestingError)) return this.#noise(line);
      return this.#unreadable(line.slice(0, HEAD_CHARS), line.slice(-TAIL_CHARS), 'too-deep');
    }
    if (isJsonRpcMessage(message)) this.onmessage?.(message, { bytes });
    else this.#noise(line);
  }

  #unreadable(head: string, tail: string | undefined, why: Unreadable): void {
    const lost = lostAnswer(head, tail);
    if (lost === 'none') this.#noise(`(${why}) ${head}`);
    else this.#options.onUnreadable?.(lost === 'unknown' ? undefined : lost, why);
  }

  #noise(line: string): void {
    if (line.trim() === '') return;
    this.noise++;
    this.#noisyLines++;
    if (this.#unheard.length < this.#options.stderrBytes) this.#unheard += `[stdout] ${this.#shortened(line)}\n`;
  }

  /** Cut between words: the rest of this line goes through no redactor any more. */
  #shortened(line: string): string {
    const { redact = redactUnknown } = this.#options;
    return line.length <= NOISE_CHARS ? line : redact.cut(line, NOISE_CHARS).replace(/\S+$/, '…');
  }

  /** Keeps the noise of one chunk. Who floods us is read more slowly, so that nobody else has to wait. */
  #hearNoise(stdout: Readable): void {
    this.#heard(Buffer.from(this.#unheard));
    this.#unheard = '';
    const lines = this.#noisyLines;
    this.#noisyLines = 0;
    if (lines <= FLOOD_LINES || this.#exit) return;
    stdout.pause();
    setTimeout(() => stdout.resume(), lines * PAUSE_PER_LINE_MS).unref();
  }
}

function written(message: JsonRpcMessage): string {
  try {
    return writeJson(message);
  } catch (error) {
    throw unsendable(error);
  }
}

function exited(child: ChildProcessWithoutNullStreams, withinMs: number): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(true);
  return new Promise((resolve) => {
    const timer = setTimeout(() => done(false), withinMs);
    const onExit = () => done(true);
    const done = (gone: boolean) => {
      clearTimeout(timer);
      child.off('exit', onExit);
      resolve(gone);
    };
    child.once('exit', onExit);
  });
}
