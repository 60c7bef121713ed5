/**
 * Builds the configuration entry of a server to add, with everything a person should see before it is written.
 * Starts nothing and writes nothing.
 * @module
 */
import { toServer } from '../../clients/importers/client-entry.ts';
import { PLAIN } from '../../clients/importers/dialect.ts';
import { toImported } from '../../clients/importers/imported-entry.ts';
import { isReference, referencesIn } from '../../config/references.ts';
import type { ServerEntry } from '../../config/server-schema.ts';
import type { World } from '../../config/world.ts';
import { DiscoveryError } from '../../core/errors.ts';
import {
  isLocal,
  namedTextsOf,
  type TransportType,
  transportParts,
  type WrittenConnection,
} from '../../core/transport-parts.ts';
import { isObject } from '../../json/plain-object.ts';
import { type ConnectionWay, waysOf } from '../../mcp-registry/connection-ways.ts';
import { latestNpmVersion, npmRegistryOf } from '../../mcp-registry/npm-version.ts';
import { type PostInstall, publisherOf, type RegistryServer } from '../../mcp-registry/registry-server.ts';
import { type AskedInput, inputsOf, type ResolvedWay, resolveWay } from '../../mcp-registry/resolve-way.ts';
import { literalSecrets } from '../../secrets/literal-secrets.ts';
import type { Values } from '../command.ts';
import type { Io } from '../io.ts';
import { hasCommand, type RegistrySession } from '../open-registries.ts';
import { UsageError } from '../usage-error.ts';
import { type OpenBundle, openBundle } from './bundle.ts';
import {
  type KeptSecret,
  keptSecret,
  referenceTo,
  type Without,
  withoutSecrets,
  withReferences,
} from './kept-secrets.ts';
import { answersOf, environmentOf, headersOf, type Pair, suggestedName, type Target } from './target.ts';

/** An entry that may be added. */
export interface Addition {
  readonly entry: { readonly name: string } & Readonly<Record<string, unknown>>;
  readonly connection: WrittenConnection;
  /** The command line that a person has to run, if the gateway does not start the server. */
  readonly startsApart?: readonly string[] | undefined;
  readonly secrets: readonly KeptSecret[];
  readonly warnings: readonly string[];
  readonly postInstall: readonly PostInstall[];
  readonly notes: readonly string[];
  /** The bundle that has to be unpacked before it can run, and discarded in any case. */
  readonly bundle?: OpenBundle | undefined;
  /** The registry or package it comes from; undefined if the command line gives the whole entry. */
  readonly from?:
    | {
        readonly name: string;
        readonly version: string;
        /** The registry; undefined for a package that was named directly. */
        readonly registry?: string | undefined;
        readonly publisher?: string | undefined;
        readonly way: string;
        /** The bundle that was downloaded, and the folder it is unpacked into. */
        readonly bundle?: { readonly url: string; readonly sha256: string; readonly folder: string } | undefined;
        readonly otherWays: readonly string[];
      }
    | undefined;
}

/** The environment of `additionOf`. */
interface AddContext {
  readonly values: Values;
  readonly io: Io;
  readonly world: World;
  readonly session: RegistrySession;
  /**
   * Asks a person for an input of a command line or address; undefined if there is no terminal. Resolves with undefined
   * after Ctrl-C.
   */
  readonly ask: ((input: AskedInput, words: readonly string[]) => Promise<string | undefined>) | undefined;
}

/** Builds the addition. Throws if the server does not exist, cannot be used, or needs an answer that is missing. */
export async function additionOf(target: Target, context: AddContext): Promise<Addition> {
  const { values } = context;
  const name = target.name ?? suggestedName(target);
  if (name === '') throw new UsageError('Give the server a name with --name');
  if (target.kind === 'registry' || target.kind === 'npm') return fromRegistry(target, name, context);
  const { entry, notes } = written(target, name, context);
  if (answersOf(values).length > 0) throw new UsageError('--set is for servers of a registry');
  const { connection } = entry;
  if (connection === undefined) throw new UsageError('The server has neither a command nor a url');
  const pairs = isLocal(connection) ? environmentOf(values) : headersOf(values);
  refuseOther(values, isLocal(connection));
  const secrets: KeptSecret[] = [];
  const given = { ...namedTextsOf(connection), ...Object.fromEntries(pairs) };
  const without: Without = (text, key, place) => withReferences(text, key, place, name, secrets, context);
  const full = withNamed(withoutSecrets(connection, given, without));
  return {
    entry: { ...entry, connection: full },
    connection: full,
    secrets,
    warnings: [],
    postInstall: [],
    notes,
  };
}

function refuseOther(values: Values, local: boolean): void {
  if (local && values.header !== undefined) throw new UsageError('--header is for servers at an address');
  if (!local && values.env !== undefined) throw new UsageError('--env is for servers that are started here');
  const transport = values.transport as TransportType | undefined;
  if (transport !== undefined && transportParts(transport).isLocal !== local)
    throw new UsageError(`--transport ${transport} does not fit ${local ? 'a command' : 'an address'}`);
  if (values.way !== undefined) throw new UsageError('--way is for servers of a registry');
}

/** Converts what a person wrote to an entry. */
function written(
  target: Exclude<Target, { kind: 'registry' | 'npm' }>,
  name: string,
  { world, values }: AddContext,
): { readonly entry: ServerEntry; readonly notes: readonly string[] } {
  const raw =
    target.kind === 'command'
      ? { command: target.words[0], args: target.words.slice(1) }
      : target.kind === 'url'
        ? { url: target.url, type: values.transport ?? 'http' }
        : entryIn(target.raw);
  const { name: _name, ...own } = raw as Record<string, unknown>;
  const imported = isObject(own.connection)
    ? toImported(name, own, 'the server')
    : toServer(name, raw, 'the server', { world, folder: world.cwd, dialect: PLAIN });
  const [found] = imported.entries;
  if (found === undefined)
    throw new UsageError([...imported.problems, ...imported.skipped].join('; ') || 'The server cannot be used');
  const { enabled, ...entry } = found.entry;
  return { entry: withoutUndefined(enabled === false ? { ...entry, enabled } : entry), notes: imported.notes };
}

/** The only server of a client's document, or the entry itself. */
function entryIn(raw: Readonly<Record<string, unknown>>): unknown {
  const map = [raw.mcpServers, raw.servers].find(isObject);
  if (map === undefined) return raw;
  const entries = Object.entries(map);
  if (entries.length !== 1) throw new UsageError('Add one server at a time');
  return entries[0]?.[1];
}

const withoutUndefined = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** Leaves an empty map of variables or headers out. */
function withNamed(connection: WrittenConnection): WrittenConnection {
  if (Object.keys(namedTextsOf(connection)).length > 0) return connection;
  const {
    env: _env,
    headers: _headers,
    ...rest
  } = connection as WrittenConnection & { env?: object; headers?: object };
  return rest as WrittenConnection;
}

type FromRegistry = Extract<Target, { kind: 'registry' | 'npm' }>;

async function fromRegistry(target: FromRegistry, name: string, context: AddContext): Promise<Addition> {
  const { values, io, world, session } = context;
  const { server, registry, isLocal: isLocalRegistry = false, notes } = await serverOf(target, context);
  const ways = waysOf(server, { hasCommand: hasCommand(io), isLocalRegistry });
  const chosen = chosenWay(ways, server.name, values);
  const given = new Set(answersOf(values).map(([id]) => id));
  if (chosen.bundle !== undefined && session.offline) throw new UsageError('--offline downloads no bundle');
  const { signal } = session;
  const around = { world, isLocalRegistry, hasCommand: hasCommand(io), answered: given, signal };
  const bundle = chosen.bundle && (await openBundle(chosen, around));
  try {
    return await resolvedAddition(bundle?.way ?? chosen, { server, registry, notes }, ways, name, bundle, context);
  } catch (error) {
    await bundle?.discard();
    throw error;
  }
}

async function resolvedAddition(
  usable: ConnectionWay,
  { server, registry, notes }: FoundServer,
  ways: readonly ConnectionWay[],
  name: string,
  bundle: OpenBundle | undefined,
  context: AddContext,
): Promise<Addition> {
  const way = withExtras(usable, context.values);
  const { connection, resolved, secrets, notes: said } = await answered(way, name, context);
  const label = `${server.name}@${server.version}`;
  return {
    entry: { name, connection, ...(registry !== undefined && { registry: label }) },
    connection,
    ...(resolved.startsApart && { startsApart: resolved.words }),
    secrets,
    warnings: [
      ...way.warnings,
      ...(way.runtime !== undefined && !way.isAvailable ? [`${way.runtime} is not on this machine`] : []),
    ],
    postInstall: way.postInstall,
    notes: [...notes, ...server.notes, ...said],
    bundle,
    from: {
      name: server.name,
      version: server.version,
      registry,
      publisher: registry === undefined ? undefined : publisherOf(server.name),
      way: way.id,
      ...(bundle && way.bundle && { bundle: { ...way.bundle, folder: bundle.folder } }),
      otherWays: ways.filter((one) => one.id !== way.id && one.problem === undefined).map(({ id }) => id),
    },
  };
}

interface FoundServer {
  readonly server: RegistryServer;
  readonly registry?: string | undefined;
  readonly isLocal?: boolean | undefined;
  readonly notes: readonly string[];
}

async function serverOf({ kind, of, version }: FromRegistry, { io, session }: AddContext): Promise<FoundServer> {
  const { registries, offline, signal, onProgress, progress } = session;
  if (kind === 'registry') {
    const { entry, registry, isLocal, notes } = await registries.show(of, { version, offline, signal, onProgress });
    progress.clear();
    const deprecated = entry.message === undefined ? 'It is deprecated.' : `It is deprecated: ${entry.message}`;
    return {
      server: entry.server,
      registry,
      isLocal,
      notes: entry.status === 'deprecated' ? [...notes, deprecated] : notes,
    };
  }
  if (version === undefined && offline) throw new UsageError(`--offline needs a version: npm:${of}@VERSION`);
  const pinned = version ?? (await latestNpmVersion(of, npmRegistryOf(io.env), signal));
  const nothing = { runtimeArguments: [], packageArguments: [], environmentVariables: [], postInstall: [] };
  const pack = {
    registryType: 'npm',
    identifier: of,
    version: pinned,
    transport: { type: 'stdio' as const },
    ...nothing,
  };
  return {
    server: { name: of, version: pinned, description: '', packages: [pack], remotes: [], notes: [] },
    notes: [],
  };
}

function chosenWay(ways: readonly ConnectionWay[], server: string, values: Values): ConnectionWay {
  const [wanted, transport] = [values.way as string | undefined, values.transport as string | undefined];
  const fitting = ways.filter((way) => transport === undefined || way.transport === transport);
  const usable = fitting.filter(({ problem }) => problem === undefined);
  const way = wanted === undefined ? (usable[0] ?? fitting[0]) : ways.find(({ id }) => id === wanted);
  if (way === undefined && wanted !== undefined)
    throw new UsageError(`There is no way "${wanted}". Ways: ${ways.map(({ id }) => id).join(', ') || 'none'}`);
  const why =
    way === undefined
      ? `the registry lists no way to use it${transport === undefined ? '' : ` with the transport ${transport}`}`
      : way.problem;
  if (way === undefined || why !== undefined)
    throw new DiscoveryError('CONFIGURATION_ERROR', `${server} cannot be added: ${why}.`);
  return way;
}

/** Variables and headers that a person gives although the registry does not ask for them. */
function withExtras(way: ConnectionWay, values: Values): ConnectionWay {
  const local = way.words.length > 0;
  if (!local && values.env !== undefined) throw new UsageError(`--env does not fit ${way.label}; use --header`);
  if (local && values.header !== undefined) throw new UsageError(`--header does not fit ${way.label}; use --env`);
  const extra = (pairs: readonly Pair[], known: ConnectionWay['environment']) => [
    ...known,
    ...pairs
      .filter(([name]) => !known.some((input) => input.name === name))
      .map(([name, value]) => ({
        ...{ name, isRequired: true, format: 'string' as const, choices: [], variables: [] },
        isSecret: literalSecrets(value, name, !local).length > 0,
      })),
  ];
  return {
    ...way,
    environment: extra(environmentOf(values), way.environment),
    headers: extra(headersOf(values), way.headers),
  };
}

interface Answered {
  readonly connection: WrittenConnection;
  readonly resolved: ResolvedWay;
  readonly secrets: readonly KeptSecret[];
  readonly notes: readonly string[];
}

async function answered(way: ConnectionWay, server: string, context: AddContext): Promise<Answered> {
  const { values, io, ask } = context;
  const pairs = [...environmentOf(values), ...headersOf(values), ...answersOf(values)];
  const ids = inputsOf(way).map(({ id }) => id);
  const unknown = answersOf(values).find(([id]) => !ids.includes(id));
  if (unknown !== undefined)
    throw new UsageError(`It does not ask for "${unknown[0]}". It asks for: ${ids.join(', ') || 'nothing'}`);
  const answers = new Map<string, string[]>();
  for (const [id, value] of pairs) answers.set(id, [...(answers.get(id) ?? []), value]);
  const first = resolveWay(way, server, Object.fromEntries(answers));
  for (const input of inputsOf(way)) {
    const isUnset = !input.isSecret || io.env[first.secrets[input.id] ?? ''] === undefined;
    if (!first.missing.includes(input.id) || ask === undefined || !isUnset) continue;
    const answer = await ask(input, first.words);
    if (answer === undefined) throw new DiscoveryError('CANCELLED', 'Nothing was written.');
    if (answer !== '') answers.set(input.id, [answer]);
  }
  // A variable or header that a person wrote with references, for an input that is the whole text.
  const whole = [...way.environment, ...way.headers].filter((input) => input.value === undefined);
  const own = new Map(
    [...environmentOf(values), ...headersOf(values)].filter(
      ([name, value]) => referencesIn(value).length > 0 && whole.some((input) => input.name === name),
    ),
  );
  const secrets = new Map<string, KeptSecret>();
  const given = Object.fromEntries(answers);
  for (const [id, variable] of Object.entries(resolveWay(way, server, given).secrets)) {
    const [value] = answers.get(id) ?? [];
    if (value === undefined) secrets.set(variable, { variable });
    else if (isReference(value) || own.has(id))
      secrets.set(variable, { variable: referencesIn(value)[0]?.name ?? variable, written: value });
    else secrets.set(variable, keptSecret(variable, value, server, secrets.values(), context));
  }
  const resolved = resolveWay(way, server, given, (variable) => referenceTo(secrets.get(variable) ?? { variable }));
  if (resolved.wrong.length > 0) throw new UsageError(resolved.wrong.join('; '));
  if (resolved.connection === undefined) {
    const inputs = inputsOf(way).filter(({ id, isSecret }) => resolved.missing.includes(id) && !isSecret);
    throw new UsageError(`Answers are missing: ${inputs.map(howToAnswer).join(', ')}`);
  }
  const more: KeptSecret[] = [];
  const connection = withOwnReferences(resolved.connection, own, (text, key, place) =>
    withReferences(text, key, place, server, more, context),
  );
  const known = [...secrets.values()];
  const further = more.filter(({ variable, kept }) => kept || known.every((one) => one.variable !== variable));
  return { connection, resolved, secrets: [...known, ...further], notes: literalNotes(values, first.secrets) };
}

const howToAnswer = ({ id, where }: AskedInput): string =>
  where === 'environment' ? `--env ${id}=…` : where === 'header' ? `--header "${id}: …"` : `--set ${id}=…`;

/** Keeps references that a person wrote in a variable or header. */
function withOwnReferences(
  connection: WrittenConnection,
  own: ReadonlyMap<string, string>,
  without: Without,
): WrittenConnection {
  if (own.size === 0) return connection;
  const place = isLocal(connection) ? 'variable' : 'header';
  const written = [...own].map(([name, text]) => [name, without(text, name, place)]);
  const texts = { ...namedTextsOf(connection), ...Object.fromEntries(written) };
  return isLocal(connection) ? { ...connection, env: texts } : { ...connection, headers: texts };
}

/** Answers are literal texts, except for a secret that is one reference. */
const literalNotes = (values: Values, secrets: ResolvedWay['secrets']): string[] =>
  answersOf(values)
    .filter(([id, value]) => referencesIn(value).length > 0 && !(Object.hasOwn(secrets, id) && isReference(value)))
    .map(([id]) => `\${…} in the answer for "${id}" is passed on as it is written; nothing replaces it.`);
