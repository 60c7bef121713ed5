/**
 * Parses one vector of a service: an array, or base64 of little-endian 32-bit floats. An unreadable vector becomes
 * empty, which no check accepts.
 * @module
 */

import { LIMITS } from '../core/limits.ts';

const NOTHING = new Float32Array(0);

/** Returns the numbers of a vector; anything that is not a number becomes NaN. */
export function readVector(sent: unknown): Float32Array {
  if (typeof sent === 'string') return fromBase64(sent);
  if (!Array.isArray(sent) || sent.length > LIMITS.embeddings.dimensions) return NOTHING;
  return Float32Array.from(sent, (value: unknown) => (typeof value === 'number' ? value : Number.NaN));
}

function fromBase64(text: string): Float32Array {
  if (text.length > LIMITS.embeddings.dimensions * 6) return NOTHING;
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length % 4 !== 0) return NOTHING;
  return Float32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));
}
