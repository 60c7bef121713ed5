/**
 * Finds the command that starts this program from a client: the full paths of Node.js and of our file. The folder that a
 * client works in cannot redirect these. `npx` would look into that folder first: its `node_modules/.bin`, its `.npmrc`,
 * and a `node` in its `.bin` even with a prefix of our own.
 * @module
 */
import { existsSync, realpathSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { VERSION } from '../core/version.ts';

// The bundle lies beside this file, or in `dist/bin` when this runs from compiled files or from source.
const PLACES = ['./discovery.js', '../bin/discovery.js', '../../dist/bin/discovery.js'];
/** Temporary folders that `npx`, `pnpm dlx`, `yarn dlx` and `bunx` run packages from. */
const PASSING = /^(?:_npx|dlx|dlx-.*|bunx-.*)$/;

/** A program in a permanent place. */
interface LocalProgram {
  /** Node.js and our file. */
  readonly command: readonly [string, string];
  /** Copies the program there, unless it is there already. */
  prepare(): Promise<void>;
}

/** Our own program; undefined without a build. */
export function localProgram(state: string): LocalProgram | undefined {
  const file = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url))).find((path) => existsSync(path));
  return file === undefined ? undefined : stayingProgram(realpathSync(file), state);
}

/** The program itself, or a copy in our state folder if it lies in a temporary folder. */
export function stayingProgram(file: string, state: string): LocalProgram {
  const folders = passingFolders(file);
  if (folders === undefined) return { command: [process.execPath, file], prepare: async () => undefined };
  const { modules } = folders;
  const home = join(state, 'program', VERSION);
  const copy = join(home, 'node_modules', relative(modules, file));
  return { command: [process.execPath, copy], prepare: () => copyOnce(modules, home, copy) };
}

/** The outermost `node_modules` below a temporary folder. */
function passingFolders(file: string): { readonly modules: string } | undefined {
  const names = dirname(file).split(sep);
  const passing = names.findLastIndex((name) => PASSING.test(name));
  const modules = passing === -1 ? -1 : names.indexOf('node_modules', passing);
  return modules === -1 ? undefined : { modules: names.slice(0, modules + 1).join(sep) };
}

/** Copies to a temporary name and renames it, so that the copy is complete or absent. */
async function copyOnce(modules: string, home: string, copy: string): Promise<void> {
  if (existsSync(copy)) return;
  await mkdir(dirname(home), { recursive: true, mode: 0o700 });
  const half = await mkdtemp(join(dirname(home), `.${basename(home)}-`));
  try {
    await cp(modules, join(half, 'node_modules'), { recursive: true, verbatimSymlinks: true });
    await rm(home, { recursive: true, force: true });
    await rename(half, home);
  } catch (error) {
    await rm(half, { recursive: true, force: true });
    // Another process may have been faster.
    if (!existsSync(copy)) throw error;
  }
}
