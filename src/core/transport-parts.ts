/**
 * Describes each transport in one row: the parts of its connections, what identifies them, and the words for them. Other
 * folders ask the row instead of comparing `connection.type`, so a new transport is a row here and a folder in
 * `src/connections/`.
 * @module
 */

import { serverVariable } from '../text/server-variable.ts';
import { LIMITS } from './limits.ts';
import { writtenPrincipal } from './principal-name.ts';
import type { ConnectionDefinition, RemoteConnection, StdioConnection, UserTexts } from './types.ts';

/** The transports, as `connection.type` names them. */
export type TransportType = ConnectionDefinition['type'];

/** A connection as people write it; optional fields may be missing. A `ConnectionDefinition` fits as well. */
export type WrittenConnection = Written<StdioConnection, 'command'> | Written<RemoteConnection, 'url'>;

type Written<C extends { type: unknown }, Address extends keyof C> = Pick<C, 'type' | Address> & {
  readonly [K in keyof C]?: C[K] | undefined;
};
type Local = Written<StdioConnection, 'command'>;
type Remote = Written<RemoteConnection, 'url'>;

type Texts = Readonly<Record<string, string>>;
type Pair = readonly [name: string, value: string];

/** A variable or header that a server gets without a text in its entry, and the variables the value is taken from. */
interface PassedOn {
  readonly name: string;
  readonly from: readonly string[];
}

interface TransportParts<C> {
  /** Whether the server is a child process of ours. Otherwise it is at a URL. */
  readonly isLocal: boolean;
  /** Default timeout for connecting, in milliseconds. */
  readonly connectMs: number;
  /** The field with the address. */
  readonly addressField: 'command' | 'url';
  readonly nouns: {
    /** One of the words. */
    readonly word: string;
    /** One of the named texts, and all of them. */
    readonly named: string;
    readonly allNamed: 'environment' | 'headers';
    /** The field with those of each user. */
    readonly users: 'userEnv' | 'userHeaders';
  };
  /** The HTTP method of the first request, if the transport uses HTTP. */
  readonly opensWith?: 'GET' | 'POST' | undefined;
  /** Returns the command line or the URL, word by word. */
  words(connection: C): readonly string[];
  /** Returns the environment variables or the headers. */
  named(connection: C): Texts | undefined;
  /** The same of each user of the gateway. */
  ofUsers(connection: C): UserTexts | undefined;
  /** Returns the connection of one user: with its texts, and without those of all others. */
  forUser(connection: C, own: Texts): C;
  /** Returns the other texts that may be references or secrets. */
  further(connection: C): Texts;
  /** Returns the working folder, if the transport has one. */
  folder(connection: C): string | undefined;
  passedOn(connection: C, server: string): readonly PassedOn[];
  /** Returns the connection with every text changed. */
  mapTexts(connection: C, change: (text: string) => string, changeFolder: (path: string) => string): C;
  /** Returns what a fingerprint depends on. Values of named texts may be secrets and are left out. */
  traits(connection: C): readonly unknown[];
  /** Returns what is started or reached. */
  reached(connection: C): string;
  /** Returns the variables or headers that the server gets, with references as written. */
  given(connection: C): readonly Pair[];
}

const LOCAL: TransportParts<Local> = {
  isLocal: true,
  connectMs: LIMITS.time.connectLocal,
  addressField: 'command',
  nouns: { word: 'an argument', named: 'env', allNamed: 'environment', users: 'userEnv' },
  words: ({ command, args = [] }) => [command, ...args],
  named: ({ env }) => env,
  ofUsers: ({ userEnv }) => userEnv,
  forUser: ({ userEnv: _all, ...connection }, own) => ({ ...connection, env: { ...connection.env, ...own } }),
  further: () => ({}),
  folder: ({ cwd }) => cwd,
  passedOn: ({ inheritEnv = [] }) => inheritEnv.map((name) => ({ name, from: [name] })),
  mapTexts: (connection, change, changeFolder) => {
    const { command, args, env, userEnv, cwd } = connection;
    return {
      ...connection,
      command: change(command),
      ...(args && { args: args.map(change) }),
      ...(env && { env: mapValues(env, change) }),
      ...(userEnv && { userEnv: mapUsers(userEnv, change) }),
      ...(cwd !== undefined && { cwd: changeFolder(cwd) }),
    };
  },
  traits: ({ command, args = [], env = {}, cwd = '' }) => [command, args, Object.keys(env).sort(), cwd],
  reached: ({ command, args = [], cwd }) => JSON.stringify([command, args, cwd]),
  given: ({ env = {}, inheritEnv = [] }) => [
    ...Object.entries(env),
    ...inheritEnv.filter((name) => !Object.hasOwn(env, name)).map((name) => [name, `\${${name}}`] as const),
  ],
};

const REMOTE: TransportParts<Remote> = {
  isLocal: false,
  connectMs: LIMITS.time.connectRemote,
  addressField: 'url',
  nouns: { word: 'the url', named: 'header', allNamed: 'headers', users: 'userHeaders' },
  words: ({ url }) => [url],
  named: ({ headers }) => headers,
  ofUsers: ({ userHeaders }) => userHeaders,
  forUser: ({ userHeaders: _all, ...connection }, own) => ({
    ...connection,
    headers: { ...withoutNames(connection.headers ?? {}, own), ...own },
  }),
  further: ({ oauth: { clientId, clientSecret, privateKey } = {} }) =>
    Object.fromEntries(
      Object.entries({ clientId, clientSecret, privateKey }).flatMap(([name, text]) =>
        text === undefined ? [] : [[name, text]],
      ),
    ),
  folder: () => undefined,
  passedOn: ({ auth }, server) =>
    auth === undefined
      ? []
      : [{ name: 'Authorization', from: [serverVariable(server, 'MCP_TOKEN'), 'MCP_AUTH_TOKEN'] }],
  mapTexts: (connection, change) => {
    const { url, headers, userHeaders, oauth } = connection;
    return {
      ...connection,
      url: change(url),
      ...(headers && { headers: mapValues(headers, change) }),
      ...(userHeaders && { userHeaders: mapUsers(userHeaders, change) }),
      ...(oauth && { oauth: { ...oauth, ...mapValues(REMOTE.further(connection), change) } }),
    };
  },
  traits: ({ url, headers = {}, auth = '' }) => [url, Object.keys(headers).sort(), auth],
  reached: ({ url }) => (URL.canParse(url) ? new URL(url).href : url).replace(/\/$/, ''),
  given: ({ headers = {}, auth }) => [
    ...Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const),
    ...(auth === undefined ? [] : [['authorization', auth] as const]),
  ],
};

const mapValues = (texts: Texts, change: (text: string) => string): Texts =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, change(text)]));

const mapUsers = (users: UserTexts, change: (text: string) => string): UserTexts =>
  Object.fromEntries(Object.entries(users).map(([user, texts]) => [user, mapValues(texts, change)]));

/** Leaves out the headers that others replace, in any spelling. */
const withoutNames = (texts: Texts, others: Texts): Texts => {
  const names = new Set(Object.keys(others).map((name) => name.toLowerCase()));
  return Object.fromEntries(Object.entries(texts).filter(([name]) => !names.has(name.toLowerCase())));
};

/** The table: one row per transport. */
const ROWS = {
  stdio: LOCAL,
  http: { ...REMOTE, opensWith: 'POST' },
  sse: { ...REMOTE, opensWith: 'GET' },
} satisfies Record<TransportType, TransportParts<Local> | TransportParts<Remote>>;

/** Returns the row of a transport. Its functions take connections of that transport only. */
export const transportParts = (type: TransportType): TransportParts<WrittenConnection> =>
  ROWS[type] as TransportParts<WrittenConnection>;

/** Narrows to servers that are child processes; all others have a `url`. */
export const isLocal = <C extends WrittenConnection>(connection: C): connection is Extract<C, { command: string }> =>
  transportParts(connection.type).isLocal;

/** Tells whether the entry itself says which token to send, so that there is no login. */
export const hasOwnToken = ({ url, headers = {}, auth }: Remote): boolean =>
  auth !== undefined ||
  Object.keys(headers).some((name) => name.toLowerCase() === 'authorization') ||
  /^https?:\/\/[^/?#]*@/i.test(url.replace(/\$\{[^{}]*\}/g, 'x'));

/** Returns the command line or the URL, word by word. */
export const addressWords = (connection: WrittenConnection): readonly string[] =>
  transportParts(connection.type).words(connection);

/** Returns the environment variables or the headers. */
export const namedTextsOf = (connection: WrittenConnection): Texts =>
  transportParts(connection.type).named(connection) ?? {};

/** Returns the environment variables or headers of each user of the gateway. */
export const userTextsOf = (connection: WrittenConnection): UserTexts | undefined =>
  transportParts(connection.type).ofUsers(connection);

/** Returns the connection of one user of the gateway, or of no user, without the texts of all others. */
export const connectionOf = <C extends WrittenConnection>(connection: C, user: string | undefined): C => {
  const users = userTextsOf(connection);
  if (users === undefined) return connection;
  const name = user === undefined ? '' : writtenPrincipal(user);
  const own = Object.hasOwn(users, name) ? users[name] : undefined;
  return transportParts(connection.type).forUser(connection, own ?? {}) as C;
};

/** Returns the other texts that may be references or secrets. */
export const furtherTextsOf = (connection: WrittenConnection): Texts =>
  transportParts(connection.type).further(connection);

/** Returns every text of a connection that may contain references, except the working folder. */
export const textsOf = (connection: WrittenConnection): readonly string[] => [
  ...addressWords(connection),
  ...Object.values(namedTextsOf(connection)),
  ...Object.values(userTextsOf(connection) ?? {}).flatMap((texts) => Object.values(texts)),
  ...Object.values(furtherTextsOf(connection)),
];

/** Returns a connection with every text changed; the working folder by `changeFolder`, if given. */
export const mapTexts = <C extends WrittenConnection>(
  connection: C,
  change: (text: string) => string,
  changeFolder = change,
): C => transportParts(connection.type).mapTexts(connection, change, changeFolder) as C;
