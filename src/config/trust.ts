/**
 * Which project configurations a person has trusted: path and hash in, yes or no out, remembered in
 * `<state folder>/trust.json`. A file that cannot be understood is an error and is never overwritten.
 * @module
 */
import { join } from 'node:path';
import { ConfigurationError } from '../errors.ts';
import { withLock } from '../file-lock.ts';
import { isObject } from '../plain-object.ts';
import { parseJsonc, TextSyntaxError } from './parse-jsonc.ts';
import { readIfPresent } from './read-file.ts';
import { writeAtomically } from './write-atomically.ts';

/** The memory of trusted configurations. Hashes come from `fingerprintOf`. */
export class TrustStore {
  readonly file: string;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(folder: string) {
    this.file = join(folder, 'trust.json');
  }

  /** Whether exactly this content was trusted at this path. */
  async isTrusted(path: string, hash: string): Promise<boolean> {
    return (await this.#read()).get(path) === hash;
  }

  /** Every trusted path with the hash it was trusted at. */
  async list(): Promise<ReadonlyMap<string, string>> {
    return this.#read();
  }

  /** Remembers a configuration as it is now; a later change ends the trust. */
  async trust(path: string, hash: string): Promise<void> {
    await this.#change((entries) => entries.set(path, hash));
  }

  /** Forgets a configuration; false when it was not trusted. */
  async revoke(path: string): Promise<boolean> {
    let known = false;
    await this.#change((entries) => {
      known = entries.delete(path);
    });
    return known;
  }

  #change(edit: (entries: Map<string, string>) => void): Promise<void> {
    // Another process may be at it, too: a trust that is taken back must not return with what it writes.
    const next = this.#turn.then(() =>
      withLock(this.file, async () => {
        const entries = await this.#read();
        edit(entries);
        await writeAtomically(
          this.file,
          `${JSON.stringify({ version: 1, trusted: Object.fromEntries(entries) }, null, 2)}\n`,
        );
      }),
    );
    this.#turn = next.catch(() => undefined);
    return next;
  }

  async #read(): Promise<Map<string, string>> {
    const text = await readIfPresent(this.file);
    if (text === undefined) return new Map();
    const document = this.#parse(text);
    const trusted = isObject(document) && document.version === 1 ? document.trusted : undefined;
    if (!isObject(trusted)) throw this.#corrupt('it is not in the format this version writes');
    const entries = Object.entries(trusted);
    if (!entries.every((entry): entry is [string, string] => typeof entry[1] === 'string')) {
      throw this.#corrupt('an entry has no hash');
    }
    return new Map(entries);
  }

  #parse(text: string): unknown {
    try {
      return parseJsonc(text);
    } catch (error) {
      if (!(error instanceof TextSyntaxError)) throw error;
      throw this.#corrupt(`line ${error.line}, column ${error.column}: ${error.message}`);
    }
  }

  #corrupt(why: string): ConfigurationError {
    return new ConfigurationError(
      `${this.file} cannot be understood: ${why}. Repair it, or move it away and trust your projects again with \`anygpt mcp trust\`.`,
    );
  }
}
