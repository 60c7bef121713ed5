/**
 * Defines the port for cached bytes, by key. A cache may be deleted at any time.
 * @module
 */

/** Stores bytes by key; a key may be any text. */
export interface Store {
  /** Returns the bytes last written for the key, or undefined. A damaged value is set aside and counts as absent. */
  read(key: string): Promise<Uint8Array | undefined>;
  /** Replaces the value atomically. Writes to one key happen in order. */
  write(key: string, bytes: Uint8Array): Promise<void>;
  /** Deletes one key; a missing key is fine. */
  delete(key: string): Promise<void>;
  /** Deletes everything. */
  clear(): Promise<void>;
  /** Returns all keys, sorted. */
  keys(): Promise<string[]>;
  /** Moves an unusable value aside, keeping the last few for diagnosis. */
  setAside(key: string): Promise<void>;
}
