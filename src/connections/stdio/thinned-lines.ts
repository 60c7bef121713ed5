/**
 * Passes a stream on, and leaves parts out when it comes faster than it can be processed.
 *
 * A process whose stderr is not read blocks, so more of a flood is read than is passed on. After a gap, the text
 * resumes at a new line only: anywhere else it could begin with half of a secret, which no redactor recognises.
 * @module
 */
import { LoopShare, UNASKED } from '../loop-share.ts';
import type { StderrListener } from '../open-options.ts';

const NEWLINE = 0x0a;

export class ThinnedLines {
  readonly #handOn: StderrListener;
  readonly #share = new LoopShare(UNASKED);
  #resumesAt = 0;
  #leftOut = 0;

  constructor(handOn: StderrListener) {
    this.#handOn = handOn;
  }

  push(chunk: Buffer): void {
    const now = performance.now();
    const begin = chunk.indexOf(NEWLINE) + 1;
    if (now >= this.#resumesAt && this.#leftOut === 0) this.#pass(chunk, false, now);
    else if (now < this.#resumesAt || begin === 0) this.#leftOut += chunk.length;
    else {
      const note = Buffer.from(`(${this.#leftOut + begin} bytes were written too fast and left out)\n`);
      this.#leftOut = 0;
      this.#pass(Buffer.concat([note, chunk.subarray(begin)]), true, now);
    }
  }

  #pass(chunk: Buffer, isAfterGap: boolean, began: number): void {
    this.#handOn(chunk, isAfterGap);
    const ended = performance.now();
    this.#resumesAt = ended + this.#share.charge(ended - began);
  }
}
