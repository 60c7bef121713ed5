/**
 * Checks an embedder's answer and returns vectors of unit length. Services have returned NULL, NaN, zeros, too few
 * vectors, and another model's length; all of these are rejected.
 * @module
 */
import { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';

/** Vectors of one length; undefined for a vector that could not be used. */
interface CheckedVectors {
  readonly dimensions: number;
  readonly vectors: readonly (Float32Array | undefined)[];
}

/** Checks an answer. A few bad vectors are left out; a mostly bad answer is refused with the reason. */
export function checkVectors(answer: unknown, count: number, dimensions?: number): CheckedVectors {
  if (!Array.isArray(answer)) throw bad('no list of vectors');
  if (answer.length !== count) throw bad(`${answer.length} vectors for ${count} texts`);
  const vectors = answer.map(toUnit);
  const good = vectors.filter((vector) => typeof vector !== 'string');
  const [reason = ''] = vectors.filter((vector) => typeof vector === 'string');
  if (good.length * 2 <= count) throw bad(count === 1 ? reason : `${count - good.length} of ${count} bad: ${reason}`);
  const length = good[0]?.length ?? 0;
  if (good.some((vector) => vector.length !== length)) throw bad('vectors of different lengths');
  if (dimensions !== undefined && length !== dimensions)
    throw bad(`vectors of ${length} numbers, but search.embedder.dimensions is ${dimensions}`);
  return { dimensions: length, vectors: vectors.map((vector) => (typeof vector === 'string' ? undefined : vector)) };
}

const bad = (what: string): DiscoveryError =>
  new DiscoveryError('SERVER_CONNECTION_ERROR', `The embedder returned ${what}.`);

/** Returns the vector at unit length, or what is wrong with it. */
function toUnit(vector: unknown): Float32Array | string {
  if (!(vector instanceof Float32Array) || vector.length === 0) return 'something that is not a vector';
  if (vector.length > LIMITS.embeddings.dimensions) return 'a vector that is too long';
  let sum = 0;
  for (const value of vector) sum += value * value;
  if (!Number.isFinite(sum)) return 'a vector with NaN or infinity in it';
  // Smaller values are noise around zero, and their direction is meaningless.
  if (sum < 1e-20) return 'a vector of zeros';
  const factor = 1 / Math.sqrt(sum);
  return vector.map((value) => value * factor);
}
