/**
 * Converts entries of clients whose format differs by more than a dialect into the common format. References that an
 * adapter adds are in our own format and kept apart from the client's text, which is converted later.
 * @module
 */
import { isObject } from '../../json/plain-object.ts';
import { escaped } from './variables.ts';

type Raw = Readonly<Record<string, unknown>>;

/** An entry in the common format. */
export interface Adapted {
  readonly raw: Raw;
  /** Names of environment variables to pass on if they are set. */
  readonly inheritEnv?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Converts an entry into the common format; or skips it, because it is not a server; or says why it cannot be used. */
export type Adapter = (raw: Raw) => Adapted | { readonly skip: string } | { readonly problem: string };

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const isName = (value: unknown): value is string => typeof value === 'string' && NAME.test(value);
const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];

/** Codex: variables and tokens are named, never literal; there is no `type`. */
export const fromCodex: Adapter = ({ type: _ignored, ...raw }) => {
  if (raw.bearer_token !== undefined) {
    return { problem: 'it has a `bearer_token`, which Codex refuses too; use `bearer_token_env_var`' };
  }
  const variables = Array.isArray(raw.env_vars) ? raw.env_vars : [];
  const fromEnvironment = isObject(raw.env_http_headers) ? Object.entries(raw.env_http_headers) : [];
  const token = raw.bearer_token_env_var;
  return {
    raw,
    inheritEnv: variables.map((item: unknown) => (isObject(item) ? item.name : item)).filter(isName),
    headers: Object.fromEntries([
      ...fromEnvironment.flatMap(([header, name]) => (isName(name) ? [[header, `\${${name}}`]] : [])),
      ...(isName(token) ? [['Authorization', `Bearer \${${token}}`]] : []),
    ]),
  };
};

const GOOSE_OWN = new Set(['builtin', 'platform', 'frontend', 'inline_python']);

/**
 * Goose: `cmd`, `envs`, `uri`. Secrets are in a keyring that we do not read, so they are taken from the environment.
 */
export const fromGoose: Adapter = (raw) => {
  if (typeof raw.type === 'string' && GOOSE_OWN.has(raw.type)) return { skip: 'it is a part of Goose, not a server' };
  const keys = texts(raw.env_keys).filter(isName);
  return {
    raw: { ...raw, command: raw.cmd ?? raw.command, env: raw.envs ?? raw.env, url: raw.uri ?? raw.url },
    env: Object.fromEntries(keys.map((name) => [name, `\${${name}}`])),
  };
};

/** Continue: the key is a separate field, headers are inside `requestOptions`. */
export const fromContinue: Adapter = (raw) => {
  const options = isObject(raw.requestOptions) ? raw.requestOptions : {};
  const headers = { ...toMap(options.headers), ...toMap(raw.headers) };
  const key = typeof raw.apiKey === 'string' ? { Authorization: `Bearer ${raw.apiKey}` } : {};
  return { raw: { ...raw, headers: { ...key, ...headers } } };
};

/** Zed: an entry with only settings belongs to an extension; older files have `command` as an object. */
export const fromZed: Adapter = (raw) => {
  if (isObject(raw.command)) {
    const { path, args, env } = raw.command;
    return { raw: { ...raw, command: path, args, env } };
  }
  return raw.command === undefined && raw.url === undefined
    ? { skip: 'it belongs to a Zed extension, which only Zed can start' }
    : { raw };
};

/** OpenCode: the command is a list; an entry may only switch a server of another file; timeouts may be an object. */
export const fromOpenCode: Adapter = (raw) => {
  if (raw.command === undefined && raw.url === undefined) return { skip: 'it only switches a server of another file' };
  const { startup, request } = isObject(raw.timeout) ? raw.timeout : { startup: raw.timeout };
  return { raw: { ...splitCommand(raw), startup_timeout: startup, request_timeout: request } };
};

/** Cline: its command-line tool nests the connection under `transport`. */
export const fromCline: Adapter = (raw) =>
  isObject(raw.transport) ? { raw: { ...raw, transport: undefined, ...raw.transport } } : { raw };

/** Mistral Vibe: a command may be a whole line, and a token is named. Both may be in an `auth` table. */
export const fromVibe: Adapter = (raw) => {
  const auth = isObject(raw.auth) ? raw.auth : raw;
  const {
    api_key_env: name,
    api_key_header: header = 'Authorization',
    api_key_format: format = 'Bearer {token}',
  } = auth;
  const line = typeof raw.command === 'string' ? words(raw.command) : raw.command;
  return {
    raw: { ...splitCommand({ ...raw, command: line }), headers: raw.headers ?? auth.headers },
    ...(isName(name) && {
      headers: { [String(header)]: escaped(String(format)).replaceAll('{token}', () => `\${${name}}`) },
    }),
  };
};

/** Splits a command given as a list into the command and its first arguments. */
function splitCommand(raw: Raw): Raw {
  if (!Array.isArray(raw.command)) return raw;
  const [command, ...first] = raw.command as unknown[];
  return { ...raw, command, args: Array.isArray(raw.args) ? [...first, ...raw.args] : first };
}

/** Splits a line at white space; quoted text is one word. */
export const words = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|([^\s"']+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  );

const toMap = (value: unknown): Raw => (isObject(value) ? value : {});
