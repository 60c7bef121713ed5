/**
 * Hashes the content of a file.
 * @module
 */
import { createHash } from 'node:crypto';

/** Hashes a file's content without a byte order mark. */
export const digest = (bytes: Buffer): string => createHash('sha256').update(withoutMark(bytes)).digest('hex');

const withoutMark = (bytes: Buffer): Buffer =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
