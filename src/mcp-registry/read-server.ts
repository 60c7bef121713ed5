/**
 * Reads a `server.json` of any version of its schema. Never throws: what cannot be used is left out with a note, and a
 * document without a usable name gives the reason as a text.
 *
 * Prose loses what is hidden in it. A value that becomes part of a command line or an address is never changed; one that
 * has something hidden in it makes its package or remote unusable.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';
import { isPlain, oneLine } from '../text/plain-text.ts';
import type {
  NamedInput,
  PostInstall,
  RegistryArgument,
  RegistryInput,
  RegistryPackage,
  RegistryRemote,
  RegistryServer,
  RegistryTransport,
} from './registry-server.ts';

type Raw = Readonly<Record<string, unknown>>;

const NAME = /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/;
const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const FLAG = /^-{0,2}[A-Za-z0-9][A-Za-z0-9._-]{0,127}=?$/;
/** Names of the same thing in earlier versions of the schema. */
const EARLIER: Readonly<Record<string, readonly string[]>> = {
  registryType: ['registry_name'],
  identifier: ['name'],
  type: ['transport_type'],
};
const TYPES: Readonly<Record<string, string>> = { docker: 'oci', 'docker-hub': 'oci', dockerhub: 'oci', dxt: 'mcpb' };
const TRANSPORTS: Readonly<Record<string, RegistryTransport>> = {
  stdio: 'stdio',
  'streamable-http': 'streamable-http',
  streamable: 'streamable-http',
  http: 'streamable-http',
  sse: 'sse',
};

/** A part of a document that cannot be used. The message says why. */
class Unusable extends Error {}

/** Tells whether a text is a name that the schema allows. */
export const isRegistryName = (name: unknown): name is string =>
  typeof name === 'string' && name.length >= 3 && name.length <= LIMITS.registry.name && NAME.test(name);

/** Returns the server, or the reason why the document cannot be used. */
export function readServer(raw: unknown): RegistryServer | string {
  if (!isObject(raw)) return 'an entry is not an object';
  const { name } = raw;
  if (typeof name !== 'string') return 'an entry has no name';
  if (!isRegistryName(name)) return `${JSON.stringify(oneLine(name, 60))} is not a name that the schema allows`;
  const notes: string[] = [];
  try {
    return {
      name,
      title: prose(raw.title, LIMITS.text.title),
      description: prose(raw.description, LIMITS.registry.description) ?? '',
      version: versionOf(raw),
      websiteUrl: webAddress(field(raw, 'websiteUrl')),
      repository: repositoryOf(raw.repository),
      packages: usable(raw.packages, 'package', readPackage, notes),
      remotes: usable(raw.remotes, 'remote', readRemote, notes),
      notes,
    };
  } catch (error) {
    if (error instanceof Unusable) return `${name}: ${error.message}`;
    throw error;
  }
}

/** Returns a field in today's spelling, with underscores, or by an earlier name. */
function field(raw: Raw, key: string): unknown {
  const snake = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  for (const name of [key, snake, ...(EARLIER[key] ?? [])])
    if (raw[name] !== undefined && raw[name] !== null) return raw[name];
  return undefined;
}

/** Text for people: on one line, nothing hidden. */
function prose(value: unknown, most: number = LIMITS.registry.value): string | undefined {
  const text = typeof value === 'string' ? oneLine(value, most) : '';
  return text === '' ? undefined : text;
}

/** Text that is used as it is. */
function exact(value: unknown, what: string, most: number = LIMITS.registry.value): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') throw new Unusable(`${what} is not a text`);
  if (value.length > most) throw new Unusable(`${what} has more than ${most} characters`);
  if (/[\r\n\0]/.test(value) || !isPlain(value)) throw new Unusable(`${what} has hidden characters`);
  return value;
}

const required = (value: unknown, what: string, most?: number): string => {
  const text = exact(value, what, most);
  if (text === undefined || text === '') throw new Unusable(`${what} is missing`);
  return text;
};

/** Before 2025-07-09 the version stood one level deeper. */
function versionOf(raw: Raw): string {
  const detail = field(raw, 'versionDetail');
  return required(raw.version ?? (isObject(detail) ? detail.version : undefined), 'version', LIMITS.registry.version);
}

/** An address to show. One with a password, or of another kind, is left out. */
function webAddress(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > LIMITS.registry.value || !isPlain(value) || !URL.canParse(value))
    return undefined;
  const { protocol, username, password, href } = new URL(value);
  return /^https?:$/.test(protocol) && username + password === '' ? href : undefined;
}

function repositoryOf(raw: unknown): RegistryServer['repository'] {
  const url = isObject(raw) ? webAddress(raw.url) : undefined;
  return url === undefined || !isObject(raw) ? undefined : { url, subfolder: prose(raw.subfolder, LIMITS.text.path) };
}

const listOf = (raw: unknown): readonly unknown[] => (Array.isArray(raw) ? raw : []);

/** Reads the parts that can be used, and notes the others. */
function usable<T>(raw: unknown, what: string, read: (raw: Raw) => T, notes: string[]): T[] {
  const list = listOf(raw);
  if (list.length > LIMITS.registry.list)
    notes.push(`only the first ${LIMITS.registry.list} of ${list.length} ${what}s were read`);
  return list.slice(0, LIMITS.registry.list).flatMap((one, at) => {
    try {
      if (!isObject(one)) throw new Unusable('it is not an object');
      return [read(one)];
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      notes.push(`${what} ${at + 1} cannot be used: ${error.message}`);
      return [];
    }
  });
}

/** Reads all parts; one that cannot be used makes the whole unusable. */
function all<T>(raw: unknown, what: string, read: (raw: Raw) => T): T[] {
  const list = listOf(raw);
  if (list.length > LIMITS.registry.list) throw new Unusable(`it has more than ${LIMITS.registry.list} ${what}s`);
  return list.map((one) => {
    if (!isObject(one)) throw new Unusable(`${what} is not an object`);
    return read(one);
  });
}

function readRemote(raw: Raw): RegistryRemote {
  const type = transportOf(raw, undefined);
  if (type === 'stdio') throw new Unusable('its type is stdio');
  const headers = all(raw.headers, 'header', (one) => readNamed(one, HEADER));
  return { type, url: addressTemplate(raw.url), variables: variablesOf(raw.variables), headers };
}

function readPackage(raw: Raw): RegistryPackage {
  const named = required(field(raw, 'registryType'), 'registryType', 64).toLowerCase();
  const transport = isObject(raw.transport) ? raw.transport : {};
  const type = transportOf(transport, 'stdio');
  const parts = (key: string) => all(field(raw, key), 'argument', readArgument);
  return {
    registryType: Object.hasOwn(TYPES, named) ? (TYPES[named] as string) : named,
    identifier: required(field(raw, 'identifier'), 'identifier', 1_000),
    version: exact(raw.version, 'version', LIMITS.registry.version),
    registryBaseUrl: exact(field(raw, 'registryBaseUrl'), 'registryBaseUrl'),
    fileSha256: exact(field(raw, 'fileSha256'), 'fileSha256', 64)?.toLowerCase(),
    runtimeHint: exact(field(raw, 'runtimeHint'), 'runtimeHint', 64),
    transport: { type, url: type === 'stdio' ? undefined : addressTemplate(transport.url) },
    runtimeArguments: parts('runtimeArguments'),
    packageArguments: parts('packageArguments'),
    environmentVariables: all(field(raw, 'environmentVariables'), 'variable', (one) => readNamed(one, VARIABLE)),
    postInstall: listOf(field(raw, 'postInstallInstructions')).slice(0, LIMITS.registry.list).flatMap(readPostInstall),
  };
}

function transportOf(raw: Raw, fallback: RegistryTransport | undefined): RegistryTransport {
  const named = field(raw, 'type') ?? fallback;
  const type = typeof named === 'string' && Object.hasOwn(TRANSPORTS, named) ? TRANSPORTS[named] : undefined;
  if (type === undefined) throw new Unusable(`its transport ${JSON.stringify(oneLine(String(named), 40))} is unknown`);
  return type;
}

/** An address may begin with a variable, and is checked again when its variables are known. */
function addressTemplate(value: unknown): string {
  const url = required(value, 'url');
  if (!/^(?:https?:\/\/|\{)/i.test(url) || /\s/.test(url)) throw new Unusable('its url is not an http address');
  return url;
}

function readInput(raw: Raw): RegistryInput {
  const format = raw.format;
  return {
    value: exact(raw.value, 'value'),
    default: exact(raw.default, 'default'),
    description: prose(raw.description),
    placeholder: prose(raw.placeholder, LIMITS.text.title),
    isRequired: field(raw, 'isRequired') === true,
    isSecret: field(raw, 'isSecret') === true,
    format: format === 'number' || format === 'boolean' || format === 'filepath' ? format : 'string',
    choices: listOf(raw.choices)
      .slice(0, LIMITS.registry.list)
      .flatMap((choice) => exact(choice, 'choice') ?? []),
    variables: variablesOf(raw.variables),
  };
}

function readNamed(raw: Raw, allowed: RegExp): NamedInput {
  const name = required(raw.name, 'name', 128);
  if (!allowed.test(name)) throw new Unusable(`${JSON.stringify(name)} is not a usable name`);
  return { name, ...readInput(raw) };
}

/** Variables have no variables of their own. */
function variablesOf(raw: unknown): NamedInput[] {
  if (!isObject(raw)) return [];
  const named = Object.entries(raw);
  if (named.length > LIMITS.registry.list) throw new Unusable(`it has more than ${LIMITS.registry.list} variables`);
  return named.map(([name, input]) =>
    readNamed({ ...(isObject(input) ? input : {}), name, variables: undefined }, VARIABLE),
  );
}

function readArgument(raw: Raw): RegistryArgument {
  const isNamed = raw.type === 'named';
  const flag = isNamed ? required(raw.name, 'name', 128) : undefined;
  if (flag !== undefined && !FLAG.test(flag)) throw new Unusable(`${JSON.stringify(flag)} is not a usable option`);
  return {
    ...readInput(raw),
    flag,
    valueHint: prose(field(raw, 'valueHint'), 128),
    isRepeated: field(raw, 'isRepeated') === true,
  };
}

function readPostInstall(raw: unknown): PostInstall[] {
  if (!isObject(raw)) return [];
  const [description, command] = [prose(raw.description), prose(raw.command)];
  if (description === undefined && command === undefined) return [];
  const documentation = webAddress(raw.documentation);
  return [{ description: description ?? '', command, documentation, optional: raw.optional === true }];
}
