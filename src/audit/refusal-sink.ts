/**
 * Keeps refusals apart from calls: they go into the audit file while it is nearly empty, and into a separate file after
 * that. So refusals never make the audit file rotate.
 * @module
 */
import { stat } from 'node:fs/promises';
import type { AuditSink } from './audit-entry.ts';
import { JsonlSink, type JsonlSinkOptions } from './jsonl-sink.ts';

/** The part of an audit file that refusals may fill. */
const SHARE = 0.25;
/** How many rotated files of refusals are kept. */
const FILES = 1;

/** Returns the file for refusals that do not fit into the audit file: `audit.refused.jsonl` for `audit.jsonl`. */
export const refusalFile = (file: string): string => file.replace(/(\.[^./\\]*)?$/, '.refused$1');

export class RefusalSink implements AuditSink {
  readonly #file: string;
  readonly #room: number;
  readonly #shared: JsonlSink;
  readonly #own: JsonlSink;
  /** The sink of a text whose write failed; the text is offered again. */
  #pending: { readonly lines: string; readonly sink: JsonlSink } | undefined;

  constructor(options: JsonlSinkOptions & { readonly maxBytes: number }) {
    this.#file = options.file;
    this.#room = options.maxBytes * SHARE;
    this.#shared = new JsonlSink(options);
    this.#own = new JsonlSink({
      ...options,
      file: refusalFile(options.file),
      files: Math.min(FILES, options.files ?? FILES),
    });
  }

  async write(lines: string): Promise<void> {
    const sink = this.#pending?.lines === lines ? this.#pending.sink : await this.#choose(Buffer.byteLength(lines));
    this.#pending = { lines, sink };
    await sink.write(lines);
    this.#pending = undefined;
  }

  async close(): Promise<void> {
    await this.#shared.close();
    await this.#own.close();
  }

  async #choose(bytes: number): Promise<JsonlSink> {
    const found = await stat(this.#file).catch(() => undefined);
    const isShared = found === undefined || !found.isFile() || found.size + bytes <= this.#room;
    return isShared ? this.#shared : this.#own;
  }
}
