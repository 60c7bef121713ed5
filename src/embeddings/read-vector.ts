/**
 * Parses one vector of a service: an array, or base64 of little-endian 32-bit floats. An unreadable vector becomes
 * empty, which no check accepts.
 * @module
 */

/** More than any model has. */
export const MAX_DIMENSIONS = 65_536;
const NOTHING = new Float32Array(0);

/** Returns the numbers of a vector; anything that is not a number becomes NaN. */
export function readVector(sent: unknown): Float32Array {
  if (typeof sent === 'string') return fromBase64(sent);
  if (!Array.isArray(sent) || sent.length > MAX_DIMENSIONS) return NOTHING;
  return Float32Array.from(sent, (value: unknown) => (typeof value === 'number' ? value : Number.NaN));
}

function fromBase64(text: string): Float32Array {
  if (text.length > MAX_DIMENSIONS * 6) return NOTHING;
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length % 4 !== 0) return NOTHING;
  return Float32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));
}
