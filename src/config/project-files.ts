/**
 * Previews what using a project's files would do, before they are trusted. Runs the loader's own steps over one read of
 * the files, with nothing expanded, looked up or run. The hash covers exactly what is shown.
 * @module
 */
import { basename, dirname, resolve } from 'node:path';
import { CLIENT_TYPES, type ClientType, clientOf } from '../clients/importers/clients.ts';
import { countEntries, type ParseBudget, pays } from '../clients/importers/count-entries.ts';
import { importFile, namedFile, type SourceFile } from '../clients/importers/import-file.ts';
import { listClients, moreText } from '../clients/importers/list-clients.ts';
import { ConfigurationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { ServerDefinition } from '../core/types.ts';
import { type Candidate, findCandidates, isOwnFile } from './find-config.ts';
import { evaluate, type LayerContext, loadLayers } from './layers.ts';
import { lookBudget, TooMuch } from './look-budget.ts';
import { pathsOf } from './module-paths.ts';
import { namedFiles } from './named-files.ts';
import { isCode } from './parse-data.ts';
import { pinsFor } from './pins.ts';
import { programNotes } from './project-programs.ts';
import { NotTrusted, Snapshot, TooManyFiles } from './project-snapshot.ts';
import { readBy } from './references.ts';
import { resolveConfig, toConfigurationError } from './resolve-config.ts';
import type { ResolvedConfig } from './resolved-config.ts';
import { findSection } from './section.ts';
import { type PlacedEntry, toServerDefinition } from './server-entry.ts';
import { valuesInFiles } from './values-in-files.ts';
import type { World } from './world.ts';

/** A file of a project: our own configuration, or a client's. */
export interface TrustableFile {
  readonly path: string;
  readonly type: 'configuration' | SourceFile['type'];
  /** The folder that relative paths in the file start from. */
  readonly base: string;
  /** The project folder; all files trusted together lie in it. */
  readonly root: string;
  /** The user named this very file, wherever it lies or leads. */
  readonly isNamed?: boolean | undefined;
  /** How many further files match the same pattern and are not previewed. */
  readonly more?: number | undefined;
}

/** How one program reads a file. */
export interface Reading {
  /** The programs that read the file this way. */
  readonly types: readonly TrustableFile['type'][];
  readonly servers: readonly ServerDefinition[];
}

export interface FilePreview {
  readonly path: string;
  /** Hash of the file as shown here; undefined when it cannot be trusted in its current state. */
  readonly hash: string | undefined;
  /** Every file the hash covers, this one first. */
  readonly files: readonly string[];
  /** One entry for each way to read the file. Programs that find the same servers share an entry. */
  readonly readings: readonly Reading[];
  /** Files that are code: their effect is known only when they run. */
  readonly code: readonly string[];
  /** Data that would be sent to other services, besides the servers. */
  readonly sends: readonly string[];
  /** What is wrong, ignored or cannot be shown. */
  readonly notes: readonly string[];
  /** Values of references in servers' environments, if the project's hashed files contain them. */
  readonly values: ReadonlyMap<string, string>;
  /** The file was not previewed because the budget was used up. */
  readonly isPassedOver?: boolean | undefined;
}

/** There are more servers than are previewed. */
class TooManyServers extends ConfigurationError {}

/** Returns every file in this folder and its parents that is used only once trusted, our own first. */
export function findTrustableFiles(world: World): readonly TrustableFile[] {
  const own = findCandidates(world).filter(({ place }) => place === 'project');
  const files = new Map<string, TrustableFile>(own.map((candidate) => [candidate.path, ownFile(candidate)]));
  for (const { type, files: candidates } of listClients(world)) {
    for (const { path, scope, exists, root = dirname(path), more } of candidates) {
      if (scope === 'project' && exists && !files.has(path)) files.set(path, { path, type, base: root, root, more });
    }
  }
  return [...files.values()];
}

const ownFile = ({ path, base, root = base }: Candidate): TrustableFile => ({
  path,
  type: 'configuration',
  base,
  root,
});

/** Classifies a file by its location: this project's configuration, else a client's, else our own. Lists no folder. */
export function trustableFileAt(path: string, world: World): TrustableFile {
  const known = findCandidates(world).find((candidate) => candidate.place === 'project' && candidate.path === path);
  if (known !== undefined) return ownFile(known);
  const [type] = clientsOf(path, world);
  const folder = dirname(path);
  if (type !== undefined) {
    const base = namedFile(type, path, world).root ?? folder;
    return { path, type, base, root: base };
  }
  if (basename(path) === 'manifest.json') return { path, type: 'mcpb', base: folder, root: folder };
  const base = basename(folder) === '.anygpt' ? dirname(folder) : folder;
  return { path, type: 'configuration', base, root: base };
}

/** Returns every client that has a project file of this name, in the order of `auto`. */
const clientsOf = (path: string, world: World): readonly ClientType[] =>
  CLIENT_TYPES.filter((type) => namedFile(type, path, world).root !== undefined);

/**
 * Previews a file without using it.
 * @param from an earlier read of the file, so that a yes covers the same bytes
 * @param budget what may still be parsed, of this file and others
 */
export async function previewFile(
  file: TrustableFile,
  world: World,
  from?: Snapshot,
  budget: ParseBudget = lookBudget(),
): Promise<FilePreview> {
  const look = new Look(file, { ...world, literal: true }, from, budget);
  await look.run();
  return look.preview();
}

class Look {
  readonly #file: TrustableFile;
  readonly #world: World;
  readonly #files: Snapshot;
  readonly #readings: Reading[] = [];
  readonly #code = new Set<string>();
  readonly #sends: string[] = [];
  readonly #notes = new Set<string>();
  /** Data files that code files name. A configuration among them is previewed too. */
  readonly #named = new Set<string>();
  readonly #budget: ParseBudget;
  readonly #paid = new Set<string>();
  #refused = false;
  #passedOver = false;

  constructor(file: TrustableFile, world: World, from: Snapshot | undefined, budget: ParseBudget) {
    this.#budget = budget;
    this.#file = file;
    this.#world = world;
    this.#files = new Snapshot({ folder: file.root }, from);
    if (file.isNamed) this.#files.admit([file.path]);
  }

  async run(): Promise<void> {
    const { path, type, more } = this.#file;
    if (more !== undefined) this.#notes.add(moreText(path, more));
    try {
      // A bundle is a folder or a binary file. Its importer knows where the manifest is.
      if (type !== 'mcpb' && this.#text(path) === undefined) throw new ConfigurationError(`${path} was not found.`);
      if (type === 'configuration') await this.#configuration(this.#file);
      for (const named of this.#named) await this.#configuration({ path: named, base: dirname(named) }, true);
      const readers = new Set([...(type === 'configuration' ? [] : [type]), ...clientsOf(path, this.#world)]);
      for (const reader of readers) await this.#asClient(reader);
      this.#refuseMany();
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      this.#refused = true;
      this.#notes.add(error.message);
    }
  }

  preview(): FilePreview {
    const { path } = this.#file;
    const others = this.#files.admitted.filter((other) => other !== path);
    const servers = this.#readings.flatMap((reading) => reading.servers);
    return {
      path,
      hash: this.#refused ? undefined : this.#files.hashOf(path, others),
      files: [path, ...others],
      readings: this.#readings,
      code: [...this.#code],
      sends: this.#sends,
      values: valuesInFiles(this.#readings, this.#files, this.#world),
      notes: [...this.#notes, ...programNotes(servers, this.#file.root)],
      ...(this.#passedOver && { isPassedOver: true }),
    };
  }

  #refuseMany(): void {
    this.#refuseCount(Math.max(0, ...this.#readings.map(({ servers }) => servers.length)));
  }

  #refuseCount(count: number): void {
    if (count > LIMITS.files.servers) {
      throw new TooManyServers(
        `${this.#file.path} has ${count} servers; at most ${LIMITS.files.servers} can be trusted at once. Split the file.`,
      );
    }
  }

  /** Returns a text that is about to be parsed. The budget is charged once per file. */
  #text(path: string): string | undefined {
    const text = this.#files.text(path);
    if (text === undefined || this.#paid.has(path)) return text;
    if (!pays(this.#budget, path, text)) {
      // Refuse the file: a user must not trust what was not shown.
      this.#refused = true;
      this.#passedOver = true;
      throw new TooMuch(path);
    }
    this.#paid.add(path);
    return text;
  }

  /**
   * Runs the loader's steps up to the point where something would run.
   * @param isGuess whether the file may be something else; its problems are then not reported
   */
  async #configuration({ path, base }: Pick<TrustableFile, 'path' | 'base'>, isGuess = false): Promise<void> {
    const file = { path, base, text: this.#text(path) ?? '' };
    const context = this.#context();
    await this.#guarded(async () => {
      const section = findSection(await evaluate(file, context), path);
      if (section === undefined) return;
      if (typeof section === 'string') throw toConfigurationError([{ file: path, text: section }]);
      if (Array.isArray(section.raw.servers)) this.#refuseCount(section.raw.servers.length);
      const { layers, problems, warnings } = await loadLayers(section, file, context);
      const isOurs = /^(?:mcp-discovery|anygpt)\.config\./.test(basename(path));
      // A file without our name may be one that a source names.
      if (problems.length > 0 && layers.length === 0 && !isOurs) return this.#asClient('custom', path);
      for (const { text, file: where } of problems) this.#notes.add(`${where}: ${text}`);
      this.#show(await resolveConfig(layers, { files: [], warnings, origin: path }, context));
    }, isGuess);
  }

  #show({ servers, warnings, search: { embedder } }: ResolvedConfig): void {
    this.#add('configuration', servers);
    for (const warning of warnings) this.#notes.add(warning);
    if (embedder === undefined) return;
    const read = readBy(`${embedder.url ?? ''}${embedder.apiKey ?? ''}`);
    const where = embedder.url ?? `the usual address of ${embedder.type}`;
    const key = read.length === 0 ? '' : ` (reads ${read.join(', ')})`;
    this.#sends.push(`Names and descriptions of tools, and every query, would be sent to ${where}${key}.`);
  }

  /** Adds every entry as written, so that no entry hides another of its name. */
  async #asClient(type: SourceFile['type'], path = this.#file.path): Promise<void> {
    const { base } = this.#file;
    const isClients = type !== 'custom' && type !== 'mcpb';
    const file: SourceFile = isClients ? { type, path, scope: 'project', root: base } : { type, path };
    if (isClients) {
      const count = await countEntries(clientOf(type as ClientType), path, this.#text(path) ?? '', {
        world: this.#world,
        budget: { left: Number.POSITIVE_INFINITY },
      });
      this.#refuseCount(count ?? 0);
    }
    const { entries, source, warnings } = await importFile(file, { ...this.#context(), base: dirname(path) });
    if (source.status !== 'ok') this.#notes.add(source.message ?? source.status);
    for (const warning of warnings) if (source.status === 'ok') this.#notes.add(warning);
    const servers = entries.map(toDefinition).filter((server) => server !== undefined);
    this.#add(type, servers);
  }

  #add(type: TrustableFile['type'], servers: readonly ServerDefinition[]): void {
    const text = JSON.stringify(shape(servers));
    const same = this.#readings.findIndex((other) => JSON.stringify(shape(other.servers)) === text);
    const known = this.#readings[same];
    if (known === undefined) this.#readings.push({ types: [type], servers });
    else if (!known.types.includes(type)) this.#readings[same] = { ...known, types: [...known.types, type] };
  }

  #context(): LayerContext {
    const files = this.#files;
    const pins = pinsFor(files, this.#file.root, this.#world, (why) => this.#notes.add(why));
    return {
      world: this.#world,
      files,
      own: files,
      codeOf: () => files,
      project: true,
      pins,
      pinsOf: () => pins,
      read: async (path) => {
        if (!isOwnFile(path, this.#world)) return this.#text(path);
        throw new ConfigurationError(`extends ${path}, your own configuration, so its servers are used here too.`);
      },
      onCode: (path) => this.#programs(path),
      folder: this.#file.base,
      isTrusted: async () => true,
      isTrustedProject: async () => true,
      isTrustedFolder: async () => true,
    };
  }

  /** Adds a program, and everything it visibly loads or names. Anything else it loads is refused when it runs. */
  #programs(entry: string): void {
    const waiting = [entry];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (this.#code.has(path)) continue;
      this.#code.add(path);
      const { modules, files } = namedFiles(this.#files.text(path) ?? '');
      const starts = [dirname(path), ...(basename(dirname(path)) === '.anygpt' ? [dirname(dirname(path))] : [])];
      for (const name of modules) {
        const found = pathsOf(name, path).find((candidate) => this.#isThere(candidate));
        if (found !== undefined && !found.endsWith('.json')) waiting.push(found);
      }
      for (const named of files.flatMap((name) => starts.map((start) => resolve(start, name)))) {
        if (this.#isThere(named)) {
          if (isCode(named)) waiting.push(named);
          else this.#named.add(named);
        }
      }
    }
  }

  #isThere(path: string): boolean {
    try {
      return !path.includes('\0') && !path.includes('${') && this.#files.text(path) !== undefined;
    } catch (error) {
      if (isFinal(error)) throw error;
      // Files outside the project are not read, and a program that needs one will not run.
      if (error instanceof NotTrusted) this.#notes.add(error.message);
      return false;
    }
  }

  async #guarded(work: () => Promise<void>, isQuiet: boolean): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (isFinal(error)) throw error;
      if (!isQuiet) this.#notes.add((error as ConfigurationError).message);
    }
  }
}

/** Errors that end the preview of a file; others are notes. */
const isFinal = (error: unknown): boolean =>
  error instanceof TooManyFiles ||
  error instanceof TooMuch ||
  error instanceof TooManyServers ||
  !(error instanceof ConfigurationError);

const toDefinition = (placed: PlacedEntry): ServerDefinition | undefined => toServerDefinition(placed);

/** The parts in which two readings must agree to be shown once. */
const shape = (servers: readonly ServerDefinition[]): unknown =>
  servers.map(({ name, enabled, connection }) => [name, enabled, connection]);

/** The display name of the client that owns the file. */
export const titleOf = (type: TrustableFile['type']): string =>
  type === 'configuration' || type === 'custom' || type === 'mcpb' ? type : clientOf(type as ClientType).title;
