/**
 * Keeps static bearer tokens: only their hashes, in a file that its owner alone can read. The file is looked at for
 * every request, so tokens work at once in running gateways and end at once when they are revoked.
 * @module
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { wallNow } from '../async/clock.ts';
import { ConfigurationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { withLock } from '../disk/file-lock.ts';
import { makeFolder } from '../disk/make-folder.ts';
import { writeAtomically } from '../disk/write-atomically.ts';
import { isObject } from '../json/plain-object.ts';
import { type AuthRefusal, type Identity, type TokenChecker, unauthorized } from './identity.ts';

/** A static token as it is kept: everything but the token. */
export interface StaticToken {
  /** Names the token in lists, and its user in the audit log. */
  readonly id: string;
  readonly name?: string | undefined;
  readonly profile?: string | undefined;
  /** In milliseconds since 1970. */
  readonly createdAt: number;
  readonly expiresAt: number;
}

interface Kept extends StaticToken {
  readonly sha256: string;
}

const TOKEN = /^anygpt_([0-9a-f]{8})_[\w-]{43}$/;
const ID_BYTES = 4;
const SECRET_BYTES = 32;

/** Where the tokens of a state folder are kept. */
const fileIn = (home: string): string => join(home, 'tokens.json');

export class StaticTokens implements TokenChecker {
  readonly #file: string;
  readonly #now: () => number;
  #stamp: string | undefined;
  #tokens: ReadonlyMap<string, Kept> = new Map();
  #isDamaged = false;

  constructor(home: string, now: () => number = wallNow) {
    this.#file = fileIn(home);
    this.#now = now;
  }

  /** Tells whether a token was ever created here. Revoking the last one leaves this true. */
  get exist(): boolean {
    this.#refresh();
    return this.#stamp !== undefined;
  }

  list(): readonly StaticToken[] {
    return [...this.#readable().values()].map(({ sha256: _, ...token }) => token);
  }

  /** Creates a token. Its text is returned once and kept nowhere. */
  async create(
    wish: Pick<StaticToken, 'name' | 'profile' | 'expiresAt'>,
  ): Promise<{ readonly text: string; readonly token: StaticToken }> {
    const id = randomBytes(ID_BYTES).toString('hex');
    const text = `anygpt_${id}_${randomBytes(SECRET_BYTES).toString('base64url')}`;
    const token: StaticToken = { id, ...wish, createdAt: this.#now() };
    await this.#change((tokens) => {
      if (tokens.length >= LIMITS.auth.tokens)
        throw new ConfigurationError(
          `There are already ${tokens.length} tokens. Revoke some with: anygpt mcp token revoke`,
        );
      return [...tokens, { ...token, sha256: hashOf(text).toString('hex') }];
    });
    return { text, token };
  }

  /** Revokes the token with an id, or all tokens with a name. Returns what was revoked. */
  async revoke(idOrName: string): Promise<readonly StaticToken[]> {
    let revoked: readonly StaticToken[] = [];
    await this.#change((tokens) => {
      const byId = tokens.filter(({ id }) => id === idOrName);
      const found = byId.length > 0 ? byId : tokens.filter(({ name }) => name === idOrName);
      revoked = found.map(({ sha256: _, ...token }) => token);
      return found.length === 0 ? undefined : tokens.filter((token) => !found.includes(token));
    });
    return revoked;
  }

  /** Tells whether a text has the form of a static token. */
  owns(token: string): boolean {
    return TOKEN.test(token);
  }

  async check(text: string): Promise<Identity | AuthRefusal> {
    this.#refresh();
    const id = TOKEN.exec(text)?.[1] ?? '';
    const kept = this.#tokens.get(id);
    // An unknown id takes as long as a wrong secret.
    const isRight = timingSafeEqual(hashOf(text), Buffer.from(kept?.sha256 ?? NO_HASH, 'hex'));
    if (!kept || !isRight) return unauthorized('The token is not known, or was revoked');
    if (kept.expiresAt <= this.#now()) return unauthorized('The token has expired');
    const { profile, expiresAt } = kept;
    return { principal: id, profile, choosesProfile: profile === undefined, scopes: [], expiresAt };
  }

  /** Tells whether the token with this principal still exists. */
  has(principal: string): boolean {
    this.#refresh();
    return this.#tokens.has(principal);
  }

  async #change(edit: (tokens: readonly Kept[]) => readonly Kept[] | undefined): Promise<void> {
    await makeFolder(dirname(this.#file));
    await withLock(this.#file, async () => {
      const tokens = edit([...this.#readable().values()]);
      if (tokens) await writeAtomically(this.#file, `${JSON.stringify({ version: 1, tokens }, null, 2)}\n`);
    });
  }

  #readable(): ReadonlyMap<string, Kept> {
    this.#refresh();
    if (this.#isDamaged)
      throw new ConfigurationError(`${this.#file} cannot be read. Repair or delete it, and create the tokens again.`);
    return this.#tokens;
  }

  /** Reads the file again if it has changed. With a file that cannot be read, every token is refused. */
  #refresh(): void {
    const stamp = stampOf(this.#file);
    if (stamp === this.#stamp) return;
    const tokens = stamp === undefined ? [] : tokensIn(this.#file);
    this.#isDamaged = tokens === undefined;
    // A file that could not be read, because too many were open for example, is tried again with the next request.
    this.#stamp = tokens === undefined ? UNREADABLE : stamp;
    this.#tokens = new Map((tokens ?? []).map((token) => [token.id, token]));
  }
}

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();
const NO_HASH = '0'.repeat(64);

/** Changes whenever the file is replaced; undefined if there is none. */
function stampOf(file: string): string | undefined {
  try {
    const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
    return stat && `${stat.ino} ${stat.size} ${stat.mtimeNs}`;
  } catch {
    return UNREADABLE;
  }
}
const UNREADABLE = 'unreadable';

/** The tokens of a file; undefined if it cannot be read or holds something else. */
function tokensIn(file: string): readonly Kept[] | undefined {
  try {
    const { tokens } = JSON.parse(readFileSync(file, 'utf8')) as { tokens?: unknown };
    return Array.isArray(tokens) && tokens.every(isKept) ? tokens : undefined;
  } catch {
    return undefined;
  }
}

const isKept = (value: unknown): value is Kept =>
  isObject(value) &&
  typeof value.id === 'string' &&
  typeof value.sha256 === 'string' &&
  /^[0-9a-f]{64}$/.test(value.sha256) &&
  typeof value.createdAt === 'number' &&
  typeof value.expiresAt === 'number' &&
  ['string', 'undefined'].includes(typeof value.name) &&
  ['string', 'undefined'].includes(typeof value.profile);
