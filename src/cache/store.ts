/**
 * The port behind which cached bytes are kept: a key in, bytes out. A cache may always be thrown away.
 * @module
 */

/** Keeps bytes under names that may be any text. */
export interface Store {
  /** The bytes last written under the key, or undefined. What is there but damaged is set aside and counts as absent. */
  read(key: string): Promise<Uint8Array | undefined>;
  /** Replaces what is there, whole or not at all. Writes to one key happen in the order they were asked for. */
  write(key: string, bytes: Uint8Array): Promise<void>;
  /** Forgets one key; one that is not there is fine. */
  delete(key: string): Promise<void>;
  /** Forgets everything. */
  clear(): Promise<void>;
  /** All keys, sorted. */
  keys(): Promise<string[]>;
  /** Takes a value nobody can use out of the way, keeping the last few for a look at what went wrong. */
  setAside(key: string): Promise<void>;
}
