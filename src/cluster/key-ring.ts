/**
 * Seals what replicas say to each other and keep in Redis: encrypted and authenticated, together with the place it is
 * meant for. Several keys can be valid at once, so that a key can be replaced without stopping all replicas.
 * @module
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { ConfigurationError } from '../core/errors.ts';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
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
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(aadOf(place));
    const sealed = cipher.update(bytes);
    return Buffer.concat([Buffer.of(VERSION), iv, sealed, cipher.final(), cipher.getAuthTag()]);
  }

  /** Undefined for what none of the keys sealed for this place. */
  open(sealed: Uint8Array, place: string): Buffer | undefined {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
    if (bytes[0] !== VERSION || bytes.length < 1 + IV_BYTES + TAG_BYTES) return undefined;
    const iv = bytes.subarray(1, 1 + IV_BYTES);
    const tag = bytes.subarray(-TAG_BYTES);
    for (const key of this.#keys) {
      try {
        const decipher = createDecipheriv(ALGORITHM, key, iv).setAAD(aadOf(place)).setAuthTag(tag);
        return Buffer.concat([decipher.update(bytes.subarray(1 + IV_BYTES, -TAG_BYTES)), decipher.final()]);
      } catch {
        // Sealed with another key, or forged.
      }
    }
    return undefined;
  }
}

const aadOf = (place: string): Buffer => Buffer.from(`${VERSION}\n${place}`);
