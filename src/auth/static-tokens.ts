/**
 * Keeps static bearer tokens: only their hashes, in a file that its owner alone can read. The file is looked at for
 * every request, so tokens work at once in running gateways and end at once when they are revoked. Two records can be
 * merged in any order, as often as wanted: what one of them has revoked stays revoked.
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

/** A token that was revoked. It is remembered until it would have expired, so that no copy brings it back. */
interface Revoked {
  readonly id: string;
  readonly until: number;
}

/** Everything that a state folder knows of its tokens. */
export interface TokenRecord {
  readonly tokens: readonly Kept[];
  readonly revoked: readonly Revoked[];
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
  #revoked: readonly Revoked[] = [];
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
    return this.#readable().tokens.map(({ sha256: _, ...token }) => token);
  }

  /** Creates a token. Its text is returned once and kept nowhere. */
  async create(
    wish: Pick<StaticToken, 'name' | 'profile' | 'expiresAt'>,
  ): Promise<{ readonly text: string; readonly token: StaticToken }> {
    const id = randomBytes(ID_BYTES).toString('hex');
    const text = `anygpt_${id}_${randomBytes(SECRET_BYTES).toString('base64url')}`;
    const token: StaticToken = { id, ...wish, createdAt: this.#now() };
    await this.#change(({ tokens, revoked }) => {
      if (tokens.length >= LIMITS.auth.tokens)
        throw new ConfigurationError(
          `There are already ${tokens.length} tokens. Revoke some with: anygpt mcp token revoke`,
        );
      return { tokens: [...tokens, { ...token, sha256: hashOf(text).toString('hex') }], revoked };
    });
    return { text, token };
  }

  /** Revokes the token with an id, or all tokens with a name. Returns what was revoked. */
  async revoke(idOrName: string): Promise<readonly StaticToken[]> {
    let revoked: readonly StaticToken[] = [];
    await this.#change(({ tokens, revoked: before }) => {
      const byId = tokens.filter(({ id }) => id === idOrName);
      const found = byId.length > 0 ? byId : tokens.filter(({ name }) => name === idOrName);
      revoked = found.map(({ sha256: _, ...token }) => token);
      if (found.length === 0) return undefined;
      const now = found.map(({ id, expiresAt }) => ({ id, until: expiresAt }));
      return {
        tokens: tokens.filter((token) => !found.includes(token)),
        revoked: [...unexpired(before, this.#now()), ...now],
      };
    });
    return revoked;
  }

  /** Takes over what another record has: its tokens, and what was revoked there. Returns what both know together. */
  async merge(theirs: TokenRecord): Promise<TokenRecord> {
    const ours = this.#readable();
    if (isWithin(theirs, ours, this.#now())) return ours;
    let merged = ours;
    await this.#change((now) => {
      merged = together(now, theirs, this.#now());
      return merged;
    });
    return merged;
  }

  /** Whether this folder knows something that another record lacks. */
  knowsMoreThan(theirs: TokenRecord): boolean {
    return !isWithin(this.#readable(), theirs, this.#now());
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

  async #change(edit: (record: TokenRecord) => TokenRecord | undefined): Promise<void> {
    await makeFolder(dirname(this.#file));
    await withLock(this.#file, async () => {
      const record = edit(this.#readable());
      if (record) await writeAtomically(this.#file, `${recordText(record)}\n`);
    });
  }

  #readable(): TokenRecord {
    this.#refresh();
    if (this.#isDamaged)
      throw new ConfigurationError(`${this.#file} cannot be read. Repair or delete it, and create the tokens again.`);
    return { tokens: [...this.#tokens.values()], revoked: this.#revoked };
  }

  /** Reads the file again if it has changed. With a file that cannot be read, every token is refused. */
  #refresh(): void {
    const stamp = stampOf(this.#file);
    if (stamp === this.#stamp) return;
    const record = stamp === undefined ? NOTHING : recordIn(this.#file);
    this.#isDamaged = record === undefined;
    // A file that could not be read, because too many were open for example, is tried again with the next request.
    this.#stamp = record === undefined ? UNREADABLE : stamp;
    this.#tokens = new Map(record?.tokens.map((token) => [token.id, token]));
    this.#revoked = record?.revoked ?? [];
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

/** The record of a file; undefined if it cannot be read or holds something else. */
function recordIn(file: string): TokenRecord | undefined {
  try {
    return toRecord(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

const NOTHING: TokenRecord = { tokens: [], revoked: [] };

export const recordText = ({ tokens, revoked }: TokenRecord): string =>
  JSON.stringify({ version: 1, tokens, ...(revoked.length > 0 && { revoked }) }, null, 2);

/** Reads a record; undefined if the text is something else. */
export function toRecord(text: string | undefined): TokenRecord | undefined {
  if (text === undefined) return NOTHING;
  const { tokens, revoked = [] } = JSON.parse(text) as { tokens?: unknown; revoked?: unknown };
  if (!Array.isArray(tokens) || !tokens.every(isKept)) return undefined;
  return Array.isArray(revoked) && revoked.every(isRevoked) ? { tokens, revoked } : undefined;
}

/** Two records as one: every token of either that neither knows to be revoked. */
function together(ours: TokenRecord, theirs: TokenRecord, now: number): TokenRecord {
  const revoked = new Map([...theirs.revoked, ...ours.revoked].map((one) => [one.id, one]));
  const tokens = new Map([...theirs.tokens, ...ours.tokens].map((one) => [one.id, one]));
  return {
    tokens: [...tokens.values()].filter(({ id }) => !revoked.has(id)),
    revoked: unexpired([...revoked.values()], now),
  };
}

const unexpired = (revoked: readonly Revoked[], now: number): readonly Revoked[] =>
  revoked.filter(({ until }) => until > now);

/** Whether one record has nothing that counts and that another lacks. */
function isWithin(one: TokenRecord, other: TokenRecord, now: number): boolean {
  const revoked = new Set(other.revoked.map(({ id }) => id));
  const known = new Set(other.tokens.map(({ id }) => id));
  return (
    one.tokens.every(({ id }) => known.has(id) || revoked.has(id)) &&
    one.revoked.every(({ id, until }) => revoked.has(id) || (until <= now && !known.has(id)))
  );
}

const isRevoked = (value: unknown): value is Revoked =>
  isObject(value) && typeof value.id === 'string' && typeof value.until === 'number';

const isKept = (value: unknown): value is Kept =>
  isObject(value) &&
  typeof value.id === 'string' &&
  typeof value.sha256 === 'string' &&
  /^[0-9a-f]{64}$/.test(value.sha256) &&
  typeof value.createdAt === 'number' &&
  typeof value.expiresAt === 'number' &&
  ['string', 'undefined'].includes(typeof value.name) &&
  ['string', 'undefined'].includes(typeof value.profile);
