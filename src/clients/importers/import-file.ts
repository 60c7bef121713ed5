/**
 * One file in, the servers in it out. A missing, damaged or untrusted file is a status and a message; it never stops the
 * rest, and nothing of it is used. Files are only read and parsed.
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
  /** Each with the file, the path inside it and the client it came from. */
  readonly entries: readonly PlacedEntry[];
  /** Entries of the user's that a project's file of the same client hides. */
  readonly hidden?: readonly PlacedEntry[] | undefined;
  readonly warnings: readonly string[];
  /** What was passed over on purpose, such as the entry that starts this gateway. */
  readonly skipped: readonly string[];
}

/** What importing needs to know beside the file itself. */
export interface ImportContext {
  readonly world: World;
  /** The folder relative paths start from. */
  readonly base: string;
  /** The configuration that names the file came with a project. */
  readonly project?: boolean | undefined;
  /** Where servers of a file that was named start if they have no `cwd`. Default: the user's home. */
  readonly folder?: string | undefined;
  /** Whether the content of a file that was named may be used. */
  readonly isTrusted: (path: string, text: string) => Promise<boolean>;
  /** The same of a file that was found in a project; a person is asked about it only where that is worth it. */
  readonly isTrustedProject: (path: string, text: string, isWorthAsking?: () => Promise<boolean>) => Promise<boolean>;
  /** Reads what came with a project once, whoever asks. Default: from disk. */
  readonly read?: ((path: string, isProjects?: boolean) => Promise<string | undefined>) | undefined;
  /** What ties files that entries of a project name to what was trusted. Default: nothing does. */
  readonly pinsOf?: ((file: SourceFile) => Pins | undefined) | undefined;
  /** How much may still be parsed of files that nobody trusts. */
  readonly budget?: ParseBudget | undefined;
  /** A file with more servers is refused before they are looked at. Default: none is. */
  readonly maxServers?: number | undefined;
}

/** A file to import. */
export interface SourceFile {
  readonly type: Exclude<SourceType, 'auto'>;
  readonly path: string;
  /** Undefined for a file that the configuration names and that is not where the client has the user's own. */
  readonly scope?: FileScope | undefined;
  /** The folder of the project it belongs to. */
  readonly root?: string | undefined;
}

/** Reads one file. */
export async function importFile(file: SourceFile, context: ImportContext): Promise<ImportedSource> {
  const { type, path, scope } = file;
  try {
    const pins = context.pinsOf?.(file);
    const { text, place, notes, count, convert } = await read(file, { ...context, pins });
    // A client's file without servers starts nothing, so nobody need be asked about it.
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
      throw new ConfigurationError(`${path} has ${servers} servers, more than the ${maxServers} that are looked at.`);
    const imported = await convert();
    if (typeof imported === 'string') return failed(file, 'error', `${path} holds no servers: ${imported}.`);
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

/** Nothing in the file is quoted, for an agent may read this, and no name that a stranger chose. */
function untrusted(file: SourceFile, place: string): ImportedSource {
  const named = isFreelyNamed(file) || !isPlain(place) ? '' : ` ${shellWord(place)}`;
  return failed(
    file,
    'untrusted',
    `${placeOf(file, place)} came with this project and is not trusted, so its servers are not used. Look at it, then run \`anygpt mcp trust${named}\`.`,
  );
}

/** Whether whoever made the project chose the file's name: some clients read every file of a folder. */
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

/** The user's own files and an administrator's need no trust, whoever names them. */
const isOwn = ({ scope }: SourceFile): boolean => scope === 'user' || scope === 'system';

/** A project's file, or the copy kept of one: naming it does not say that it is still what a person saw. */
const needsTrust = ({ type, path, scope }: SourceFile): boolean =>
  scope === 'project' || (scope === undefined && type !== 'custom' && type !== 'mcpb' && path.endsWith(TAKEN_OVER));

/** A source that gave nothing, and why. */
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

/** A file that was read, and how to understand it. */
interface ReadFile {
  readonly text: string;
  /** The file the text is in, which is what a person trusts. */
  readonly place: string;
  /** Filled while the text is parsed. */
  readonly notes: readonly string[];
  /** How many servers there seem to be, found out cheaply; undefined when that is not known. */
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
      `${path}${found?.excerpt ? '' : `:${line}`}: ${JSON.stringify(key.slice(0, 100))} is written twice, the last one counts.`;
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
  // Bundles are rare, and reading them takes a decompressor.
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
 * What the client keeps beside its servers. A file that is not there says nothing. A broken one is an error, but hides
 * no servers of a project that a person has trusted.
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
    return { beside: undefined, notes: [`what is switched off in ${file} is not known: ${why}`] };
  }
}

/** Relative paths in a project's file start at the project, in the user's own at home, where its servers start. */
function relativeTo({ path, scope, root }: SourceFile, { home }: World): string {
  if (root !== undefined) return root;
  return scope === undefined ? dirname(path) : home;
}

/** A file full of nonsense must not drown what else is said. */
const firstFew = (warnings: readonly string[], path: string): readonly string[] =>
  warnings.length <= LIMITS.shown.listed
    ? warnings
    : [
        ...warnings.slice(0, LIMITS.shown.listed),
        `${path}: and ${warnings.length - LIMITS.shown.listed} more like these.`,
      ];

/**
 * A client's file that the configuration names. One that lies where the client has the user's own is that; one that lies
 * where projects have it belongs to that project.
 */
export function namedFile(type: Exclude<SourceType, 'auto'>, path: string, world: World): SourceFile {
  if (type === 'custom' || type === 'mcpb') return { type, path };
  const client = clientOf(type);
  const scope = ownScope(client, path, world);
  return { type, path, scope, root: scope === undefined ? rootOf(client, path) : undefined };
}

function rootOf({ project = [] }: Client, path: string): string | undefined {
  const kept = path.replace(KEPT_ENDING, '');
  const slashed = kept.replaceAll('\\', '/');
  const ending = project.find((relative) => !relative.includes('*') && slashed.endsWith(`/${relative}`));
  return ending === undefined ? undefined : kept.slice(0, -ending.length - 1) || '/';
}
