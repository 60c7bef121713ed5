/**
 * Imports the servers of one file. A missing, damaged or untrusted file results in a status and a message: none of it
 * is used, and other files are not affected. Files are only read and parsed.
 * @module
 */
import { dirname } from 'node:path';
import type { Policy } from '../../config/json-excerpt.ts';
import { KEPT_ENDING, parseData, TAKEN_OVER } from '../../config/parse-data.ts';
import type { Pins } from '../../config/pins.ts';
import { readIfPresent } from '../../config/read-file.ts';
import type { ResolvedSource } from '../../config/resolved-config.ts';
import { type PlacedEntry, withAbsolutePaths } from '../../config/server-entry.ts';
import type { World } from '../../config/world.ts';
import { ConfigurationError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { isPlain, oneLine } from '../../text/plain-text.ts';
import { shellWord } from '../../text/shell-word.ts';
import { type ClientText, readClientText, withoutMark } from './client-text.ts';
import { type Client, clientOf } from './clients.ts';
import { countEntries, type ParseBudget } from './count-entries.ts';
import { fromCustom } from './custom.ts';
import { PLAIN } from './dialect.ts';
import { fromClientDocument } from './import-client-document.ts';
import type { Imported } from './imported-entry.ts';
import type { FileScope } from './list-clients.ts';
import { ownScope } from './own-files.ts';
import { isThere } from './places.ts';
import type { SourceType } from './source-types.ts';
import { onlyMoved } from './taken-over.ts';

/** What a source gave. */
export interface ImportedSource {
  readonly source: ResolvedSource;
  /** Each entry with its file, the path inside it, and its client. */
  readonly entries: readonly PlacedEntry[];
  /** The user's entries that are replaced by a project's file of the same client. */
  readonly hidden?: readonly PlacedEntry[] | undefined;
  readonly warnings: readonly string[];
  /** Entries skipped on purpose, such as the entry that starts this gateway. */
  readonly skipped: readonly string[];
}

/** Everything that importing depends on, besides the file. */
export interface ImportContext {
  readonly world: World;
  /** The folder that relative paths start from. */
  readonly base: string;
  /** True if the configuration that names the file belongs to a project. */
  readonly project?: boolean | undefined;
  /** Working folder of servers in a named file that have no `cwd`. Default: the user's home. */
  readonly folder?: string | undefined;
  /** Tells whether the content of a named file may be used. */
  readonly isTrusted: (path: string, text: string) => Promise<boolean>;
  /**
   * Tells whether the content of a file found in a project may be used. Asks the user only if `isWorthAsking` says so.
   */
  readonly isTrustedProject: (path: string, text: string, isWorthAsking?: () => Promise<boolean>) => Promise<boolean>;
  /** Reads a project's file once, however often it is asked for. Default: from disk. */
  readonly read?: ((path: string, isProjects?: boolean) => Promise<string | undefined>) | undefined;
  /** Returns pins for the files that a project's entries name. Default: none. */
  readonly pinsOf?: ((file: SourceFile) => Pins | undefined) | undefined;
  /** How much of untrusted files may still be parsed. */
  readonly budget?: ParseBudget | undefined;
  /** Refuses a file with more servers before converting them. Default: no limit. */
  readonly maxServers?: number | undefined;
}

export interface SourceFile {
  readonly type: Exclude<SourceType, 'auto'>;
  readonly path: string;
  /** Undefined for a named file outside the client's usual places. */
  readonly scope?: FileScope | undefined;
  /** The folder of the project that the file belongs to. */
  readonly root?: string | undefined;
  /** How many files after this one match the same pattern, and are not looked at. */
  readonly more?: number | undefined;
}

export async function importFile(file: SourceFile, context: ImportContext): Promise<ImportedSource> {
  const { type, path, scope } = file;
  try {
    const pins = context.pinsOf?.(file);
    const { text, place, notes, count, convert } = await read(file, { ...context, pins });
    // A client's file without servers starts nothing, so the user is not asked about it.
    const holdsServers = async () => (await count()) !== 0;
    const trusted =
      isOwn(file) ||
      (needsTrust(file)
        ? await context.isTrustedProject(place, text, holdsServers)
        : await context.isTrusted(place, text));
    if (!trusted) return (await holdsServers()) ? untrusted(file, place) : empty(file);
    const { maxServers = Number.POSITIVE_INFINITY } = context;
    const servers = maxServers === Number.POSITIVE_INFINITY ? 0 : ((await count()) ?? 0);
    if (servers > maxServers)
      throw new ConfigurationError(`${path} has ${servers} servers; at most ${maxServers} are shown.`);
    const imported = await convert();
    if (typeof imported === 'string') return failed(file, 'error', `${path} has no servers: ${imported}.`);
    const client = type === 'custom' || type === 'mcpb' ? undefined : type;
    const base = relativeTo(file, context.world);
    const entries = imported.entries.map(({ entry, path: place, filter }) => ({
      entry: withAbsolutePaths(pins?.pinned(entry) ?? entry, base, context.world),
      origin: { file: path, path: place, client },
      filter,
      folder: file.root ?? (scope === undefined ? context.folder : undefined),
      isProjects: !isOwn(file) && (scope === 'project' || context.project === true),
    }));
    const said = [
      ...notes,
      ...imported.problems.map((problem) => `${path}: left out ${problem}.`),
      ...imported.notes.map((note) => `${path}: ${note}.`),
    ];
    return {
      source: { type, path, scope, status: 'ok', serverCount: entries.length },
      entries,
      warnings: firstFew(said, path),
      skipped: imported.skipped.map((reason) => `${path}: ${reason}.`),
    };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (isFreelyNamed(file) && (error instanceof ConfigurationError || typeof code === 'string'))
      return failed(file, 'error', `${placeOf(file, path)} cannot be used. \`anygpt mcp trust\` says why.`);
    if (error instanceof ConfigurationError) {
      return failed(file, error instanceof MissingFile ? 'missing' : 'error', error.message);
    }
    if (typeof code === 'string') return failed(file, 'error', `${path} cannot be read (${code}).`);
    throw error;
  }
}

/** The message quotes nothing from the file and no untrusted name, because an agent may read it. */
function untrusted(file: SourceFile, place: string): ImportedSource {
  const named = isFreelyNamed(file) || !isPlain(place) ? '' : ` ${shellWord(place)}`;
  return failed(
    file,
    'untrusted',
    `${placeOf(file, place)} came with this project and is not trusted, so its servers are not used. Look at it, then run \`anygpt mcp trust${named}\`.`,
  );
}

/** Tells whether the project's author chose the file's name: some clients read every file of a folder. */
const isFreelyNamed = ({ type, path, scope }: SourceFile): boolean =>
  scope === 'project' &&
  type !== 'custom' &&
  type !== 'mcpb' &&
  !(clientOf(type).project ?? []).some((relative) => path.replaceAll('\\', '/').endsWith(`/${relative}`));

const placeOf = (file: SourceFile, place: string): string =>
  oneLine(isFreelyNamed(file) ? `A file in ${dirname(place)}` : place, LIMITS.text.path);

const empty = ({ type, path, scope }: SourceFile): ImportedSource => ({
  source: { type, path, scope, status: 'ok', serverCount: 0 },
  entries: [],
  warnings: [],
  skipped: [],
});

/** The user's and an administrator's files need no trust, wherever they are named. */
const isOwn = ({ scope }: SourceFile): boolean => scope === 'user' || scope === 'system';

/** A project's file, or a copy of one, needs trust even when named: it may have changed since the user saw it. */
const needsTrust = ({ type, path, scope }: SourceFile): boolean =>
  scope === 'project' || (scope === undefined && type !== 'custom' && type !== 'mcpb' && path.endsWith(TAKEN_OVER));

/** Returns a source without entries, and the reason. */
export const failed = (
  { type, path, scope }: Pick<SourceFile, 'path' | 'scope'> & { readonly type: SourceType },
  status: 'missing' | 'error' | 'untrusted',
  message: string,
): ImportedSource => ({
  source: { type, path, scope, status, message, serverCount: 0 },
  entries: [],
  warnings: [`Source ${type}: ${message}`],
  skipped: [],
});

class MissingFile extends ConfigurationError {}

/** A file that was read, with functions to interpret it. */
interface ReadFile {
  readonly text: string;
  /** The file that contains the text; the user trusts this file. */
  readonly place: string;
  /** Filled while the text is parsed. */
  readonly notes: readonly string[];
  /** Counts the servers cheaply; undefined when the number is unknown. */
  readonly count: () => Promise<number | undefined>;
  readonly convert: () => Promise<Imported | string>;
}

type PinnedContext = ImportContext & { readonly pins: Pins | undefined };

async function read(file: SourceFile, context: PinnedContext): Promise<ReadFile> {
  const { type, path } = file;
  if (type === 'mcpb') return readBundleFile(path, context);
  const found = isOwn(file)
    ? await readClientText(path, excerptOf(type, context.world))
    : await asFound((context.read ?? readIfPresent)(path, needsTrust(file)));
  const text = found === undefined ? undefined : withoutMark(found.text);
  if (text === undefined && isThere(path)) {
    throw new ConfigurationError(`${path} is a symbolic link to a file that does not exist.`);
  }
  if (text === undefined) throw new MissingFile(`${path} was not found.`);
  if (text.trim() === '') throw new ConfigurationError(`${path} is empty, so there are no servers in it.`);
  const notes: string[] = [];
  const onRepeat = (key: string, line: number) => {
    if (notes.push('') > LIMITS.shown.listed) return;
    // Lines of an excerpt are not those of the file.
    notes[notes.length - 1] =
      `${path}${found?.excerpt ? '' : `:${line}`}: ${JSON.stringify(key.slice(0, 100))} is written twice; the last one counts.`;
  };
  const convert = async () => convertDocument({ ...file, type }, await parseData(path, text, onRepeat), context);
  const count = once(async () => (type === 'custom' ? undefined : countEntries(clientOf(type), path, text, context)));
  return { text, place: path, notes, count, convert };
}

const asFound = async (reading: Promise<string | undefined>): Promise<ClientText | undefined> => {
  const text = await reading;
  return text === undefined ? undefined : { text };
};

const once = <T>(work: () => Promise<T>): (() => Promise<T>) => {
  let result: Promise<T> | undefined;
  return () => {
    result ??= work();
    return result;
  };
};

async function readBundleFile(path: string, { world, read }: ImportContext): Promise<ReadFile> {
  // Imported on demand: bundles are rare and need a decompressor.
  const { fromBundle, readBundle } = await import('./mcpb.ts');
  const bundle = await readBundle(path, read);
  if (bundle === undefined) throw new MissingFile(`${path} was not found.`);
  const convert = () => fromBundle(bundle, world);
  return { text: bundle.text, place: bundle.place, notes: [], count: async () => undefined, convert };
}

async function convertDocument(
  file: SourceFile & { readonly type: Exclude<SourceFile['type'], 'mcpb'> },
  document: unknown,
  { world, pins }: PinnedContext,
): Promise<Imported | string> {
  const { type, path, scope, root } = file;
  if (type === 'custom') {
    const context = { world, folder: dirname(path), dialect: PLAIN, pins };
    return fromCustom(document, context) ?? 'expected an object with a `servers` map or list, or a `mcpServers` map';
  }
  const client = clientOf(type);
  const { beside, notes } = await readBeside(client, file, world);
  const about = { document, file: path, scope, root, beside, pins };
  const imported = await onlyMoved(fromClientDocument(client, about, world), client, about, world);
  return typeof imported === 'string' ? imported : { ...imported, notes: [...imported.notes, ...notes] };
}

const excerptOf = (type: SourceFile['type'], world: World): Policy | undefined =>
  type === 'custom' || type === 'mcpb' ? undefined : (clientOf(type) as Client).excerpt?.(world);

interface Beside {
  readonly beside: unknown;
  readonly notes: readonly string[];
}

/**
 * Reads the file with the client's switches. A missing file means no switches. A broken file is an error, except for a
 * trusted project, whose servers it must not hide.
 */
async function readBeside({ switches, excerpt }: Client, { path, scope }: SourceFile, world: World): Promise<Beside> {
  const file = switches?.beside?.(world);
  if (file === undefined || file === path) return { beside: undefined, notes: [] };
  try {
    const { text = '' } = (await readClientText(file, excerpt?.(world))) ?? {};
    const body = withoutMark(text);
    return { beside: body.trim() === '' ? undefined : await parseData(file, body, () => undefined), notes: [] };
  } catch (error) {
    const isFault = error instanceof ConfigurationError || typeof (error as NodeJS.ErrnoException).code === 'string';
    if (!isFault || scope !== 'project') throw error;
    const why = error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
    return { beside: undefined, notes: [`${file} cannot be read, so its switched-off servers are unknown: ${why}`] };
  }
}

/** Relative paths start at the project in a project's file, and at home in the user's file, where its servers start. */
function relativeTo({ path, scope, root }: SourceFile, { home }: World): string {
  if (root !== undefined) return root;
  return scope === undefined ? dirname(path) : home;
}

/** Limits warnings, so that a damaged file does not hide other messages. */
const firstFew = (warnings: readonly string[], path: string): readonly string[] =>
  warnings.length <= LIMITS.shown.listed
    ? warnings
    : [
        ...warnings.slice(0, LIMITS.shown.listed),
        `${path}: and ${warnings.length - LIMITS.shown.listed} more problems like these.`,
      ];

/**
 * Classifies a client's file that the configuration names: the user's own if it is in the client's usual place; a
 * project's if it is where projects have it.
 */
export function namedFile(type: Exclude<SourceType, 'auto'>, path: string, world: World): SourceFile {
  if (type === 'custom' || type === 'mcpb') return { type, path };
  const client = clientOf(type);
  const scope = ownScope(client, path, world);
  return { type, path, scope, root: scope === undefined ? rootOf(client, path) : undefined };
}

function rootOf({ project = [] }: Client, path: string): string | undefined {
  const kept = path.replace(KEPT_ENDING, '');
  const names = kept.split(/[/\\]/);
  for (const pattern of project) {
    const parts = pattern.split('/');
    const last = names.slice(-parts.length);
    if (names.length <= parts.length || !parts.every((part, at) => isNamed(last[at] ?? '', part))) continue;
    return kept.slice(0, -last.join('/').length - 1) || '/';
  }
  return undefined;
}

/** Tells whether a name matches one part of a pattern; `*` stands for any text. */
function isNamed(name: string, part: string): boolean {
  const [start = '', end] = part.split('*');
  if (end === undefined) return name === part;
  return name.length >= part.length && name.startsWith(start) && name.endsWith(end);
}
