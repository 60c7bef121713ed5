/**
 * Runs a configuration written as code and gives what it exports. TypeScript needs no build step, and
 * `@anygpt/discovery/config` can be imported although nothing is installed beside the file. Every file that is loaded comes
 * from a snapshot, so a project's code consists of nothing but what a person has trusted.
 * @module
 */
import { rmSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { types } from 'node:util';
import { runInThisContext } from 'node:vm';
import type { Jiti } from 'jiti';
import { ConfigurationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';
import { compiledCopy } from './compiled-copies.ts';
import * as defineConfig from './define-config.ts';
import { isFilePath, pathsOf } from './module-paths.ts';
import { NotTrusted, type Snapshot } from './project-snapshot.ts';

/** How a configuration module is run. */
export interface RunOptions {
  /** Where its files come from. Packages beside them are loaded only from an open snapshot. */
  readonly files: Snapshot;
  /** The cache folder, for compiled copies; it must belong to the user, for what lies there is executed. */
  readonly cacheFolder: string;
  /** How long top-level `await` may take. */
  readonly timeout?: number | undefined;
}

/** Runs a configuration file and gives its default export. */
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

/** Compiled code as a function, in the shape in which the compiler writes it. */
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
  /** Resolves when all of it has run. */
  loaded?: Promise<unknown> | undefined;
}

/** Built-in modules whose use would be to load code that nobody has hashed. */
const LOADERS: ReadonlySet<string> = new Set(['module', 'vm', 'repl', 'test']);

class ModuleLoader {
  readonly #options: RunOptions;
  readonly #compiler: Jiti;
  /** Loads packages, for a file. */
  readonly #createJiti: (id: string) => Jiti;
  readonly #modules = new Map<string, Module>();

  private constructor(options: RunOptions, compiler: Jiti, createJiti: (id: string) => Jiti) {
    this.#options = options;
    this.#createJiti = createJiti;
    this.#compiler = compiler;
  }

  static async create(options: RunOptions): Promise<ModuleLoader> {
    const { createJiti } = await import('jiti');
    forgetPlainCopies(join(options.cacheFolder, 'jiti'));
    const settings = { fsCache: false, moduleCache: false };
    return new ModuleLoader(options, createJiti(options.cacheFolder, settings), (id) =>
      createJiti(id, { ...settings, interopDefault: false }),
    );
  }

  /** Loads a file; one of those that are waiting for it gets what it exports so far. */
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

  /** Runs a module's code; with `async` it may await, and the promise is its end. */
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
    const folder = join(this.#options.cacheFolder, 'compiled');
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

  /** A package beside a project's file came with it and is in no hash. */
  #refuseForeign(name: string, from: string): void {
    if (this.#options.files.isOpen) return;
    const bare = name.replace(/^node:/, '').replace(/\/.*$/s, '');
    if (isBuiltin(name) && !LOADERS.has(bare)) return;
    throw new NotTrusted(
      `${from} imports ${JSON.stringify(name.slice(0, 200))}, which is no file that was trusted with it. A project’s configuration may import files beside it, by paths that stand in its text, and what comes with Node.`,
    );
  }

  /** The first file an import may mean that is there. */
  #pathOf(name: string, from: string): string {
    let refused: ConfigurationError | undefined;
    for (const path of pathsOf(name, from)) {
      try {
        if (this.#options.files.text(path) !== undefined) return path;
      } catch (error) {
        // A folder may have an index in it, and what was not trusted may be there under a later name that was.
        if (!(error instanceof ConfigurationError)) throw error;
        refused ??= error;
      }
    }
    if (refused instanceof NotTrusted) {
      throw new NotTrusted(
        `${from} imports ${JSON.stringify(name.slice(0, 200))}, which is not part of what was trusted. Import it by a path that stands in the text, then run \`anygpt mcp trust\` again.`,
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

/** What comes with Node, as `require` gives it: compiled code knows how to take a default from it. */
const builtin: (name: string) => unknown = createRequire(import.meta.url);

/** A module of Node's own loader in the form that compiled code expects; what CommonJS exports has its names, too. */
function asModule(loaded: unknown): unknown {
  if (!types.isModuleNamespaceObject(loaded)) return loaded;
  const { default: main } = loaded as { readonly default?: unknown };
  return Object.defineProperty({ ...(isObject(main) && main), ...(loaded as object) }, '__esModule', { value: true });
}

/** Older versions kept copies that held the secrets of their source in plain text. */
function forgetPlainCopies(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // A folder that cannot be reached is not in use either.
  }
}

/** The compiler puts a mistake in the source into what the module exports. */
function refuseMistakes({ exports }: Module, path: string): void {
  const mistake = isObject(exports) ? exports.__JITI_ERROR__ : undefined;
  if (!isObject(mistake)) return;
  throw new Error(`${mistake.code}: ${mistake.message} ${path}:${mistake.line}:${mistake.column}`);
}

async function within(milliseconds: number, path: string, run: () => Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `${path} did not finish loading within ${milliseconds} ms. Look for an await that never ends.`;
    timer = setTimeout(() => reject(new ConfigurationError(message)), milliseconds);
  });
  try {
    return await Promise.race([run(), late]);
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new ConfigurationError(`${path} could not be run: ${toOneLine(message)}${importHint(message)}`, [], {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}

/** Our two functions are not there by themselves. */
function importHint(message: string): string {
  const [, name] = /^(config|defineConfig) is not (?:defined|a function)/.exec(message) ?? [];
  return name === undefined ? '' : `. Add this line at the top: import { ${name} } from '@anygpt/discovery/config';`;
}

const toOneLine = (message: string) => message.slice(0, 1_000).replace(/\s+/g, ' ').trim();
