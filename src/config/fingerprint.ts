/**
 * Says by what a configuration that came with a project is recognised: one hash of it and of all files it was trusted with.
 * @module
 */
import { Snapshot } from './snapshot.ts';

/** What identifies a configuration as a person saw it. */
export interface Fingerprint {
  readonly hash: string;
  /** Absolute paths of every file the hash covers, the configuration first. */
  readonly files: readonly string[];
}

/** The fingerprint of a text that names no other file. */
export async function fingerprintOf(path: string, text: string): Promise<Fingerprint> {
  const files = new Snapshot();
  files.remember(path, text);
  return { hash: files.hashOf(path, []) ?? '', files: [path] };
}
