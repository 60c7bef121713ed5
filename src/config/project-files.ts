/**
 * Files that came with a project in, what using them would run out: command lines, addresses, names of variables. Files
 * are only read and parsed; code is named and not run.
 * @module
 */
import { basename, dirname } from 'node:path';
import { ConfigurationError } from '../errors.ts';
import type { ServerDefinition } from '../types.ts';
import { type Candidate, findCandidates } from './find-config.ts';
import { fingerprintOf } from './fingerprint.ts';
import { type ClientType, clientOf } from './importers/clients.ts';
import { type ImportContext, importFile, namedFile, type SourceFile } from './importers/import-file.ts';
import { clientFiles, listClients } from './importers/list-clients.ts';
import { joinServers } from './join-servers.ts';
import { isCode, parseData } from './parse-data.ts';
import { expandPath } from './paths.ts';
import { toPathText } from './problems.ts';
import { readIfPresent } from './read-file.ts';
import { readBy } from './references.ts';
import type { DiscoverySection } from './schema.ts';
import { checkSection, findSection } from './section.ts';
import { withAbsolutePaths } from './server-entry.ts';
import type { World } from './world.ts';

/** A file that came with a project: our own configuration, or that of a client. */
export interface TrustableFile {
  readonly path: string;
  readonly type: 'configuration' | SourceFile['type'];
  /** The folder relative paths in it start from. */
  readonly base: string;
}

/** What a file would bring. */
export interface FilePreview {
  readonly path: string;
  /** What identifies the file as it is shown here; undefined when it cannot be read. */
  readonly hash: string | undefined;
  /** Every file the hash covers, this one first. */
  readonly files: readonly string[];
  readonly servers: readonly ServerDefinition[];
  /** Files that are programs: what they do is known only once they run. */
  readonly code: readonly string[];
  /** What is wrong, or cannot be shown. */
  readonly notes: readonly string[];
}

/** A chain of files that extend each other is shown this far. */
const MAX_EXTENDED = 32;

/** Every file in this folder and its parents that counts only once it is trusted, our own first. */
export function findTrustableFiles(world: World): readonly TrustableFile[] {
  const own = findCandidates(world).filter(({ place }) => place === 'project');
  const files = new Map<string, TrustableFile>(own.map((candidate) => [candidate.path, ownFile(candidate)]));
  for (const { type, files: candidates } of listClients(world)) {
    for (const { path, scope, exists, root } of candidates) {
      if (scope === 'project' && exists && !files.has(path))
        files.set(path, { path, type, base: root ?? dirname(path) });
    }
  }
  return [...files.values()];
}

const ownFile = ({ path, base }: Candidate): TrustableFile => ({ path, type: 'configuration', base });

/** What kind of file somebody named: one of those above, else one that lies where a client has it, else our own. */
export function trustableFileAt(path: string, world: World): TrustableFile {
  const known = findTrustableFiles(world).find((file) => file.path === path);
  if (known !== undefined) return known;
  const there = { ...world, cwd: dirname(path) };
  for (const { type } of listClients(there)) {
    if (clientFiles(clientOf(type), there).some((file) => file.exists && file.path === path))
      return { path, type, base: dirname(path) };
    const { root } = namedFile(type, path, world);
    if (root !== undefined) return { path, type, base: root };
  }
  if (basename(path) === 'manifest.json') return { path, type: 'mcpb', base: dirname(path) };
  const folder = dirname(path);
  return { path, type: 'configuration', base: basename(folder) === '.anygpt' ? dirname(folder) : folder };
}

/** Looks into a file without using it. */
export async function previewFile(file: TrustableFile, world: World): Promise<FilePreview> {
  const text = await readOr(file.path);
  const { hash, files } =
    typeof text === 'string' ? await fingerprintOf(file.path, text) : { hash: undefined, files: [file.path] };
  const look = new Look(world);
  await look.at(file);
  const { servers } = joinServers([], look.entries);
  return { path: file.path, hash, files, servers, code: [...look.code], notes: look.notes };
}

async function readOr(path: string): Promise<string | { readonly problem: string }> {
  try {
    return (await readIfPresent(path)) ?? { problem: `${path} was not found.` };
  } catch (error) {
    if (error instanceof ConfigurationError) return { problem: error.message };
    throw error;
  }
}

type Entries = Parameters<typeof joinServers>[1];

/** Collects from a file and those it names. */
class Look {
  readonly entries: Entries[number][] = [];
  readonly code = new Set<string>();
  readonly notes: string[] = [];
  readonly #world: World;
  readonly #seen = new Set<string>();

  constructor(world: World) {
    this.#world = world;
  }

  async at(file: TrustableFile): Promise<void> {
    if (file.type !== 'configuration')
      return this.#client({ ...file, type: file.type, root: file.base, scope: 'project' });
    if (this.#seen.has(file.path) || this.#seen.size >= MAX_EXTENDED) return;
    this.#seen.add(file.path);
    if (isCode(file.path)) {
      this.code.add(file.path);
      return;
    }
    await this.#guarded(async () => {
      const text = await readOr(file.path);
      if (typeof text !== 'string') throw new ConfigurationError(text.problem);
      const section = findSection(await parseData(file.path, text), file.path);
      if (section === undefined) return;
      if (typeof section === 'string') throw new ConfigurationError(`${file.path}: ${section}.`);
      const checked = checkSection(section);
      // A file that is not called as ours are may be one that a source names.
      if (!checked.ok && !/^(?:mcp-discovery|anygpt)\.config\./.test(basename(file.path)))
        return this.#client({ type: 'custom', path: file.path });
      if (!checked.ok) throw new ConfigurationError(`${file.path} cannot be used: ${checked.problems.join('; ')}.`);
      await this.#section(checked.value, section.prefix, file);
    });
  }

  async #section(
    { servers = [], sources = [], extends: below = [], search: { embedder } }: DiscoverySection,
    prefix: string,
    file: TrustableFile,
  ) {
    const { path, base } = file;
    if (embedder) {
      const read = readBy(`${embedder.url ?? ''}${embedder.apiKey ?? ''}`);
      const where = embedder.url ?? `the usual address of ${embedder.type}`;
      const key = read.length === 0 ? '' : ` (reads ${read.join(', ')})`;
      this.notes.push(`Names and descriptions of tools, and every query, would be sent to ${where}${key}.`);
    }
    servers.forEach((entry, index) => {
      const origin = { file: path, path: toPathText(prefix, ['servers', index]) };
      if (entry.connection)
        this.entries.push({ entry: withAbsolutePaths(entry, base, this.#world), origin, folder: base });
    });
    for (const { type, path: written, enabled } of sources) {
      // Those without a path are the user's own, or have to be trusted by themselves.
      if (written === undefined || type === 'auto' || enabled === false) continue;
      await this.#guarded(() => this.#client(namedFile(type, expandPath(written, base, this.#world), this.#world)));
    }
    for (const name of [below].flat()) {
      await this.#guarded(async () => {
        const extended = expandPath(name, dirname(path), this.#world);
        await this.at({ path: extended, type: 'configuration', base: dirname(extended) });
      });
    }
  }

  async #client(file: SourceFile): Promise<void> {
    const { entries, source, warnings } = await importFile(file, importAnything(this.#world, dirname(file.path)));
    this.entries.push(...entries);
    this.notes.push(...(source.status === 'ok' ? warnings : [source.message ?? source.status]));
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      this.notes.push(error.message);
    }
  }
}

/** Reading a file to show what is in it needs nobody's trust. Must not be used for what is to run. */
export const importAnything = (world: World, base: string): ImportContext => ({
  world,
  base,
  isTrusted: async () => true,
  isTrustedProject: async () => true,
});

/** The client whose file this is, for people. */
export const titleOf = (type: TrustableFile['type']): string =>
  type === 'configuration' || type === 'custom' || type === 'mcpb' ? type : clientOf(type as ClientType).title;
