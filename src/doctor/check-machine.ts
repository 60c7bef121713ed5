/**
 * Checks the machine: the version of Node.js, the state folder and the cache.
 * @module
 */

import { randomBytes } from 'node:crypto';
import { access, constants, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { counted } from '../text/counted.ts';
import type { Check } from './check.ts';

const NEEDED_NODE = 20;
const ABOUT = { kind: 'machine' } as const;

export function checkNode(version: string): Check {
  const about = { ...ABOUT, subject: 'Node', check: 'node' } as const;
  if (Number.parseInt(version, 10) >= NEEDED_NODE) return { ...about, status: 'ok', detail: `Node ${version}` };
  const detail = `Node ${version} is too old; ${NEEDED_NODE} or newer is needed`;
  return { ...about, status: 'fail', detail, fix: 'Install a current Node.js: https://nodejs.org' };
}

/** Checks whether the state folder is writable by writing to it. A missing folder is not created. */
export async function checkStateFolder(folder: string, platform: NodeJS.Platform): Promise<Check> {
  const about = { ...ABOUT, subject: folder, check: 'state' } as const;
  const fix = `Make ${folder} writable, or point ANYGPT_HOME to a folder that is`;
  try {
    const { mode } = await stat(folder);
    await tryWriting(folder);
    if (platform !== 'win32' && (mode & 0o022) !== 0) {
      const detail = 'other users can write to it and could change what is trusted';
      return { ...about, status: 'warn', detail, fix: `chmod go-w ${folder}` };
    }
    return { ...about, status: 'ok', detail: 'state folder is writable' };
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'ENOENT') return { ...about, status: 'fail', detail: `not writable (${code})`, fix };
  }
  const above = await nearestFolder(dirname(folder));
  try {
    await access(above, constants.W_OK);
    return { ...about, status: 'ok', detail: 'state folder will be created when needed' };
  } catch (error) {
    return { ...about, status: 'fail', detail: `cannot be created in ${above} (${codeOf(error)})`, fix };
  }
}

/** Checks the cache of tool lists: its size, and damaged files. */
export async function checkCache({
  enabled,
  dir,
}: {
  readonly enabled: boolean;
  readonly dir: string;
}): Promise<Check> {
  const about = { ...ABOUT, subject: dir, check: 'cache' } as const;
  if (!enabled) return { ...about, status: 'ok', detail: 'cache is disabled: tool lists are read every time' };
  let names: string[];
  try {
    names = await readdir(dir);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return { ...about, status: 'ok', detail: 'cache is empty' };
    const fix = `Make ${dir} a folder you can read, or set cache.dir`;
    return { ...about, status: 'fail', detail: `cannot be read (${code})`, fix };
  }
  const entries = names.filter((name) => name.endsWith('.entry'));
  const damaged = names.filter((name) => name.includes('.entry.corrupt-'));
  const size = sizeText(await bytesOf(dir, entries));
  const detail = entries.length === 0 ? 'cache is empty' : `cache has ${counted(entries.length, 'file')}, ${size}`;
  if (damaged.length === 0) return { ...about, status: 'ok', detail };
  return {
    ...about,
    status: 'warn',
    detail: `${detail}; ${damaged.length} damaged files were set aside`,
    fix: `Check the disk, then delete ${join(dir, '*.corrupt-*')}`,
  };
}

async function tryWriting(folder: string): Promise<void> {
  const file = join(folder, `.doctor-${process.pid}-${randomBytes(4).toString('hex')}.tmp`);
  try {
    await (await open(file, 'wx', 0o600)).close();
  } finally {
    await rm(file, { force: true });
  }
}

async function nearestFolder(folder: string): Promise<string> {
  try {
    await stat(folder);
    return folder;
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || dirname(folder) === folder) return folder;
    return nearestFolder(dirname(folder));
  }
}

async function bytesOf(folder: string, names: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const name of names) {
    // Another process may remove a file meanwhile.
    bytes += (await stat(join(folder, name)).catch(() => undefined))?.size ?? 0;
  }
  return bytes;
}

const sizeText = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);
