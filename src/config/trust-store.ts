/**
 * Stores in `<state folder>/trust.json` what the user has trusted: project configurations by path and hash, and folders
 * that the user's own servers may work in. Configurations that the user has declined are kept too, so that the user is
 * asked once. A file that cannot be parsed is an error and is never overwritten.
 * @module
 */
import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ConfigurationError } from '../core/errors.ts';
import { withLock } from '../disk/file-lock.ts';
import { writeAtomically } from '../disk/write-atomically.ts';
import { isObject } from '../json/plain-object.ts';
import { isInside } from './paths.ts';
import { readIfPresent } from './read-file.ts';
import { TextSyntaxError } from './text-syntax-error.ts';

/** What was trusted at a path. */
export interface TrustRecord {
  readonly hash: string;
  /** Absolute paths of the other files that the hash covers. */
  readonly files: readonly string[];
}

/** The content of trust.json. */
interface Trusted {
  readonly files: Map<string, TrustRecord>;
  /** Real paths. */
  readonly folders: Set<string>;
  /** Hashes by path. */
  readonly declined: Map<string, string>;
}

/** The store of trusted configurations and folders. Hashes come from `Snapshot.hashOf`. */
export class TrustStore {
  readonly file: string;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(folder: string) {
    this.file = join(folder, 'trust.json');
  }

  /** Tells whether exactly this content was trusted at this path. */
  async isTrusted(path: string, hash: string): Promise<boolean> {
    return (await this.record(path))?.hash === hash;
  }

  /** Returns what was trusted at a path: the hash and the files it covers. */
  async record(path: string): Promise<TrustRecord | undefined> {
    return (await this.#read()).files.get(path);
  }

  /** Returns every file that some hash covers. */
  async allFiles(): Promise<ReadonlySet<string>> {
    return new Set([...(await this.#read()).files].flatMap(([path, { files }]) => [path, ...files]));
  }

  /** Returns every trusted path with its hash. */
  async list(): Promise<ReadonlyMap<string, string>> {
    return new Map([...(await this.#read()).files].map(([path, { hash }]) => [path, hash]));
  }

  /**
   * Trusts a configuration in its current state; a later change ends the trust.
   * @param files every file the hash covers, as in `Fingerprint`
   */
  async trust(path: string, hash: string, files: readonly string[] = []): Promise<void> {
    const others = files.filter((file) => file !== path);
    await this.#change((trusted) => {
      trusted.files.set(path, { hash, files: others });
      trusted.declined.delete(path);
    });
  }

  /** Records that the user does not want to be asked about this content again. */
  async decline(path: string, hash: string): Promise<void> {
    await this.#change(({ declined }) => declined.set(path, hash));
  }

  /** Tells whether the user has declined exactly this content at this path. */
  async isDeclined(path: string, hash: string): Promise<boolean> {
    return (await this.#read()).declined.get(path) === hash;
  }

  /** Removes a configuration; returns false when it was not trusted. */
  async revoke(path: string): Promise<boolean> {
    let known = false;
    await this.#change(({ files }) => {
      known = files.delete(path);
    });
    return known;
  }

  /** Returns the real paths of all trusted folders. */
  async listFolders(): Promise<readonly string[]> {
    return [...(await this.#read()).folders];
  }

  /**
   * Trusts a folder and its subfolders as values of `${workspaceFolder}`. This does not trust configuration files in
   * the folder. A missing folder is an error.
   */
  async trustFolder(folder: string): Promise<void> {
    const real = await realpath(folder);
    await this.#change(({ folders }) => folders.add(real));
  }

  /**
   * Tells whether this folder or a parent is trusted. A separate repository inside a trusted folder is not trusted.
   * Links are followed first; a missing folder is not trusted.
   */
  async isTrustedFolder(folder: string): Promise<boolean> {
    const { folders } = await this.#read();
    if (folders.size === 0) return false;
    const real = await realpath(folder).catch(() => undefined);
    if (real === undefined) return false;
    for (let at = real; ; at = dirname(at)) {
      if (folders.has(at)) return true;
      if (at === dirname(at) || existsSync(join(at, '.git'))) return false;
    }
  }

  /** Removes a folder with every file and folder in it, existing or not. Returns what was removed. */
  async revokeInside(
    folder: string,
  ): Promise<{ readonly files: readonly string[]; readonly folders: readonly string[] }> {
    const places = [...new Set([resolve(folder), await realpath(folder).catch(() => resolve(folder))])];
    const isIn = (path: string) => places.some((place) => path === place || isInside(path, place));
    let gone = { files: [] as string[], folders: [] as string[] };
    await this.#change(({ files, folders }) => {
      gone = { files: [...files.keys()].filter(isIn), folders: [...folders].filter(isIn) };
      for (const path of gone.files) files.delete(path);
      for (const path of gone.folders) folders.delete(path);
    });
    return gone;
  }

  #change(edit: (trusted: Trusted) => void): Promise<void> {
    // Locked, because another process may write at the same time: its write must not restore trust that was revoked.
    const next = this.#turn.then(() =>
      withLock(this.file, async () => {
        const trusted = await this.#read();
        edit(trusted);
        const { files, folders, declined } = trusted;
        const document = {
          version: 1,
          trusted: Object.fromEntries([...files].map(([path, record]) => [path, written(record)])),
          ...(folders.size > 0 && { folders: [...folders] }),
          ...(declined.size > 0 && { declined: Object.fromEntries(declined) }),
        };
        await writeAtomically(this.file, `${JSON.stringify(document, null, 2)}\n`);
      }),
    );
    this.#turn = next.catch(() => undefined);
    return next;
  }

  async #read(): Promise<Trusted> {
    const text = await readIfPresent(this.file);
    if (text === undefined) return { files: new Map(), folders: new Set(), declined: new Map() };
    const document = await this.#parse(text);
    if (!isObject(document)) throw this.#corrupt('it is not in the format this version writes');
    const trusted = document.version === 1 ? document.trusted : undefined;
    if (!isObject(trusted)) throw this.#corrupt('it is not in the format this version writes');
    const entries = Object.entries(trusted).map(([path, value]) => {
      const record = toRecord(value);
      if (record === undefined) throw this.#corrupt('an entry has no hash');
      return [path, record] as const;
    });
    // Older versions wrote no folders.
    const folders = document.folders ?? [];
    if (!Array.isArray(folders) || !folders.every((folder): folder is string => typeof folder === 'string')) {
      throw this.#corrupt('`folders` is not a list of paths');
    }
    const declined = Object.entries(isObject(document.declined) ? document.declined : {});
    return { files: new Map(entries), folders: new Set(folders), declined: new Map(declined as [string, string][]) };
  }

  async #parse(text: string): Promise<unknown> {
    const { parseJsonc } = await import('./parse-jsonc.ts');
    try {
      return parseJsonc(text);
    } catch (error) {
      if (!(error instanceof TextSyntaxError)) throw error;
      throw this.#corrupt(`line ${error.line}, column ${error.column}: ${error.message}`);
    }
  }

  #corrupt(why: string): ConfigurationError {
    return new ConfigurationError(
      `${this.file} cannot be read: ${why}. Repair it, or move it away and trust your projects again with \`anygpt mcp trust\`.`,
    );
  }
}

/** A record without further files is stored as its hash alone. */
const written = ({ hash, files }: TrustRecord): unknown => (files.length === 0 ? hash : { hash, files });

function toRecord(value: unknown): TrustRecord | undefined {
  if (typeof value === 'string') return { hash: value, files: [] };
  if (!isObject(value) || typeof value.hash !== 'string') return undefined;
  const files: unknown = value.files ?? [];
  if (!Array.isArray(files) || !files.every((file): file is string => typeof file === 'string')) return undefined;
  return { hash: value.hash, files };
}
