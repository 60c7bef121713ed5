/**
 * Finds the configuration, decides whether it may be used, and resolves it. `ConfigurationLoader` throws one
 * `ConfigurationError` with every problem; anything less than an error is in `warnings`.
 * @module
 */
import { dirname } from 'node:path';
import { ConfigurationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { oneLine } from '../text/plain-text.ts';
import { toConsistentSettings } from './consistency.ts';
import { type Candidate, depthWarnings, findCandidates, isOwnFile, isSharedFile } from './find-config.ts';
import { evaluate, type LayerContext, loadLayers, type OpenFile } from './layers.ts';
import { expandPath } from './paths.ts';
import { pinsFor } from './pins.ts';
import { toPathText } from './problems.ts';
import type { FilePreview } from './project-files.ts';
import type { Floor } from './project-settings.ts';
import { type Fingerprint, NotTrusted, Snapshot } from './project-snapshot.ts';
import { readIfPresent } from './read-file.ts';
import { type Findings, resolveConfig, toConfigurationError, toFloor } from './resolve-config.ts';
import type { ResolvedConfig, ValidationResult } from './resolved-config.ts';
import { checkSection, findSection, type WrittenSection } from './section.ts';
import { TrustStore } from './trust-store.ts';
import { folderNamed, isSwitchedOn, realWorld, relativeFolderWarnings, stateFolder, type World } from './world.ts';

/** Options of a loader. Every option has a real default. */
export interface LoaderOptions extends Partial<World> {
  /**
   * Asked about a project file that the trust store does not know in its current state; usually asks a person. The
   * preview shows exactly the bytes that are used after a yes.
   */
  readonly isTrusted?: ((path: string, hash: string, look: FilePreview) => boolean | Promise<boolean>) | undefined;
  /** Uses a project's configuration without asking, as `ANYGPT_TRUST_PROJECT=1` does. */
  readonly trustProject?: boolean | undefined;
  /** Timeout for loading a configuration written as code, in milliseconds. Default 10,000. */
  readonly timeout?: number | undefined;
  /** False: a configuration written as code, or one that extends such a file, is an error. Default true. */
  readonly runCode?: boolean | undefined;
  /** False: no compiled copy of a configuration written as code is kept on disk. Default true. */
  readonly keepCode?: boolean | undefined;
}

/** A configuration file of a project, and whether it is trusted in its current state. */
interface ProjectFile extends Fingerprint {
  readonly path: string;
  readonly trusted: boolean;
}

const LOOK_AND_TRUST = 'Look at it, then run `anygpt mcp trust`.';
const NO_CONFIGURATION = 'No configuration was found, so there are no servers. Run `anygpt mcp init` to set some up.';

/** Loads configuration files. Keeps no state between calls of `load`, so a second call is a reload. */
export class ConfigurationLoader {
  readonly #world: World;
  readonly #options: LoaderOptions;
  /** The project configurations that the user has trusted. */
  readonly trustStore: TrustStore;

  constructor(options: LoaderOptions = {}) {
    this.#world = realWorld(options);
    this.#options = options;
    this.trustStore = new TrustStore(stateFolder(this.#world));
  }

  /**
   * Loads the named file; else the file in `ANYGPT_CONFIG`; else the first usable file that is found; else the built-in
   * defaults.
   */
  async load(configPath?: string): Promise<ResolvedConfig> {
    const named = configPath ?? folderNamed('ANYGPT_CONFIG', this.#world);
    const reading = await this.#reading();
    if (named !== undefined) {
      return this.#loadNamed(named, configPath === undefined ? 'ANYGPT_CONFIG' : '--config', reading);
    }
    const warnings = [...relativeFolderWarnings(this.#world), ...depthWarnings(this.#world)];
    const candidates = findCandidates(this.#world);
    for (const candidate of candidates) {
      const config = await this.#tryCandidate(candidate, candidates, warnings, reading);
      if (config !== undefined) return config;
    }
    const findings = { files: [], warnings: [...warnings, NO_CONFIGURATION], origin: undefined };
    return resolveConfig([], findings, this.#context(reading));
  }

  /** Resolves a configuration that is not in a file. Relative paths start at `base`. */
  async resolve(config: unknown, base: string = this.#world.cwd): Promise<ResolvedConfig> {
    const file = { path: `${base}/(configuration in code)`, base, text: '' };
    const section = requireSection(findSection(config), 'The configuration');
    const findings = { files: [], warnings: relativeFolderWarnings(this.#world), origin: undefined };
    // Servers that a program configures itself start in the program's folder.
    return this.#fromSection(section, file, findings, { ...this.#context(await this.#reading()), folder: base });
  }

  /** Returns every problem in a configuration, with or without the `discovery` wrapper. Reads no files. */
  validate(config: unknown): ValidationResult {
    const section = findSection(config);
    if (section === undefined || typeof section === 'string')
      return { valid: false, errors: [section ?? 'is missing'] };
    const checked = checkSection(section);
    if (!checked.ok) return { valid: false, errors: checked.problems };
    const { problems } = toConsistentSettings(section.raw, checked.value);
    const errors = problems.map((problem) => toPathText(section.prefix, [problem.group, problem.key]) + problem.text);
    return { valid: errors.length === 0, errors };
  }

  /**
   * Trusts a file in its current state, together with the files it visibly imports, extends and takes servers from.
   * @param text the content the caller just wrote; any other content found there is not trusted
   */
  async trust(path: string, text?: string): Promise<ProjectFile> {
    const file = expandPath(path, this.#world.cwd, this.#world);
    const files = new Snapshot();
    if (text !== undefined) files.remember(file, text);
    const described = await this.#describe(file, true, files);
    await this.trustStore.trust(described.path, described.hash, described.files);
    return { ...described, trusted: true };
  }

  async #describe(path: string, isNamed = false, snapshot = new Snapshot()): Promise<ProjectFile> {
    const { hash, files, notes } = await this.#look(path, snapshot, isNamed);
    if (hash === undefined) throw new ConfigurationError(notes.join(' '));
    return { path, hash, files, trusted: await this.trustStore.isTrusted(path, hash) };
  }

  /** Previews exactly the bytes that are used after a yes. Imported only when a preview is needed. */
  async #look(path: string, files: Snapshot, isNamed = false): Promise<FilePreview> {
    const { previewFile, trustableFileAt } = await import('./project-files.ts');
    return previewFile({ ...trustableFileAt(path, this.#world), isNamed }, this.#world, files);
  }

  async #loadNamed(named: string, by: string, reading: Reading): Promise<ResolvedConfig> {
    const path = expandPath(named, this.#world.cwd, this.#world, by);
    const text = await readIfPresent(path);
    if (text === undefined)
      throw new ConfigurationError(`${by} names ${path}, which was not found. Correct the path or create the file.`);
    const file = { path, base: dirname(path), text };
    const context = this.#context(reading);
    const section = requireSection(findSection(await evaluate(file, context), path), path);
    const findings = { files: [path], warnings: relativeFolderWarnings(this.#world), origin: path };
    return this.#fromSection(section, file, findings, context);
  }

  /** Undefined when the candidate has no section or may not be used; the search then continues. */
  async #tryCandidate(
    candidate: Candidate,
    all: readonly Candidate[],
    warnings: string[],
    reading: Reading,
  ): Promise<ResolvedConfig | undefined> {
    const { path, base, place } = candidate;
    const text = await this.#readCandidate(candidate, warnings, reading);
    // A shared file without the word `discovery` has no such section, so it needs no trust.
    if (text === undefined || (isSharedFile(path) && !text.includes('discovery'))) return undefined;
    if (place === 'project' && !(await this.#isTrusted(path, reading))) {
      warnings.push(`${shown(path)} came with this folder and is not trusted, so it is not used. ${LOOK_AND_TRUST}`);
      return undefined;
    }
    const file = { path, base, text };
    const context = this.#context(reading, candidate);
    try {
      const section = findSection(await evaluate(file, context), path);
      if (section === undefined) return undefined;
      const ignored = candidate.ignored.map(
        (other) => `${shown(other)} is ignored, because ${shown(path)} comes first.`,
      );
      const findings = { files: [path], warnings: [...warnings, ...ignored], origin: path };
      const floor = place === 'project' ? await this.#floor(all, reading) : undefined;
      return await this.#fromSection(requireSection(section, path), file, findings, context, floor);
    } catch (error) {
      if (place !== 'project' || !(error instanceof NotTrusted)) throw error;
      warnings.push(`${shown(path)} is not used: ${error.message}`);
      return undefined;
    }
  }

  /**
   * An unreadable project file is skipped with a warning, since it cannot have been trusted. An unreadable file of the
   * user is an error.
   */
  async #readCandidate(
    { path, place }: Candidate,
    warnings: string[],
    { files }: Reading,
  ): Promise<string | undefined> {
    if (place !== 'project') return readIfPresent(path);
    try {
      return files.peek(path);
    } catch (error) {
      if (files.isOpen || !(error instanceof ConfigurationError)) throw error;
      warnings.push(`${error.message} It is not used.`);
      return undefined;
    }
  }

  /**
   * Loads the user's own file while a project's file is in use. Its servers are left out; its settings are the floor.
   */
  async #floor(all: readonly Candidate[], reading: Reading): Promise<FloorOfFiles | undefined> {
    const context = this.#context(reading);
    for (const { path, base, place } of all) {
      const text = place === 'project' ? undefined : await readIfPresent(path);
      if (text === undefined || (isSharedFile(path) && !text.includes('discovery'))) continue;
      const file = { path, base, text };
      const section = findSection(await evaluate(file, context), path);
      if (section === undefined) continue;
      const { layers, problems } = await loadLayers(requireSection(section, path), file, context);
      if (problems.length > 0) throw toConfigurationError(problems);
      const floor = await toFloor(layers, { files: [], warnings: [], origin: path }, context);
      return { ...floor, files: layers.map((layer) => layer.file) };
    }
    return undefined;
  }

  async #fromSection(
    section: WrittenSection,
    file: OpenFile,
    findings: Findings,
    context: LayerContext,
    floor?: FloorOfFiles,
  ): Promise<ResolvedConfig> {
    const { layers, problems, warnings } = await loadLayers(section, file, context);
    if (problems.length > 0) throw toConfigurationError(problems);
    const config = await resolveConfig(
      layers,
      { ...findings, warnings: [...findings.warnings, ...warnings] },
      context,
      floor,
    );
    // Watch every file that was read: imported modules, extended files and the user's own file.
    const { files: floorFiles } = floor ?? {};
    const read = [
      ...layers.slice(1).map((layer) => layer.file),
      ...(floorFiles ?? []),
      ...context.own.admitted,
      ...context.files.admitted,
    ];
    return {
      ...config,
      files: [...new Set([...findings.files, ...read, ...config.files])],
      ...(floorFiles && { floorFiles }),
    };
  }

  /** Creates the state of one load. */
  async #reading(): Promise<Reading> {
    const files = new Snapshot(this.#trustsProjects() ? 'open' : 'sealed');
    // A damaged trust store is reported when trust is asked for, not here.
    const trustedFiles = await this.trustStore.allFiles().catch(() => new Set<string>());
    files.favour(trustedFiles);
    return { files, own: new Snapshot('open'), trustedFiles };
  }

  #trustsProjects(): boolean {
    return this.#options.trustProject === true || isSwitchedOn(this.#world.env.ANYGPT_TRUST_PROJECT);
  }

  /** Tells whether a user has trusted a file. A yes also admits the files it was trusted with, and no others. */
  async #isTrusted(path: string, { files }: Reading, isWorthAsking = async () => true): Promise<boolean> {
    if (files.isOpen) return true;
    const record = await this.trustStore.record(path);
    if (record !== undefined && files.verify(path, record)) return true;
    if (this.#options.isTrusted === undefined || !(await isWorthAsking())) return false;
    const look = await this.#look(path, files);
    if (look.hash === undefined || !(await this.#options.isTrusted(path, look.hash, look))) return false;
    files.admit(look.files);
    return true;
  }

  /** Files that a project's configuration names need trust of their own unless the project's hash covers them. */
  #context(reading: Reading, candidate?: Candidate): LayerContext {
    const { files, own } = reading;
    const root = candidate?.place === 'project' ? candidate.root : undefined;
    const isUsers = (path: string): boolean => root === undefined || isOwnFile(path, this.#world);
    const isTrustedProject: LayerContext['isTrustedProject'] = async (path, text, isWorthAsking) => {
      return files.remember(path, text) && this.#isTrusted(path, reading, isWorthAsking);
    };
    const pinsIn = (folder: string | undefined) =>
      folder === undefined || files.isOpen ? undefined : pinsFor(files, folder, this.#world);
    return {
      world: { ...this.#world, trustedFiles: reading.trustedFiles },
      folder: candidate?.place === 'project' ? candidate.base : undefined,
      timeout: this.#options.timeout,
      runCode: this.#options.runCode,
      keepCode: this.#options.keepCode,
      files,
      own,
      project: root !== undefined,
      isUsers,
      codeOf: (path) => (isUsers(path) ? own : files),
      pins: pinsIn(root),
      pinsOf: ({ scope, root: folder }) =>
        pinsIn(scope === 'user' || scope === 'system' ? undefined : scope === 'project' ? folder : root),
      budget: { left: LIMITS.files.untrusted },
      read: async (path, isProjects = false) => (isProjects || !isUsers(path) ? files.peek(path) : readIfPresent(path)),
      isTrustedProject,
      isTrustedFolder: async (folder) => this.#trustsProjects() || this.trustStore.isTrustedFolder(folder),
      isTrusted: async (path, text) => {
        if (isUsers(path)) return true;
        return files.admitted.includes(path) ? files.remember(path, text) : isTrustedProject(path, text);
      },
    };
  }
}

/** A floor and the files it was read from. */
type FloorOfFiles = Floor & { readonly files: readonly string[] };

/** State of one load: the project files read so far, and the user's own code. */
interface Reading {
  readonly files: Snapshot;
  readonly own: Snapshot;
  readonly trustedFiles: ReadonlySet<string>;
}

/** Shortens an untrusted path for display. */
const shown = (path: string): string => oneLine(path, 300);

function requireSection(section: WrittenSection | string | undefined, file: string): WrittenSection {
  if (typeof section === 'string') throw toConfigurationError([{ file, text: section }]);
  if (section !== undefined) return section;
  throw new ConfigurationError(`${file} has no \`discovery\` section. Add one: discovery: { servers: [] }.`);
}
