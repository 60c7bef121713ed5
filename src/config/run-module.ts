/**
 * Runs a configuration written as code and returns its default export. TypeScript needs no build step, and
 * `@anygpt/discovery/config` can be imported without installing it. Every file is loaded from a snapshot, so a
 * project's code consists only of trusted files.
 * @module
 */

import { rmSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { types } from 'node:util';
import { runInThisContext } from 'node:vm';
import type { Jiti } from 'jiti';
import { limitTime } from '../async/time-limit.ts';
import { ConfigurationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';
import { compiledCopy } from './compiled-copies.ts';
import * as defineConfig from './define-config.ts';
import { isFilePath, pathsOf } from './module-paths.ts';
import { NotTrusted, type Snapshot } from './project-snapshot.ts';

interface RunOptions {
  /** The source of its files. Packages are loaded only from an open snapshot. */
  readonly files: Snapshot;
  /** The folder for compiled copies; undefined: none are kept. It must belong to the user: its content is executed. */
  readonly cacheFolder: string | undefined;
  /** Timeout for top-level `await`. */
  readonly timeout?: number | undefined;
}

/** Runs a configuration file and returns its default export. */
export async function runModule(path: string, options: RunOptions): Promise<unknown> {
  const loader = await ModuleLoader.create(options);
  const exported = await within(options.timeout ?? LIMITS.time.configuration, path, () => loader.import(path, []));
  const value = isObject(exported) && 'default' in exported ? exported.default : exported;
  if (typeof value === 'function') {
    throw new ConfigurationError(
      `${path} exports a function. Export the configuration object itself: export default { … }.`,
    );
  }
  if (isObject(value) && typeof value.then === 'function') {
    throw new ConfigurationError(`${path} exports a promise. Await it first: export default await …`);
  }
  if (value === undefined || (value === exported && isObject(value) && Object.keys(value).length === 0)) {
    throw new ConfigurationError(`${path} exports nothing. Write: export default { discovery: { … } }.`);
  }
  return value;
}

/** Compiled code as a function, in the compiler's format. */
type Body = (
  exports: unknown,
  require: (name: string) => unknown,
  module: Module,
  filename: string,
  dirname: string,
  jitiImport: (name: string) => Promise<unknown>,
  jitiESMResolve: (name: string) => string,
) => unknown;

interface Module {
  exports: unknown;
  /** Resolves when the module has run. */
  loaded?: Promise<unknown> | undefined;
}

/** Built-in modules that can load unhashed code. */
const LOADERS: ReadonlySet<string> = new Set(['module', 'vm', 'repl', 'test']);

class ModuleLoader {
  readonly #options: RunOptions;
  readonly #compiler: Jiti;
  /** Creates a loader of packages for a file. */
  readonly #createJiti: (id: string) => Jiti;
  readonly #modules = new Map<string, Module>();

  private constructor(options: RunOptions, compiler: Jiti, createJiti: (id: string) => Jiti) {
    this.#options = options;
    this.#createJiti = createJiti;
    this.#compiler = compiler;
  }

  static async create(options: RunOptions): Promise<ModuleLoader> {
    const { createJiti } = await import('jiti');
    const { cacheFolder } = options;
    if (cacheFolder !== undefined) forgetPlainCopies(join(cacheFolder, 'jiti'));
    const settings = { fsCache: false, moduleCache: false };
    return new ModuleLoader(options, createJiti(cacheFolder ?? import.meta.url, settings), (id) =>
      createJiti(id, { ...settings, interopDefault: false }),
    );
  }

  /** Loads a file. In an import cycle, the importer gets what the module has exported so far. */
  async import(path: string, waiting: readonly string[]): Promise<unknown> {
    const known = this.#modules.get(path);
    if (known !== undefined) {
      if (!waiting.includes(path)) await known.loaded;
      return known.exports;
    }
    const module: Module = { exports: {} };
    this.#modules.set(path, module);
    module.loaded = this.#run(module, path, waiting, true) as Promise<unknown>;
    await module.loaded;
    return module.exports;
  }

  #require(path: string, waiting: readonly string[]): unknown {
    const known = this.#modules.get(path);
    if (known !== undefined) return known.exports;
    const module: Module = { exports: {} };
    this.#modules.set(path, module);
    this.#run(module, path, waiting, false);
    return module.exports;
  }

  /** Runs a module's code. With `async` the code may await; the promise settles when it ends. */
  #run(module: Module, path: string, waiting: readonly string[], async: boolean): unknown {
    const text = this.#textOf(path);
    if (extname(path) === '.json') {
      module.exports = JSON.parse(text);
      return Promise.resolve();
    }
    const chain = [...waiting, path];
    const body = runInThisContext(this.#compiled(path, text, async), { filename: path, displayErrors: false }) as Body;
    const require = (name: string) => this.#requireNamed(name, path, chain);
    const ended = body(
      module.exports,
      Object.assign(require, { resolve: (name: string) => this.#pathOf(name, path) }),
      module,
      path,
      dirname(path),
      async (name) => this.#importNamed(name, path, chain),
      (name) => this.#pathOf(name, path),
    );
    if (async) return Promise.resolve(ended).then(() => refuseMistakes(module, path));
    refuseMistakes(module, path);
    return undefined;
  }

  #compiled(path: string, source: string, async: boolean): string {
    const ts = /\.[cm]?ts$/.test(path);
    const all = JSON.stringify([path, async, source]);
    const { cacheFolder } = this.#options;
    const folder = cacheFolder && join(cacheFolder, 'compiled');
    const code = compiledCopy(folder, all, () => this.#compiler.transform({ source, filename: path, ts, async }));
    const shown = code.startsWith('#!') ? `// ${code}` : code;
    const given = 'exports, require, module, __filename, __dirname, jitiImport, jitiESMResolve';
    return `(${async ? 'async ' : ''}function (${given}) { ${shown}\n});`;
  }

  async #importNamed(name: string, from: string, chain: readonly string[]): Promise<unknown> {
    if (isFilePath(name)) return this.import(this.#pathOf(name, from), chain);
    if (name === '@anygpt/discovery/config') return defineConfig;
    this.#refuseForeign(name, from);
    return isBuiltin(name) ? builtin(name) : asModule(await this.#createJiti(from).import(name));
  }

  #requireNamed(name: string, from: string, chain: readonly string[]): unknown {
    if (isFilePath(name)) return this.#require(this.#pathOf(name, from), chain);
    if (name === '@anygpt/discovery/config') return defineConfig;
    this.#refuseForeign(name, from);
    return isBuiltin(name) ? builtin(name) : this.#createJiti(from)(name);
  }

  /** Refuses packages: one that lies beside a project's file belongs to the project and is not hashed. */
  #refuseForeign(name: string, from: string): void {
    if (this.#options.files.isOpen) return;
    const bare = name.replace(/^node:/, '').replace(/\/.*$/s, '');
    if (isBuiltin(name) && !LOADERS.has(bare)) return;
    throw new NotTrusted(
      `${from} imports ${JSON.stringify(name.slice(0, 200))}, which is not one of the trusted files. A project’s configuration may import Node’s built-in modules, and project files by a literal path.`,
    );
  }

  /** Returns the first existing file that an import may mean. */
  #pathOf(name: string, from: string): string {
    let refused: ConfigurationError | undefined;
    for (const path of pathsOf(name, from)) {
      try {
        if (this.#options.files.text(path) !== undefined) return path;
      } catch (error) {
        // A folder may contain an index, and a later candidate may be trusted.
        if (!(error instanceof ConfigurationError)) throw error;
        refused ??= error;
      }
    }
    if (refused instanceof NotTrusted) {
      throw new NotTrusted(
        `${from} imports ${JSON.stringify(name.slice(0, 200))}, which is not one of the trusted files. Import it by a literal path, then run \`anygpt mcp trust\` again.`,
      );
    }
    throw refused ?? new Error(`Cannot find module '${name}' imported from '${from}'`);
  }

  #textOf(path: string): string {
    const text = this.#options.files.text(path);
    if (text === undefined) throw new ConfigurationError(`${path} was not found.`);
    return text;
  }
}

/** Node's built-in modules, as `require` returns them: compiled code can take a default from them. */
const builtin: (name: string) => unknown = createRequire(import.meta.url);

/**
 * Converts a module of Node's own loader into the form that compiled code expects. The names of a CommonJS module's
 * exports are included.
 */
function asModule(loaded: unknown): unknown {
  if (!types.isModuleNamespaceObject(loaded)) return loaded;
  const { default: main } = loaded as { readonly default?: unknown };
  return Object.defineProperty({ ...(isObject(main) && main), ...(loaded as object) }, '__esModule', { value: true });
}

/** Removes the unencrypted copies of older versions, which held the secrets of their source. */
function forgetPlainCopies(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // An inaccessible folder is not in use either.
  }
}

/** The compiler reports a syntax error as an export of the module. */
function refuseMistakes({ exports }: Module, path: string): void {
  const mistake = isObject(exports) ? exports.__JITI_ERROR__ : undefined;
  if (!isObject(mistake)) return;
  throw new Error(`${mistake.code}: ${mistake.message} ${path}:${mistake.line}:${mistake.column}`);
}

async function within(milliseconds: number, path: string, run: () => Promise<unknown>): Promise<unknown> {
  const late = `${path} did not finish loading within ${milliseconds} ms. Look for an await that never ends.`;
  try {
    return await limitTime({ ms: milliseconds, overdue: () => new ConfigurationError(late) }, run);
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new ConfigurationError(`${path} could not be run: ${toOneLine(message)}${importHint(message)}`, [], {
      cause: error,
    });
  }
}

/** Hints at the missing import of `config` or `defineConfig`. */
function importHint(message: string): string {
  const [, name] = /^(config|defineConfig) is not (?:defined|a function)/.exec(message) ?? [];
  return name === undefined ? '' : `. Add this line at the top: import { ${name} } from '@anygpt/discovery/config';`;
}

const toOneLine = (message: string) => message.slice(0, 1_000).replace(/\s+/g, ' ').trim();
