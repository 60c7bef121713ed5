/**
 * A configuration file in, that file and all it extends out, the strongest first. Problems of every file are collected
 * before any of them is reported.
 * @module
 */
import { dirname, join } from 'node:path';
import type { ImportContext } from '../clients/importers/import-file.ts';
import { ConfigurationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { shellWord } from '../text/shell-word.ts';
import { isCode, parseData } from './parse-data.ts';
import { expandPath } from './paths.ts';
import type { Pins } from './pins.ts';
import { toPathText } from './problems.ts';
import { NotTrusted, type Snapshot, TooManyFiles } from './project-snapshot.ts';
import { runModule } from './run-module.ts';
import type { DiscoverySection } from './schema.ts';
import { checkSection, findSection, type WrittenSection } from './section.ts';
import { stateFolder, type World } from './world.ts';

/** One file's part of the configuration. */
export interface Layer {
  readonly file: string;
  /** The folder relative paths start from. */
  readonly base: string;
  readonly raw: WrittenSection['raw'];
  readonly prefix: string;
  readonly section: DiscoverySection;
}

/** A file that was read but not yet evaluated. */
export interface OpenFile {
  readonly path: string;
  readonly base: string;
  readonly text: string;
}

/** Reads a file that a configuration names, or one that was found in a project. */
export type ReadText = (path: string, isProjects?: boolean) => Promise<string | undefined>;

/** What loading layers needs to know. */
export interface LayerContext {
  readonly world: World;
  /** Where servers without a `cwd` start: the project whose configuration this is. Default: the user's home. */
  readonly folder?: string | undefined;
  readonly timeout?: number | undefined;
  /** Whether code may run at all; it may unless this is false. */
  readonly runCode?: boolean | undefined;
  /** What the user's own code is loaded from. */
  readonly own: Snapshot;
  /** What came with a project is read through this, once. */
  readonly files: Snapshot;
  /** The configuration came with a project. */
  readonly project?: boolean | undefined;
  /** Whether a file is the user's own, wherever it is named. */
  readonly isUsers?: ((path: string) => boolean) | undefined;
  /** What the code of a file, and what it imports, is loaded from. */
  readonly codeOf: (path: string) => Snapshot;
  /** The text of a file, undefined when there is none. What came with a project is read once, whoever asks. */
  readonly read: ReadText;
  /** What ties files that a project's entries name to what was trusted. */
  readonly pins?: Pins | undefined;
  /** The same for a file that servers are taken from. */
  readonly pinsOf?: ImportContext['pinsOf'];
  /** How much may still be parsed of files that nobody trusts. */
  readonly budget?: ImportContext['budget'];
  /** It is only shown: nothing is expanded, looked up or run, and what is code is said here. */
  readonly onCode?: ((path: string) => void) | undefined;
  /** Whether an extended file may be used. */
  readonly isTrusted: (path: string, text: string) => Promise<boolean>;
  /**
   * Whether a file that was found in a project, and that nobody named, may be used.
   * @param isWorthAsking whether a person is to be asked about it
   */
  readonly isTrustedProject: (path: string, text: string, isWorthAsking?: () => Promise<boolean>) => Promise<boolean>;
  /** Whether servers of the user's own files may work in a folder. */
  readonly isTrustedFolder: (folder: string) => Promise<boolean>;
}

/** A problem and the file it is in. */
export interface FileProblem {
  readonly file: string;
  readonly text: string;
}

/** What a chain of files gives. */
export interface LoadedLayers {
  readonly layers: readonly Layer[];
  readonly problems: readonly FileProblem[];
  readonly warnings: readonly string[];
}

/** Evaluates a file: data is parsed, code is run. Code that is only shown gives nothing. */
export async function evaluate({ path, text }: OpenFile, context: LayerContext): Promise<unknown> {
  if (!isCode(path)) return parseData(path, text);
  const { world, timeout, runCode = true, onCode } = context;
  if (onCode !== undefined) {
    onCode(path);
    return {};
  }
  if (!runCode) throw new ConfigurationError(`${path} is a program, and none is run here.`);
  const files = context.codeOf(path);
  files.remember(path, text);
  return runModule(path, { files, cacheFolder: join(stateFolder(world), 'cache'), timeout });
}

/** Loads the chain that starts with a section; what extends nothing is a chain of one. */
export async function loadLayers(start: WrittenSection, file: OpenFile, context: LayerContext): Promise<LoadedLayers> {
  const layers: Layer[] = [];
  const problems: FileProblem[] = [];
  const warnings: string[] = [];
  const seen = new Set<string>();

  async function add(written: WrittenSection, { path, base }: OpenFile, chain: readonly string[]): Promise<void> {
    seen.add(path);
    warnings.push(...written.warnings.map((warning) => `${path}: ${warning}`));
    const checked = checkSection(written);
    if (!checked.ok) problems.push(...checked.problems.map((text) => ({ file: path, text })));
    else layers.push({ file: path, base, raw: written.raw, prefix: written.prefix, section: checked.value });
    problems.push(...(await badRules(written)).map((text) => ({ file: path, text })));
    const wanted = checked.ok ? [checked.value.extends ?? []].flat() : namesOf(written.raw.extends);
    // Later entries are stronger, as in tsconfig and ESLint.
    for (const name of wanted.toReversed()) await extend(name, path, [...chain, path]);
  }

  async function extend(name: string, from: string, chain: readonly string[]): Promise<void> {
    try {
      const path = expandPath(name, dirname(from), context.world, `extends in ${from}`);
      if (chain.includes(path)) {
        const circle = [...chain.slice(chain.indexOf(path)), path].join(' → ');
        throw new ConfigurationError(`extends goes round in a circle: ${circle}.`);
      }
      if (seen.has(path)) return;
      if (seen.size >= LIMITS.files.configuration)
        throw new ConfigurationError(`extends reaches more than ${LIMITS.files.configuration} files.`);
      await openExtended(path, name, chain);
    } catch (error) {
      if (!(error instanceof ConfigurationError) || isFatal(error, context)) throw error;
      problems.push({ file: from, text: error.message });
    }
  }

  async function openExtended(path: string, name: string, chain: readonly string[]): Promise<void> {
    const text = await context.read(path);
    if (text === undefined) throw new ConfigurationError(`extends ${JSON.stringify(name)}: ${path} was not found.`);
    if (!(await context.isTrusted(path, text))) {
      throw new NotTrusted(
        `extends ${path}, which is not trusted. Look at it, then run \`anygpt mcp trust ${shellWord(path)}\`.`,
      );
    }
    const opened: OpenFile = { path, base: dirname(path), text };
    const section = findSection(await evaluate(opened, context), path);
    if (typeof section === 'string') problems.push({ file: path, text: section });
    else if (section === undefined) seen.add(path);
    else await add(section, opened, chain);
  }

  await add(start, file, []);
  return { layers, problems, warnings };
}

/** A chain with a file in it that nobody has trusted is not trusted; where it is only shown, that is a note. */
const isFatal = (error: ConfigurationError, { onCode }: LayerContext): boolean =>
  error instanceof TooManyFiles || (error instanceof NotTrusted && onCode === undefined);

/** Patterns that cannot be compiled. What compiles them is loaded only where there are rules. */
async function badRules({ raw, prefix }: WrittenSection): Promise<readonly string[]> {
  if (!Array.isArray(raw.toolRules) || raw.toolRules.length === 0) return [];
  const { ruleProblems } = await import('../rules/compile-rules.ts');
  const problems = await ruleProblems(raw.toolRules);
  return problems.map(({ path, text }) => `${toPathText(prefix, ['toolRules', ...path])}: ${text}`);
}

const namesOf = (written: unknown): string[] => [written].flat().filter((name) => typeof name === 'string');
