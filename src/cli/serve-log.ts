/**
 * Writes the log of a running gateway. Early messages wait for the configuration, which sets the level and the file.
 * @module
 */

import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { wallNow } from '../async/clock.ts';
import { createJsonLogger, createLogger, type LogFormat, type LogLevel } from '../core/log.ts';
import type { Logger } from '../core/types.ts';

interface LogSettings {
  readonly level: LogLevel;
  readonly format: LogFormat;
  readonly file?: string | undefined;
}

export class ServeLog {
  readonly logger: Logger;
  /** The ids of the trace that a message belongs to, for JSON. */
  ids: () => object | undefined = () => undefined;
  readonly #stderr: Writable;
  readonly #flag: LogLevel | undefined;
  #level: LogLevel;
  #format: LogFormat = 'text';
  #waiting: (() => void)[] | undefined = [];
  #file: { readonly path: string; readonly stream: Writable } | undefined;

  /** A level from the command line overrides the configuration's. */
  constructor(stderr: Writable, flag: LogLevel | undefined) {
    this.#stderr = stderr;
    this.#flag = flag;
    this.#level = flag ?? 'warn';
    const level = () => this.#level;
    const now = () => new Date(wallNow()).toISOString();
    const loggers = {
      text: createLogger((line) => this.#write(this.#file ? `${now()} ${line}` : `anygpt: ${line}`), level),
      json: createJsonLogger(
        (line) => this.#write(line),
        level,
        () => ({ time: now(), ...this.ids() }),
      ),
    };
    const later = (name: keyof Logger) => (fields: object, message?: string) => {
      const write = () => loggers[this.#format][name](fields, message);
      if (this.#waiting) this.#waiting.push(write);
      else write();
    };
    this.logger = { debug: later('debug'), info: later('info'), warn: later('warn'), error: later('error') };
  }

  /** Applies the settings of a configuration and writes the waiting messages. */
  configure({ level, format, file }: LogSettings): void {
    this.#level = this.#flag ?? level;
    this.#format = format;
    if (file !== this.#file?.path) this.#open(file);
    this.#release();
  }

  /** Writes the waiting messages and closes the file; later messages go to stderr. */
  close(): void {
    this.#release();
    this.#open(undefined);
  }

  #release(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const write of waiting) write();
  }

  #open(file: string | undefined): void {
    this.#file?.stream.end();
    this.#file = undefined;
    if (file === undefined) return;
    const stream = createWriteStream(file, { flags: 'a', mode: 0o600 });
    stream.on('error', (error) => {
      if (this.#file?.stream === stream) this.#file = undefined;
      this.#stderr.write(`anygpt: warn the log file cannot be written, messages go to stderr: ${error.message}\n`);
    });
    this.#file = { path: file, stream };
  }

  #write(line: string): void {
    (this.#file?.stream ?? this.#stderr).write(`${line}\n`);
  }
}
