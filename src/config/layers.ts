/**
 * Loads a configuration file and every file it extends, the strongest first. Problems of all files are collected and
 * reported together.
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
  /** The folder that relative paths start from. */
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

/** Reads a file that a configuration names, or one found in a project. */
type ReadText = (path: string, isProjects?: boolean) => Promise<string | undefined>;

/** Everything that loading layers depends on. */
export interface LayerContext {
  readonly world: World;
  /** Default working folder of servers: the project of this configuration, else the user's home. */
  readonly folder?: string | undefined;
  readonly timeout?: number | undefined;
  /** Whether configuration code may run. Default true. */
  readonly runCode?: boolean | undefined;
  readonly keepCode?: boolean | undefined;
  /** The user's own code is loaded from here. */
  readonly own: Snapshot;
  /** Project files are read through this snapshot, each once. */
  readonly files: Snapshot;
  /** True if the configuration belongs to a project. */
  readonly project?: boolean | undefined;
  /** Tells whether a file is the user's own, wherever it is named. */
  readonly isUsers?: ((path: string) => boolean) | undefined;
  /** Returns the snapshot that a file's code and imports are loaded from. */
  readonly codeOf: (path: string) => Snapshot;
  /**
   * Reads a file's text; undefined when it is missing. A project's file is read once, however often it is asked for.
   */
  readonly read: ReadText;
  /** Pins the files that a project's entries name to the trusted content. */
  readonly pins?: Pins | undefined;
  /** Like `pins`, for a source file. */
  readonly pinsOf?: ImportContext['pinsOf'];
  /** How much of untrusted files may still be parsed. */
  readonly budget?: ImportContext['budget'];
  /** Set for a preview: nothing is expanded, looked up or run, and code files are reported here instead. */
  readonly onCode?: ((path: string) => void) | undefined;
  /** Tells whether an extended file may be used. */
  readonly isTrusted: (path: string, text: string) => Promise<boolean>;
  /**
   * Tells whether a file that was found in a project, and that no configuration names, may be used.
   * @param isWorthAsking whether to ask the user about it
   */
  readonly isTrustedProject: (path: string, text: string, isWorthAsking?: () => Promise<boolean>) => Promise<boolean>;
  /** Tells whether servers of the user's own files may run in a folder. */
  readonly isTrustedFolder: (folder: string) => Promise<boolean>;
}

export interface FileProblem {
  readonly file: string;
  readonly text: string;
}

/** The layers of a chain of files. */
interface LoadedLayers {
  readonly layers: readonly Layer[];
  readonly problems: readonly FileProblem[];
  readonly warnings: readonly string[];
}

/** Evaluates a file: parses data, runs code. In a preview, code yields an empty object. */
export async function evaluate({ path, text }: OpenFile, context: LayerContext): Promise<unknown> {
  if (!isCode(path)) return parseData(path, text);
  const { world, timeout, runCode = true, keepCode = true, onCode } = context;
  if (onCode !== undefined) {
    onCode(path);
    return {};
  }
  if (!runCode)
    throw new ConfigurationError(`${path} is code, and configuration code is not run here. Use a JSON or YAML file.`);
  const files = context.codeOf(path);
  files.remember(path, text);
  return runModule(path, { files, cacheFolder: keepCode ? join(stateFolder(world), 'cache') : undefined, timeout });
}

/** Loads the chain that starts with a section. A section without `extends` is a chain of one. */
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
    // Later entries of `extends` are stronger, as in tsconfig and ESLint.
    for (const name of wanted.toReversed()) await extend(name, path, [...chain, path]);
  }

  async function extend(name: string, from: string, chain: readonly string[]): Promise<void> {
    try {
      const path = expandPath(name, dirname(from), context.world, `extends in ${from}`);
      if (chain.includes(path)) {
        const circle = [...chain.slice(chain.indexOf(path)), path].join(' → ');
        throw new ConfigurationError(`extends forms a cycle: ${circle}. Remove one of the links.`);
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

/** An untrusted file makes the whole chain untrusted. In a preview it is only a note. */
const isFatal = (error: ConfigurationError, { onCode }: LayerContext): boolean =>
  error instanceof TooManyFiles || (error instanceof NotTrusted && onCode === undefined);

/** Returns rules whose pattern does not compile. The compiler is imported only when there are rules. */
async function badRules({ raw, prefix }: WrittenSection): Promise<readonly string[]> {
  const profiles = Object.entries(Object(raw.profiles) as object);
  const written = [
    { place: ['toolRules'], rules: raw.toolRules },
    ...profiles.map(([name, profile]) => ({
      place: ['profiles', name, 'toolRules'],
      rules: Object(profile).toolRules as unknown,
    })),
  ].flatMap(({ place, rules }) => (Array.isArray(rules) && rules.length > 0 ? [{ place, rules }] : []));
  if (written.length === 0) return [];
  const { ruleProblems } = await import('../rules/compile-rules.ts');
  const problems = await Promise.all(
    written.map(async ({ place, rules }) =>
      (await ruleProblems(rules)).map(({ path, text }) => `${toPathText(prefix, [...place, ...path])}: ${text}`),
    ),
  );
  return problems.flat();
}

const namesOf = (written: unknown): string[] => [written].flat().filter((name) => typeof name === 'string');
