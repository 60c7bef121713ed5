/**
 * Runs a server as a child process: newline-delimited JSON on its stdin and stdout, the end of stderr kept.
 *
 * It differs from the SDK's transport where a gateway has to: the child leads a process group that is ended as a whole,
 * noise on stdout is counted and kept, an over-long message fails one call and not the server, and messages are parsed
 * only as JSON.
 * @module
 */
import type { ChildProcessWithoutNullStreams, SpawnOptions } from 'node:child_process';
import type { Readable } from 'node:stream';
import spawn from 'cross-spawn';
import { DEFAULTS, LIMITS } from '../../core/limits.ts';
import { writeJson } from '../../json/exact-json.ts';
import { NestingError, parseNested } from '../../json/json-nesting.ts';
import { mostValues } from '../../json/json-survey.ts';
import type { Redact } from '../../secrets/redactor.ts';
import { answerRoom } from '../answer-room.ts';
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
import { isAwaited, isWanted, lostAnswer } from '../lost-answer.ts';
import { ChildLog, type ChildLogOptions } from './child-log.ts';
import { LargeRequests } from './large-requests.ts';
import { exited, groupGone, releaseGroup, signalGroup, spawnGuarded } from './process-reaper.ts';

export interface StdioTransportOptions extends ChildLogOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
  /** Longest message in bytes. */
  readonly maxMessageBytes: number;
  /** Most values in one large message. */
  readonly maxMessageValues?: number | undefined;
  /** How long each stage of ending may take: end of stdin, SIGTERM, SIGKILL. */
  readonly stageMs?: number;
  /** How many bytes may wait for the child to read them. Default: as many as one message. */
  readonly maxUnreadBytes?: number;
  /** Called when an answer could not be read; with the id of its request, if known. */
  readonly onUnreadable?: (id: number | undefined, why: Unreadable) => void;
}

const SHORTEST_MESSAGE = '{"jsonrpc":"2.0","method":""}'.length;
const MAY_BE_MESSAGE = /^\ufeff?\s*\{/;
/** Bytes of empty lines between messages that are not charged. */
const FEW_BLANK = 256;
/** The cost of reading one chunk of stderr. It allows 320 chunks a second, or 20 MB. */
const CHUNK_MS = 0.25;
/** The cost of passing a large result on to the client, per megabyte and per value. */
const MEGABYTE_MS = 6;
const VALUE_MS = 0.0005;

export class StdioTransport implements Wire {
  onmessage?: Wire['onmessage'];
  awaited?: Wire['awaited'];
  relaysNotifications?: Wire['relaysNotifications'];
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  /** Lines on stdout that were not JSON-RPC. */
  noise = 0;
  readonly #options: StdioTransportOptions;
  #child: ChildProcessWithoutNullStreams | undefined;
  #lines: LineReader | undefined;
  readonly #log: ChildLog;
  /** Messages in it that no caller waited for, and all messages. */
  #unasked = 0;
  #messages = 0;
  /** Bytes of empty lines in it. */
  #blank = 0;
  readonly #share = new LoopShare(UNASKED);
  readonly #requests = new LargeRequests((text, taken) => this.#child?.stdin.write(text, taken));
  /** The first caller, and whether there are others. */
  #caller: string | undefined;
  #isShared = false;
  readonly #errorShare = new LoopShare(UNASKED);
  /** Milliseconds spent on the current chunk and on earlier chunks of an incomplete line; and since when. */
  #spent = 0;
  #began = 0;
  #resume = () => {};
  /** Whether a large answer waits for its turn: short answers to others need not wait for it. */
  #isOvertaken = false;
  #closing: Promise<void> | undefined;
  #closed = false;
  /** Whether nothing more can come from the child, although it may still run. */
  #isMute = false;
  #exit: { readonly code: number | null; readonly signal: NodeJS.Signals | null } | undefined;

  constructor(options: StdioTransportOptions) {
    this.#options = options;
    this.#log = new ChildLog(options);
  }

  /** The end of stderr, with the noise of stdout. */
  log(redact: Redact): string {
    return this.#log.read(redact);
  }

  /** The child's process id while it runs. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** How the child ended, once it has. */
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
      // On Windows, `npx` and the like are scripts, which Node's own `spawn` does not start.
      const child = spawnGuarded(() => spawn(command, [...args], options)) as ChildProcessWithoutNullStreams;
      this.#child = child;
      const lines = new LineReader({
        maxBytes: maxMessageBytes,
        maxValues: maxMessageValues,
        room: answerRoom,
        onLine: (line, bytes) => this.#line(line, bytes),
        onBlank: (bytes) => {
          this.#blank += bytes;
        },
        isWanted: (head) => isWanted(this, head, undefined),
        onBusy: () => this.#busy(),
        onLarge: (line) => this.#large(line),
        mayOvertake: (line) =>
          this.#isOvertaken && isAwaited(this, line.slice(0, LIMITS.wire.head), line.slice(-LIMITS.wire.tail)),
        onUnread: (head, tail, why) => this.#unreadable(head, tail, why),
      });
      this.#lines = lines;
      child.once('spawn', resolve);
      child.once('error', (error) => {
        if (child.pid === undefined) reject(error);
        else this.onerror?.(error);
      });
      // Without file descriptors for pipes, only the error event follows.
      const { stdout } = child;
      if (stdout === undefined) return;
      stdout.on('data', (chunk: Buffer) => {
        this.#began = performance.now();
        lines.push(chunk);
        const pause = lines.reading ? undefined : this.#charge();
        if (!pause && (!lines.reading || (this.#isOvertaken && !lines.isFull))) return;
        // Lines that may not overtake a large message stay in the pipe.
        stdout.pause();
        const goOn = () => this.#goOn(stdout);
        void (lines.reading ?? pause)?.then(goOn);
      });
      const { stderr } = child;
      stderr.on('data', (chunk: Buffer) => {
        this.#log.push(chunk);
        const pause = this.#errorShare.charge(CHUNK_MS);
        if (pause === 0 || this.#exit) return;
        stderr.pause();
        setTimeout(() => stderr.resume(), pause).unref();
      });
      // The last message of a server that exits may lack its newline.
      stdout.once('end', () => lines.push(Buffer.from('\n')));
      stdout.on('error', (error) => this.onerror?.(error));
      const ended = () => {
        if (this.#closed) return;
        // Its last output is still being read.
        if (lines.reading) return void lines.reading.then(ended);
        this.#closed = true;
        this.#log.keepNoise(true);
        this.onclose?.();
        void this.close();
      };
      stdout.once('close', () => {
        this.#isMute = true;
        lines.close();
        // Usually the child is about to exit, and the exit tells more.
        setTimeout(ended, LIMITS.time.lastWords).unref();
      });
      child.stdin.on('error', (error) => {
        this.onerror?.(error);
        // A server that reads nothing answers nothing. Usually it is about to exit, and the exit tells more.
        setTimeout(ended, LIMITS.time.lastWords).unref();
      });
      child.once('exit', (code, signal) => {
        this.#exit = { code, signal };
        // Its last output must be read completely before it is given up.
        this.#resume();
        this.#goOn(stdout);
        stderr.resume();
        // A grandchild may hold stdout open for ever; the output of the child itself has arrived by then.
        setTimeout(ended, LIMITS.time.lastWords).unref();
      });
      // Not `exit`: the last output of the child is still unread then.
      child.once('close', ended);
    });
  }

  send(message: JsonRpcMessage, _options?: SendOptions, caller?: string): void {
    const stdin = this.#child?.stdin;
    if (!stdin?.writable) throw new NotSentError('the server is not running');
    const isCancellation = message.method === 'notifications/cancelled';
    if (isCancellation && this.#requests.isBusy && this.#requests.withdraw(message.params?.requestId)) return;
    const text = `${written(message)}\n`;
    if (caller !== undefined && caller !== this.#caller) {
      this.#isShared = this.#caller !== undefined;
      this.#caller ??= caller;
    }
    const isLarge =
      text.length > LIMITS.wire.largeRequest && this.#isShared && caller !== undefined && message.id != null;
    const { maxMessageBytes, maxUnreadBytes = maxMessageBytes } = this.#options;
    // Requests that wait here for their turn hold up other large ones only. A cancellation is short and frees memory.
    const unread = stdin.writableLength + (isLarge ? this.#requests.chars : 0);
    if (unread > maxUnreadBytes && !isCancellation)
      throw new NotReadError(`it has not read the last ${unread} bytes it was sent`);
    if (isLarge) this.#requests.send(caller, message.id, text);
    else stdin.write(text);
  }

  /**
   * Ends the child: end of stdin, then SIGTERM, then SIGKILL, each to the whole group. Resolves when the group is gone.
   */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return;
    const { stageMs = LIMITS.time.stage } = this.#options;
    const { pid } = child;
    this.#requests.close();
    child.stdin.end();
    if (!this.#exit && !(await exited(child, stageMs))) signalGroup(pid, 'SIGTERM');
    if (!this.#exit) await exited(child, stageMs);
    // The leader has exited or ignores us; the rest of the group gets SIGTERM once, then SIGKILL.
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
    // A line that is no object needs no parser: in a flood, an exception per line would take all our time.
    if (line.length < SHORTEST_MESSAGE || !MAY_BE_MESSAGE.test(line)) return this.#noise(line);
    try {
      message = parseNested(line);
    } catch (error) {
      if (!(error instanceof NestingError)) return this.#noise(line);
      return this.#unreadable(line.slice(0, LIMITS.wire.head), line.slice(-LIMITS.wire.tail), 'too-deep');
    }
    if (!isJsonRpcMessage(message)) return this.#noise(line);
    if (this.#requests.isBusy && message.method === undefined && message.id != null)
      this.#requests.answered(message.id);
    if (this.onmessage?.(message, { bytes }) !== true) this.#unasked++;
  }

  /** Reads a large message when it is its turn. */
  #large({ bytes, values }: LargeLine): Promise<void> | undefined {
    const head = bytes.toString('utf8', 0, LIMITS.wire.head);
    const tail = bytes.toString('utf8', Math.max(0, bytes.length - LIMITS.wire.tail));
    if (!MAY_BE_MESSAGE.test(head)) return void this.#noise(head);
    if (!isWanted(this, head, tail)) return void this.#unreadable(head, tail, 'unasked');
    const id = lostAnswer(head, tail);
    const method = typeof id === 'number' ? this.awaited?.(id) : undefined;
    const { maxMessageValues = DEFAULTS.limits.messageValues } = this.#options;
    if (values > mostValues(maxMessageValues, method)) return void this.#unreadable(head, tail, 'too-many');
    // Only answers may overtake: a question belongs to the calls in flight when it is read.
    this.#isOvertaken = method !== undefined;
    // The next large request brings the next large answer, which could not be overtaken before this one is read.
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
    this.#log.noise(line);
  }

  /**
   * Keeps the noise so far. A child that floods us is read more slowly, so that others need not wait: settles when
   * reading may go on.
   */
  #charge(): Promise<void> | undefined {
    const now = performance.now();
    this.#spent += now - this.#began;
    this.#began = now;
    // Some servers write an empty line after each message. Many empty lines, or nothing else, count as a flood.
    if (this.#blank > FEW_BLANK || (this.#blank > 0 && this.#messages === 0 && this.#lines?.buffered === 0))
      this.#unasked++;
    this.#blank = 0;
    // Only the end of a long line tells whether it was needed.
    if (this.#messages + this.#unasked === 0) return undefined;
    const ms = this.#unasked === 0 ? 0 : (this.#spent * this.#unasked) / Math.max(this.#messages, this.#unasked);
    this.#messages = 0;
    this.#unasked = 0;
    this.#spent = 0;
    this.#log.keepNoise();
    const pause = ms === 0 ? 0 : this.#share.charge(ms);
    // A process that has ended is read to its end.
    if (pause === 0 || this.#exit) return undefined;
    return new Promise((resolve) => {
      this.#resume = resolve;
      setTimeout(resolve, pause).unref();
    });
  }

  /** Called in the middle of a chunk with very many messages. */
  #busy(): Promise<void> {
    const pause = this.#charge() ?? new Promise<void>((resolve) => setImmediate(resolve));
    return pause.then(() => {
      this.#began = performance.now();
    });
  }

  /** Resumes reading, unless a large message is being read. */
  #goOn(stdout: Readable): void {
    if (this.#lines?.reading) void this.#lines.reading.then(() => this.#goOn(stdout));
    else stdout.resume();
  }
}

function handlingMs(bytes: number, values: number): number {
  return (Math.min(bytes, DEFAULTS.limits.result) / 2 ** 20) * MEGABYTE_MS + values * VALUE_MS;
}

function written(message: JsonRpcMessage): string {
  try {
    return writeJson(message);
  } catch (error) {
    throw unsendable(error);
  }
}
