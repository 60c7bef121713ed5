/**
 * Seals what replicas say to each other and keep in Redis: encrypted and authenticated, together with the place it is
 * meant for. Several keys can be valid at once, so that a key can be replaced without stopping all replicas.
 * @module
 */
import { createHash, hkdfSync } from 'node:crypto';
import { ConfigurationError } from '../core/errors.ts';
import { seal, unseal } from '../disk/sealed-bytes.ts';

const KEY_BYTES = 32;
/** The first byte of what is sealed, so that a later version can seal in another way beside this one. */
const VERSION = 1;

export class KeyRing {
  readonly #keys: readonly Buffer[];

  /** Takes secrets separated by commas. The first one seals; all of them open. */
  constructor(secrets: string) {
    const given = secrets.split(',').map((one) => one.trim());
    if (given.some((one) => Buffer.byteLength(one) < KEY_BYTES))
      throw new ConfigurationError(
        'The key of the cluster is missing or too short. Set ANYGPT_CLUSTER_KEY to the same secret on all replicas, for example the output of "openssl rand -base64 32".',
      );
    this.#keys = given.map((one) => Buffer.from(hkdfSync('sha256', one, 'anygpt cluster', '', KEY_BYTES)));
  }

  /** Seals bytes for one place: a channel, or a key of Redis. Nothing opens them elsewhere. */
  seal(bytes: Uint8Array, place: string): Buffer {
    const [key = Buffer.alloc(0)] = this.#keys;
    return Buffer.concat([Buffer.of(VERSION), seal(bytes, key, placed(place))]);
  }

  /** Undefined for what none of the keys sealed for this place. */
  open(sealed: Uint8Array, place: string): Buffer | undefined {
    if (sealed[0] !== VERSION) return undefined;
    for (const key of this.#keys) {
      const bytes = unseal(sealed.subarray(1), key, placed(place));
      if (bytes) return bytes;
    }
    return undefined;
  }
}

const placed = (place: string): string => `${VERSION}\n${place}`;

/** A name as it appears in keys of Redis: it may hold addresses and names of users. */
export const hashOf = (name: string): string => createHash('sha256').update(name).digest('base64url');
