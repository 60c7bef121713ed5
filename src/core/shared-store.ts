/**
 * Defines the port for what the replicas of a gateway keep together. Without a cluster there is none.
 * @module
 */

/** Keeps bytes by name for all replicas. Every method rejects when the store does not answer. */
export interface SharedStore {
  /** Undefined for what is not there, has expired or was written in another format. */
  read(name: string): Promise<Uint8Array | undefined>;
  /** Replaces a value. It expires after `ttlMs`; without, it stays. */
  write(name: string, bytes: Uint8Array, ttlMs?: number): Promise<void>;
  delete(name: string): Promise<void>;
}
