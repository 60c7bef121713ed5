/**
 * Messages to a client on stdio, a line each. A client that asks and does not read gets no further questions in.
 * @module
 */
import type { Readable, Writable } from 'node:stream';
import { INTERNAL_ERROR, type JsonRpcMessage } from '../connections/json-rpc.ts';
import { writeAtOnce } from '../connections/quick-pipe.ts';
import { writeJson } from '../exact-json.ts';

/** Bytes of answers that may wait for the client before we stop reading its requests. */
const MOST_UNREAD = 4 * 1024 * 1024;

export class MessageWriter {
  readonly #input: Readable;
  readonly #output: Writable;
  #closed = false;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
  }

  /** Nothing is written from now on, and nothing read. */
  close(): void {
    this.#closed = true;
    // A client may keep its end open after it has told us to go; reading on would keep this process alive.
    this.#input.pause();
  }

  write(message: JsonRpcMessage): void {
    if (this.#closed) return;
    const [input, output] = [this.#input, this.#output];
    if (writeAtOnce(output, `${lineOf(message)}\n`) || output.writableLength < MOST_UNREAD || input.isPaused()) return;
    input.pause();
    output.once('drain', () => !this.#closed && input.resume());
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
