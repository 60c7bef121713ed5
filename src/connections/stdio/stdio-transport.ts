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
import { writeJson } from '../../json/exact-json.ts';
import { NestingError, parseNested } from '../../json/json-nesting.ts';
import { MOST_VALUES, mostValues } from '../../json/json-survey.ts';
import { type Redact, redactUnknown } from '../../secrets/redactor.ts';
import {
  isJsonRpcMessage,
  type JsonRpcMessage,
  NotReadError,
  NotSentError,
  type SendOptions,
  type Unreadable,
  unsendable,
  type Wire,
} from '../json-rpc.ts';
import { parseLarge } from '../large-json.ts';
import { largeTurns } from '../large-turns.ts';
import { type LargeLine, type LineFault, LineReader } from '../line-reader.ts';
import { LoopShare, UNASKED } from '../loop-share.ts';
import { isRequest, lostAnswer } from '../lost-answer.ts';
import type { StderrListener } from '../open-options.ts';
import { ByteRing } from './byte-ring.ts';
import { LargeRequests } from './large-requests.ts';
import { exited, groupGone, releaseGroup, signalGroup, spawnGuarded } from './process-reaper.ts';
import { ThinnedLines } from './thinned-lines.ts';

export interface StdioTransportOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
  /** Longest message in bytes. */
  readonly maxMessageBytes: number;
  /** Values in one large message. */
  readonly maxMessageValues?: number | undefined;
  /** How much of stderr is kept. */
  readonly stderrBytes: number;
  /** Hears the same as it comes. */
  readonly onStderr?: StderrListener | undefined;
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
const SHORTEST_MESSAGE = '{"jsonrpc":"2.0","method":""}'.length;
const MAY_BE_MESSAGE = /^\ufeff?\s*\{/;
/** Bytes of empty lines that may come with messages and are not charged. */
const FEW_BLANK = 256;
/** What it takes to be told of a chunk of stderr and to fetch it. So 320 of them are read in a second, or 20 MB. */
const CHUNK_MS = 0.25;
/** A request of more characters takes turns with others, where several callers share the server. */
const LARGE_CHARS = 64 * 1024;
/** As much of a line on stdout that is no message is kept. */
const NOISE_CHARS = 2000;
/** What takes a large result to the client, after it was read: about so long for each megabyte handed on and each value. */
const MEGABYTE_MS = 6;
const VALUE_MS = 0.0005;
const MOST_HANDED_ON = 5 * 2 ** 20;
const HEAD_CHARS = 1024;
const TAIL_CHARS = 128;

export class StdioTransport implements Wire {
  onmessage?: Wire['onmessage'];
  awaited?: Wire['awaited'];
  relaysNotifications?: Wire['relaysNotifications'];
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  /** Lines on stdout that were not JSON-RPC. */
  noise = 0;
  readonly stderr: ByteRing;
  readonly #options: StdioTransportOptions;
  #child: ChildProcessWithoutNullStreams | undefined;
  #lines: LineReader | undefined;
  /** Noise of the chunk that is being read. */
  #unheard = '';
  /** What nobody waited for in it, and all of it. */
  #unasked = 0;
  #messages = 0;
  /** Bytes of empty lines in it. */
  #blank = 0;
  readonly #share = new LoopShare(UNASKED);
  readonly #requests = new LargeRequests((text, taken) => this.#child?.stdin.write(text, taken));
  /** Who called first, and whether others do, too. */
  #caller: string | undefined;
  #isShared = false;
  readonly #errors: ThinnedLines;
  readonly #errorShare = new LoopShare(UNASKED);
  /** Milliseconds spent on it and, while a line is not complete, on those before; and since when. */
  #spent = 0;
  #began = 0;
  #resume = () => {};
  /** Whether a large answer waits for its turn: short answers to others need not wait for it. */
  #isOvertaken = false;
  #closing: Promise<void> | undefined;
  #closed = false;
  /** Whether nothing can come from the child any more, although it may run on. */
  #isMute = false;
  #exit: { readonly code: number | null; readonly signal: NodeJS.Signals | null } | undefined;

  constructor(options: StdioTransportOptions) {
    this.#options = options;
    this.stderr = new ByteRing(options.stderrBytes);
    this.#errors = new ThinnedLines((chunk, isAfterGap) => options.onStderr?.(chunk, isAfterGap));
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
    const { command, args, env, cwd, maxMessageBytes, maxMessageValues } = this.#options;
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
        maxValues: maxMessageValues,
        onLine: (line, bytes) => this.#line(line, bytes),
        onBlank: (bytes) => {
          this.#blank += bytes;
        },
        isWanted: (head) => this.#isWanted(head, undefined),
        onBusy: () => this.#busy(),
        onLarge: (line) => this.#large(line),
        mayOvertake: (line) => this.#isOvertaken && this.#isAwaited(line.slice(0, HEAD_CHARS), line.slice(-TAIL_CHARS)),
        onUnread: (head, tail, why) => this.#unreadable(head, tail, why),
      });
      this.#lines = lines;
      child.once('spawn', resolve);
      child.once('error', (error) => {
        if (child.pid === undefined) reject(error);
        else this.onerror?.(error);
      });
      // Without file descriptors for pipes there is nothing but the error, which is on its way.
      const { stdout } = child;
      if (stdout === undefined) return;
      stdout.on('data', (chunk: Buffer) => {
        this.#began = performance.now();
        lines.push(chunk);
        const pause = lines.reading ? undefined : this.#charge();
        if (!pause && (!lines.reading || (this.#isOvertaken && !lines.isFull))) return;
        // What may not overtake a large message stays where it is.
        stdout.pause();
        const goOn = () => this.#goOn(stdout);
        void (lines.reading ?? pause)?.then(goOn);
      });
      const { stderr } = child;
      stderr.on('data', (chunk: Buffer) => {
        this.stderr.push(chunk);
        this.#errors.push(chunk);
        const pause = this.#errorShare.charge(CHUNK_MS);
        if (pause === 0 || this.#exit) return;
        stderr.pause();
        setTimeout(() => stderr.resume(), pause).unref();
      });
      stdout.on('error', (error) => this.onerror?.(error));
      const ended = () => {
        if (this.#closed) return;
        // What it said last is still being read.
        if (lines.reading) return void lines.reading.then(ended);
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
        this.#resume();
        this.#goOn(stdout);
        stderr.resume();
        // A grandchild may hold stdout open for ever; what the child itself wrote has arrived by then.
        setTimeout(ended, LAST_WORDS_MS).unref();
      });
      // Not `exit`: what the child wrote last is still to be read then.
      child.once('close', ended);
    });
  }

  send(message: JsonRpcMessage, _options?: SendOptions, caller?: string): void {
    const stdin = this.#child?.stdin;
    if (!stdin?.writable) throw new NotSentError('the server is not running');
    const { maxMessageBytes, maxUnreadBytes = maxMessageBytes } = this.#options;
    const unread = stdin.writableLength + this.#requests.chars;
    if (unread > maxUnreadBytes) throw new NotReadError(`it has not read the last ${unread} bytes it was sent`);
    const text = `${written(message)}\n`;
    if (caller !== undefined && caller !== this.#caller) {
      this.#isShared = this.#caller !== undefined;
      this.#caller ??= caller;
    }
    if (text.length > LARGE_CHARS && this.#isShared && caller !== undefined && message.id != null)
      this.#requests.send(caller, message.id, text);
    else if (!this.#requests.isBusy || !this.#isWithdrawn(message)) stdin.write(text);
  }

  /** Whether a message cancels a request that has not left. */
  #isWithdrawn({ method, params }: JsonRpcMessage): boolean {
    return method === 'notifications/cancelled' && this.#requests.withdraw(params?.requestId);
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
    this.#requests.close();
    child.stdin.end();
    if (!this.#exit && !(await exited(child, stageMs))) signalGroup(pid, 'SIGTERM');
    if (!this.#exit) await exited(child, stageMs);
    // The leader is gone or does not listen; what remains of the group gets one polite signal and then no choice.
    if (signalGroup(pid, 'SIGTERM') && !(await groupGone(pid, this.#exit ? stageMs / 4 : 0))) {
      signalGroup(pid, 'SIGKILL');
      await groupGone(pid, stageMs);
    }
    releaseGroup(pid);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  }

  #line(line: string, bytes: number): void {
    let message: unknown;
    this.#messages++;
    // What is no object needs no parser to be told from a message: an exception for each line of a flood takes all our time.
    if (line.length < SHORTEST_MESSAGE || !MAY_BE_MESSAGE.test(line)) return this.#noise(line);
    try {
      message = parseNested(line);
    } catch (error) {
      if (!(error instanceof NestingError)) return this.#noise(line);
      return this.#unreadable(line.slice(0, HEAD_CHARS), line.slice(-TAIL_CHARS), 'too-deep');
    }
    if (!isJsonRpcMessage(message)) return this.#noise(line);
    if (this.#requests.isBusy && message.method === undefined && message.id != null)
      this.#requests.answered(message.id);
    if (this.onmessage?.(message, { bytes }) !== true) this.#unasked++;
  }

  /** Reads a large message when it is its turn. */
  #large({ bytes, values }: LargeLine): Promise<void> | undefined {
    const head = bytes.toString('utf8', 0, HEAD_CHARS);
    const tail = bytes.toString('utf8', Math.max(0, bytes.length - TAIL_CHARS));
    if (!MAY_BE_MESSAGE.test(head)) return void this.#noise(head);
    if (!this.#isWanted(head, tail)) return void this.#unreadable(head, tail, 'unasked');
    const id = lostAnswer(head, tail);
    const method = typeof id === 'number' ? this.awaited?.(id) : undefined;
    const { maxMessageValues = MOST_VALUES } = this.#options;
    if (values > mostValues(maxMessageValues, method)) return void this.#unreadable(head, tail, 'too-many');
    // Nothing else is overtaken: a question belongs to the calls that are under way when it is read.
    this.#isOvertaken = method !== undefined;
    // The next large request brings the next large answer, which nothing would overtake before this one is read.
    if (typeof id === 'number') this.#requests.arriving(id);
    const turn = largeTurns.run(parseLarge(bytes, values), handlingMs(bytes.length, values)).finally(() => {
      this.#isOvertaken = false;
      if (typeof id === 'number') this.#requests.answered(id);
    });
    return turn.then(
      (message) => {
        this.#began = performance.now();
        if (isJsonRpcMessage(message)) this.onmessage?.(message, { bytes: bytes.length });
        else this.#noise(head);
      },
      () => this.#noise(head),
    );
  }

  /** Whether somebody may act upon a large message that begins like this: notifications and late answers are of no use. */
  #isWanted(head: string, tail: string | undefined): boolean {
    const id = lostAnswer(head, tail);
    if (typeof id === 'number') return !this.awaited || this.awaited(id) !== undefined;
    return id === 'unknown' || isRequest(head) || this.relaysNotifications?.() === true;
  }

  /** Whether this is the answer to a request of ours that waits for one. */
  #isAwaited(head: string, tail: string): boolean {
    const id = lostAnswer(head, tail);
    return typeof id === 'number' && this.awaited?.(id) !== undefined;
  }

  #unreadable(head: string, tail: string | undefined, why: LineFault): void {
    const lost = lostAnswer(head, tail);
    if (typeof lost === 'number') this.#requests.answered(lost);
    if (lost === 'none' || why === 'unasked') this.#noise(`(${why}) ${head}`);
    else this.#options.onUnreadable?.(lost === 'unknown' ? undefined : lost, why);
  }

  #noise(line: string): void {
    this.#unasked++;
    if (line.trim() === '') return;
    this.noise++;
    if (this.#unheard.length < this.#options.stderrBytes) this.#unheard += `[stdout] ${this.#shortened(line)}\n`;
  }

  /** Cut between words: the rest of this line goes through no redactor any more. */
  #shortened(line: string): string {
    const { redact = redactUnknown } = this.#options;
    return line.length <= NOISE_CHARS ? line : redact.cut(line, NOISE_CHARS).replace(/\S+$/, '…');
  }

  /** Keeps the noise so far. Who floods us is read more slowly, so that nobody else has to wait: settles when we may go on. */
  #charge(): Promise<void> | undefined {
    const now = performance.now();
    this.#spent += now - this.#began;
    this.#began = now;
    // Some servers write an empty line after each message. Many of them, or nothing else, are a flood like any other.
    if (this.#blank > FEW_BLANK || (this.#blank > 0 && this.#messages === 0 && this.#lines?.buffered === 0))
      this.#unasked++;
    this.#blank = 0;
    // The end of a long line tells whether anybody wanted it.
    if (this.#messages + this.#unasked === 0) return undefined;
    const ms = this.#unasked === 0 ? 0 : (this.#spent * this.#unasked) / Math.max(this.#messages, this.#unasked);
    this.#messages = 0;
    this.#unasked = 0;
    this.#spent = 0;
    if (this.#unheard !== '') {
      const noise = Buffer.from(this.#unheard);
      this.stderr.push(noise);
      this.#options.onStderr?.(noise);
      this.#unheard = '';
    }
    const pause = ms === 0 ? 0 : this.#share.charge(ms);
    // A process that has ended is read to its end.
    if (pause === 0 || this.#exit) return undefined;
    return new Promise((resolve) => {
      this.#resume = resolve;
      setTimeout(resolve, pause).unref();
    });
  }

  /** In the middle of a chunk with very many messages. */
  #busy(): Promise<void> {
    const pause = this.#charge() ?? new Promise<void>((resolve) => setImmediate(resolve));
    return pause.then(() => {
      this.#began = performance.now();
    });
  }

  /** Reads on, unless a large message is being read. */
  #goOn(stdout: Readable): void {
    if (this.#lines?.reading) void this.#lines.reading.then(() => this.#goOn(stdout));
    else stdout.resume();
  }
}

function handlingMs(bytes: number, values: number): number {
  return (Math.min(bytes, MOST_HANDED_ON) / 2 ** 20) * MEGABYTE_MS + values * VALUE_MS;
}

function written(message: JsonRpcMessage): string {
  try {
    return writeJson(message);
  } catch (error) {
    throw unsendable(error);
  }
}
