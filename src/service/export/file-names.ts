/**
 * Makes file names of untrusted names. A file name is plain ASCII, stays in its folder, and differs from all others in
 * the folder on every disk, also where capital letters do not count.
 * @module
 */
import { createHash } from 'node:crypto';
import { LIMITS } from '../../core/limits.ts';

/**
 * Returns a file name, without extension, for each name. It depends on the set of names, not on their order. A name that
 * cannot be kept as it is gets eight hex digits of its hash.
 */
export function fileNames(names: Iterable<string>): ReadonlyMap<string, string> {
  const all = [...new Set(names)];
  const wanted = new Map<string, number>();
  for (const name of all) {
    const key = safeName(name).toLowerCase();
    wanted.set(key, (wanted.get(key) ?? 0) + 1);
  }
  return new Map(
    all.map((name) => {
      const safe = safeName(name);
      const isOwn = safe === name && wanted.get(safe.toLowerCase()) === 1;
      return [name, isOwn ? safe : `${safe}-${hashOf(name)}`];
    }),
  );
}

function safeName(name: string): string {
  const plain = name
    .slice(0, LIMITS.names.file)
    .replace(/[^A-Za-z0-9._-]/g, '_')
    .replace(/^[.-]+/, '_')
    .replace(/\.+$/, '_');
  // Windows opens devices under these names, whatever the extension.
  return plain === '' || /^(?:con|prn|aux|nul|com\d|lpt\d|conin|conout|clock)(?:\.|$)/i.test(plain)
    ? `_${plain}`
    : plain;
}

const hashOf = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 8);
