/**
 * Messages to a client on stdio, a line each. A client that asks and does not read gets no further questions in.
 * @module
 */

import type { Readable, Writable } from 'node:stream';
import { INTERNAL_ERROR, type JsonRpcMessage } from '../connections/json-rpc.ts';
import { largeTurns } from '../connections/large-turns.ts';
import { LIMITS } from '../core/limits.ts';
import { writeJson } from '../json/exact-json.ts';

export class MessageWriter {
  readonly #input: Readable;
  readonly #output: Writable;
  #closed = false;
  /** Waits for the client to read. */
  #clogged = false;
  #unclog = () => {};

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
  }

  /** Nothing is written from now on, and nothing read. */
  close(): void {
    this.#closed = true;
    this.#unclog();
    // A client may keep its end open after it has told us to go; reading on would keep this process alive.
    this.#input.pause();
  }

  write(message: JsonRpcMessage): void {
    if (this.#closed) return;
    const [input, output] = [this.#input, this.#output];
    if (output.write(`${lineOf(message)}\n`) || output.writableLength < LIMITS.wire.unread || this.#clogged) return;
    this.#clogged = true;
    input.pause();
    // Results of calls under way stay with their servers.
    largeTurns.hold(
      new Promise<void>((resolve) => {
        this.#unclog = resolve;
      }),
    );
    output.once('drain', () => {
      this.#clogged = false;
      this.#unclog();
      this.readOn();
    });
  }

  /** Reads on, if nothing forbids it. */
  readOn(): void {
    if (!this.#closed && !this.#clogged) this.#input.resume();
  }
}

function lineOf(message: JsonRpcMessage): string {
  try {
    return writeJson(message);
  } catch {
    // Only nesting that no JSON writer can follow ends here.
    return JSON.stringify({
      jsonrpc: '2.0',
      id: message.id ?? null,
      error: { code: INTERNAL_ERROR, message: 'the result is nested too deeply to be sent' },
    });
  }
}
