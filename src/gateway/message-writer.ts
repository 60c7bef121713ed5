/**
 * Writes messages to a client on stdio, one per line. Stops reading from a client that does not read its answers.
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
  /** True while waiting for the client to read. */
  #clogged = false;
  #unclog = () => {};

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
  }

  /** Stops writing and reading. */
  close(): void {
    this.#closed = true;
    this.#unclog();
    // A client may keep its end open after the close. Reading on would keep this process alive.
    this.#input.pause();
  }

  write(message: JsonRpcMessage): void {
    if (this.#closed) return;
    const [input, output] = [this.#input, this.#output];
    if (output.write(`${lineOf(message)}\n`) || output.writableLength < LIMITS.wire.unread || this.#clogged) return;
    this.#clogged = true;
    input.pause();
    // Meanwhile, large results of running calls are not read from their servers.
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

  /** Reads on, unless closed or waiting for the client. */
  readOn(): void {
    if (!this.#closed && !this.#clogged) this.#input.resume();
  }
}

function lineOf(message: JsonRpcMessage): string {
  try {
    return writeJson(message);
  } catch {
    // Reached only by nesting too deep for any JSON writer.
    return JSON.stringify({
      jsonrpc: '2.0',
      id: message.id ?? null,
      error: { code: INTERNAL_ERROR, message: 'the result is nested too deeply to be sent' },
    });
  }
}
