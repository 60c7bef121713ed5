/**
 * `ConfigurationLoader`: finds the configuration, decides whether it may be used, and gives the resolved configuration.
 * Throws `ConfigurationError` with every problem at once; what can be lived with is in `warnings`.
 * @module
 */
import { dirname } from 'node:path';
import { ConfigurationError } from '../errors.ts';
import { toConsistentSettings } from './consistency.ts';
import { type Candidate, findCandidates, isSharedFile } from './find-config.ts';
import { type Fingerprint, fingerprintOf } from './fingerprint.ts';
import { evaluate, type LayerContext, loadLayers, type OpenFile } from './layers.ts';
import { isCode } from './parse-data.ts';
import { expandPath, isInside } from './paths.ts';
import { toPathText } from './problems.ts';
import { readIfPresent } from './read-file.ts';
import { type Findings, resolveConfig, toConfigurationError } from './resolve-config.ts';
import type { ResolvedConfig, ValidationResult } from './resolved-config.ts';
import { checkSection, findSection, type WrittenSection } from './section.ts';
import { TrustStore } from './trust.ts';
import { isSwitchedOn, realWorld, stateFolder, type World } from './world.ts';

/** What a loader may be told; everything has a real default. */
export interface LoaderOptions extends Partial<World> {
  /** Asked about a project's file that the trust store does not know in this state; the place to ask a person. */
  readonly isTrusted?: ((path: string, hash: string) => boolean | Promise<boolean>) | undefined;
  /** Use a project's configuration without asking, as `ANYGPT_TRUST_PROJECT=1` does. */
  readonly trustProject?: boolean | undefined;
  /** How long a configuration written as code may take to load, in milliseconds. Default 10,000. */
  readonly timeout?: number | undefined;
  /** False: a configuration written as code is an error, and so is one that extends such. Default true. */
  readonly runCode?: boolean | undefined;
}

/** A configuration that came with a folder, and whether it may be used as it is now. */
export interface ProjectFile extends Fingerprint {
  readonly path: string;
  readonly trusted: boolean;
}

const NO_CONFIGURATION = 'No configuration was found, so there are no servers. Run `anygpt mcp init` to set some up.';

/** Loads configuration files. Keeps nothing between two calls of `load`, so calling it again is a reload. */
export class ConfigurationLoader {
  readonly #world: World;
  readonly #options: LoaderOptions;
  /** Which project configurations a person has trusted. */
  readonly trustStore: TrustStore;

  constructor(options: LoaderOptions = {}) {
    this.#world = realWorld(options);
    this.#options = options;
    this.trustStore = new TrustStore(stateFolder(this.#world));
  }

  /**
   * Loads the named file, else the one `ANYGPT_CONFIG` names, else the first that is found and may be used, else the
   * built-in defaults.
   */
  async load(configPath?: string): Promise<ResolvedConfig> {
    const fromEnvironment = this.#world.env.ANYGPT_CONFIG || undefined;
    const named = configPath ?? fromEnvironment;
    if (named !== undefined) return this.#loadNamed(named, configPath === undefined ? 'ANYGPT_CONFIG' : '--config');
    const warnings: string[] = [];
    for (const candidate of findCandidates(this.#world)) {
      const config = await this.#tryCandidate(candidate, warnings);
      if (config !== undefined) return config;
    }
    const findings = { files: [], warnings: [...warnings, NO_CONFIGURATION], origin: undefined };
    return resolveConfig([], findings, this.#context());
  }

  /** Resolves a configuration that is not in a file; relative paths start at `base`. */
  async resolve(config: unknown, base: string = this.#world.cwd): Promise<ResolvedConfig> {
    const file = { path: `${base}/(configuration in code)`, base, text: '' };
    const section = requireSection(findSection(config), 'The configuration');
    // What a program configures itself starts where the program is.
    const context = { ...this.#context(), folder: base };
    return this.#fromSection(section, file, { files: [], warnings: [], origin: undefined }, context);
  }

  /** Every problem in a configuration, with or without the `discovery` wrapper. Reads no files. */
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

  /** The project configurations `load` would look at, nearest first: what a person is asked to trust. */
  async findProjectFiles(): Promise<readonly ProjectFile[]> {
    const projects = findCandidates(this.#world).filter(({ place }) => place === 'project');
    return Promise.all(projects.map(({ path }) => this.#describe(path)));
  }

  /** Trusts a file as it is now, with what it visibly imports, extends and takes servers from. */
  async trust(path: string): Promise<ProjectFile> {
    const { hash, files } = await this.#describe(expandPath(path, this.#world.cwd, this.#world));
    const [file = path] = files;
    await this.trustStore.trust(file, hash);
    return { path: file, hash, files, trusted: true };
  }

  async #describe(path: string): Promise<ProjectFile> {
    const fingerprint = await fingerprintOf(path, await readRequired(path));
    return { path, ...fingerprint, trusted: await this.trustStore.isTrusted(path, fingerprint.hash) };
  }

  async #loadNamed(named: string, by: string): Promise<ResolvedConfig> {
    const path = expandPath(named, this.#world.cwd, this.#world, by);
    const file = { path, base: dirname(path), text: await readRequired(path, `, which ${by} names,`) };
    const section = requireSection(findSection(await evaluate(file, this.#context()), path), path);
    return this.#fromSection(section, file, await findingsOf(file, []), this.#context());
  }

  /** Undefined when the candidate has no section or may not be used; then the search goes on. */
  async #tryCandidate(candidate: Candidate, warnings: string[]): Promise<ResolvedConfig | undefined> {
    const { path, base, place } = candidate;
    const text = await this.#readCandidate(candidate, warnings);
    // A shared file that never says `discovery` has no such section; it need not be trusted to know that.
    if (text === undefined || (isSharedFile(path) && !text.includes('discovery'))) return undefined;
    const fingerprint = place === 'project' ? await fingerprintOf(path, text) : undefined;
    if (fingerprint !== undefined && !(await this.#isTrusted(path, fingerprint.hash))) {
      warnings.push(
        `${path} came with this folder and is not trusted, so it is not used. Look at it, then run \`anygpt mcp trust\`.`,
      );
      return undefined;
    }
    const file = { path, base, text };
    const context = this.#context(candidate, fingerprint);
    const section = findSection(await evaluate(file, context), path);
    if (section === undefined) return undefined;
    warnings.push(...candidate.ignored.map((other) => `${other} is ignored, because ${path} comes first.`));
    return this.#fromSection(requireSection(section, path), file, await findingsOf(file, warnings), context);
  }

  /** A project's file that cannot be read cannot have been trusted either; the user's own is an error. */
  async #readCandidate({ path, place }: Candidate, warnings: string[]): Promise<string | undefined> {
    try {
      return await readIfPresent(path);
    } catch (error) {
      if (place !== 'project' || this.#trustsProjects() || !(error instanceof ConfigurationError)) throw error;
      warnings.push(`${error.message} It is not used.`);
      return undefined;
    }
  }

  async #fromSection(
    section: WrittenSection,
    file: OpenFile,
    findings: Findings,
    context: LayerContext,
  ): Promise<ResolvedConfig> {
    const { layers, problems, warnings } = await loadLayers(section, file, context);
    if (problems.length > 0) throw toConfigurationError(problems);
    const files = [...new Set([...findings.files, ...layers.slice(1).map((layer) => layer.file)])];
    return resolveConfig(layers, { ...findings, files, warnings: [...findings.warnings, ...warnings] }, context);
  }

  #trustsProjects(): boolean {
    return this.#options.trustProject === true || isSwitchedOn(this.#world.env.ANYGPT_TRUST_PROJECT);
  }

  async #isTrusted(path: string, hash: string): Promise<boolean> {
    if (this.#trustsProjects() || (await this.trustStore.isTrusted(path, hash))) return true;
    return (await this.#options.isTrusted?.(path, hash)) ?? false;
  }

  /** Of the files a project's configuration names, those in the project that its hash does not cover are asked about. */
  #context(candidate?: Candidate, fingerprint?: Fingerprint): LayerContext {
    const root = candidate?.place === 'project' ? candidate.root : undefined;
    const isTrustedProject = async (path: string, text: string) =>
      this.#isTrusted(path, (await fingerprintOf(path, text)).hash);
    return {
      world: this.#world,
      folder: candidate?.place === 'project' ? candidate.base : undefined,
      timeout: this.#options.timeout,
      runCode: this.#options.runCode,
      isTrustedProject,
      isTrustedFolder: async (folder) => this.#trustsProjects() || this.trustStore.isTrustedFolder(folder),
      isTrusted: async (path, text) => {
        if (root === undefined || !isInside(path, root) || fingerprint?.files.includes(path)) return true;
        return isTrustedProject(path, text);
      },
    };
  }
}

/** Code may import other files, which are worth watching too. */
async function findingsOf({ path, text }: OpenFile, warnings: readonly string[]): Promise<Findings> {
  const files = isCode(path) ? (await fingerprintOf(path, text)).files : [path];
  return { files, warnings, origin: path };
}

async function readRequired(path: string, which = ''): Promise<string> {
  const text = await readIfPresent(path);
  if (text === undefined) throw new ConfigurationError(`${path}${which} was not found.`);
  return text;
}

function requireSection(section: WrittenSection | string | undefined, file: string): WrittenSection {
  if (typeof section === 'string') throw toConfigurationError([{ file, text: section }]);
  if (section !== undefined) return section;
  throw new ConfigurationError(`${file} has no \`discovery\` section. Add one: discovery: { servers: [] }.`);
}
