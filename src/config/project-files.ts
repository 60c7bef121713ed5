/**
 * Shows what using a project's files would do, before anybody trusts them: the loader's own steps over one reading of the
 * files, with nothing expanded, looked up or run. The hash is of exactly what is shown.
 * @module
 */
import { basename, dirname, resolve } from 'node:path';
import { CLIENT_TYPES, type ClientType, clientOf } from '../clients/importers/clients.ts';
import { countEntries, type ParseBudget, pays } from '../clients/importers/count-entries.ts';
import { importFile, namedFile, type SourceFile } from '../clients/importers/import-file.ts';
import { clientFiles, listClients } from '../clients/importers/list-clients.ts';
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
import { NotTrusted, Snapshot, TooManyFiles } from './project-snapshot.ts';
import { readBy } from './references.ts';
import { resolveConfig, toConfigurationError } from './resolve-config.ts';
import type { ResolvedConfig } from './resolved-config.ts';
import { findSection } from './section.ts';
import { type PlacedEntry, toServerDefinition } from './server-entry.ts';
import { valuesInFiles } from './values-in-files.ts';
import type { World } from './world.ts';

/** A file that came with a project: our own configuration, or that of a client. */
export interface TrustableFile {
  readonly path: string;
  readonly type: 'configuration' | SourceFile['type'];
  /** The folder relative paths in it start from. */
  readonly base: string;
  /** The folder it came with, and which all files that are trusted with it lie in. */
  readonly root: string;
  /** Somebody asked for this very file, wherever it lies or leads to. */
  readonly isNamed?: boolean | undefined;
}

/** How one program reads a file. */
export interface Reading {
  /** Those who read it so. */
  readonly types: readonly TrustableFile['type'][];
  readonly servers: readonly ServerDefinition[];
}

/** What a file would bring. */
export interface FilePreview {
  readonly path: string;
  /** What identifies the file as it is shown here; undefined when it cannot be trusted as it is. */
  readonly hash: string | undefined;
  /** Every file the hash covers, this one first. */
  readonly files: readonly string[];
  /** One for each way in which it may be read; programs that find the same servers in it share one. */
  readonly readings: readonly Reading[];
  /** Files that are programs: what they do is known only once they run. */
  readonly code: readonly string[];
  /** What would be sent elsewhere, beside what servers get. */
  readonly sends: readonly string[];
  /** What is wrong, ignored, or cannot be shown. */
  readonly notes: readonly string[];
  /** What references in the environment of servers stand for, where the project's own hashed files say it. */
  readonly values: ReadonlyMap<string, string>;
  /** It was not looked at, because there was too much else. */
  readonly isPassedOver?: boolean | undefined;
}

/** More servers than are looked at. */
class TooManyServers extends ConfigurationError {}

/** Every file in this folder and its parents that counts only once it is trusted, our own first. */
export function findTrustableFiles(world: World): readonly TrustableFile[] {
  const own = findCandidates(world).filter(({ place }) => place === 'project');
  const files = new Map<string, TrustableFile>(own.map((candidate) => [candidate.path, ownFile(candidate)]));
  for (const { type, files: candidates } of listClients(world)) {
    for (const { path, scope, exists, root } of candidates) {
      if (scope === 'project' && exists && !files.has(path))
        files.set(path, { path, type, base: root ?? dirname(path), root: root ?? dirname(path) });
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

/** What kind of file somebody named: one of those above, else one that lies where a client has it, else our own. */
export function trustableFileAt(path: string, world: World): TrustableFile {
  const known = findTrustableFiles(world).find((file) => file.path === path);
  if (known !== undefined) return known;
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

/** Every client that has a project's file of this name, the one that `auto` lets read it first. */
function clientsOf(path: string, world: World): readonly ClientType[] {
  const there = { ...world, cwd: dirname(path) };
  return CLIENT_TYPES.filter(
    (type) =>
      namedFile(type, path, world).root !== undefined ||
      clientFiles(clientOf(type), there).some((file) => file.exists && file.scope === 'project' && file.path === path),
  );
}

/**
 * Looks into a file without using it.
 * @param from what was read of it before, so that a yes is about the very same bytes
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
  /** Data that programs name; a configuration among it brings what it names. */
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
    const { path, type } = this.#file;
    try {
      // A bundle is a folder, or a file that is no text: its importer knows where its manifest is.
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
    return {
      path,
      hash: this.#refused ? undefined : this.#files.hashOf(path, others),
      files: [path, ...others],
      readings: this.#readings,
      code: [...this.#code],
      sends: this.#sends,
      values: valuesInFiles(this.#readings, this.#files, this.#world),
      notes: [...this.#notes],
      ...(this.#passedOver && { isPassedOver: true }),
    };
  }

  #refuseMany(): void {
    this.#refuseCount(Math.max(0, ...this.#readings.map(({ servers }) => servers.length)));
  }

  #refuseCount(count: number): void {
    if (count > LIMITS.files.servers) {
      throw new TooManyServers(
        `${this.#file.path} has ${count} servers, more than the ${LIMITS.files.servers} that can be trusted at once.`,
      );
    }
  }

  /** A text that is about to be parsed, which is paid for once. */
  #text(path: string): string | undefined {
    const text = this.#files.text(path);
    if (text === undefined || this.#paid.has(path)) return text;
    if (!pays(this.#budget, path, text)) {
      // Whoever asked for it may live without it; nobody trusts what was not shown.
      this.#refused = true;
      this.#passedOver = true;
      throw new TooMuch(path);
    }
    this.#paid.add(path);
    return text;
  }

  /**
   * As the loader does it, up to the point where something would run.
   * @param isGuess whether the file may be something else; then nothing is said of what is wrong with it
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
      // A file that is not called as ours are may be one that a source names.
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

  /** Every entry as it stands, so that none hides behind another of its name. */
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
        throw new ConfigurationError(`extends ${path}, your own configuration: its servers would be used here, too.`);
      },
      onCode: (path) => this.#programs(path),
      folder: this.#file.base,
      isTrusted: async () => true,
      isTrustedProject: async () => true,
      isTrustedFolder: async () => true,
    };
  }

  /** A program, and everything that it visibly loads or names. What it does beyond that is refused when it runs. */
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
      // Of what is outside nothing is read, and a program that needs it will not run.
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

/** What ends the look at a file, rather than being a note about it. */
const isFinal = (error: unknown): boolean =>
  error instanceof TooManyFiles ||
  error instanceof TooMuch ||
  error instanceof TooManyServers ||
  !(error instanceof ConfigurationError);

const toDefinition = (placed: PlacedEntry): ServerDefinition | undefined => toServerDefinition(placed);

/** What two readings have to share to be shown once. */
const shape = (servers: readonly ServerDefinition[]): unknown =>
  servers.map(({ name, enabled, connection }) => [name, enabled, connection]);

/** The client whose file this is, for people. */
export const titleOf = (type: TrustableFile['type']): string =>
  type === 'configuration' || type === 'custom' || type === 'mcpb' ? type : clientOf(type as ClientType).title;
