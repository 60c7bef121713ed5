/**
 * Keeps the end of what a child process writes to stderr, with the noise of its stdout between whole lines. Noise inside
 * an unfinished line could split a secret, which no redactor would find.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { type Redact, redactUnknown } from '../../secrets/redactor.ts';
import type { StderrListener } from '../open-options.ts';
import { ByteRing } from './byte-ring.ts';
import { ThinnedLines } from './thinned-lines.ts';

const NEWLINE = 0x0a;

export interface ChildLogOptions {
  /** How much of stderr is kept, in bytes. */
  readonly stderrBytes: number;
  /** Receives stderr as it arrives. */
  readonly onStderr?: StderrListener | undefined;
  /** Removes known secrets from lines that are cut. */
  readonly redact?: Redact | undefined;
}

export class ChildLog {
  readonly #options: ChildLogOptions;
  readonly #kept: ByteRing;
  readonly #lines: ThinnedLines;
  /** Noise that is not kept yet. */
  #noise = '';
  /** Whether the last line of stderr is unfinished. */
  #isMidLine = false;

  constructor(options: ChildLogOptions) {
    this.#options = options;
    this.#kept = new ByteRing(options.stderrBytes);
    this.#lines = new ThinnedLines((chunk, isAfterGap) => options.onStderr?.(chunk, isAfterGap));
  }

  read(redact: Redact): string {
    const text = this.#kept.read(redact);
    return this.#noise === '' ? text : `${text}${this.#isMidLine ? '\n' : ''}${redact(this.#noise)}`;
  }

  /** Takes the next chunk of stderr. */
  push(chunk: Buffer): void {
    const end = this.#noise === '' ? 0 : chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) this.#push(chunk.subarray(0, end));
    if (end < chunk.length) this.#push(chunk.subarray(end));
  }

  #push(chunk: Buffer): void {
    this.#kept.push(chunk);
    this.#lines.push(chunk);
    this.#isMidLine = chunk.at(-1) !== NEWLINE;
    this.keepNoise();
  }

  /** Takes a line of stdout that is not a message. */
  noise(line: string): void {
    const { stderrBytes, redact = redactUnknown } = this.#options;
    if (this.#noise.length >= stderrBytes) return;
    // Cut between words: the rest of this line passes no redactor.
    const cut = line.length <= LIMITS.text.long ? line : redact.cut(line, LIMITS.text.long).replace(/\S+$/, '…');
    this.#noise += `[stdout] ${cut}\n`;
  }

  /** Keeps the noise so far once no line of stderr is unfinished, or at the end. */
  keepNoise(atEnd = false): void {
    if (this.#noise === '' || (this.#isMidLine && !atEnd)) return;
    const noise = Buffer.from(this.#isMidLine ? `\n${this.#noise}` : this.#noise);
    this.#kept.push(noise);
    this.#options.onStderr?.(noise);
    this.#noise = '';
    this.#isMidLine = false;
  }
}
