/**
 * Chooses the one thing to do about a server that could not be reached.
 * @module
 */
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { connectMs } from '../connections/connect-time.ts';
import type { DiscoveryError } from '../core/errors.ts';
import { isLocal } from '../core/transport-parts.ts';
import type { RemoteConnection, ServerDefinition } from '../core/types.ts';
import { oneLine } from '../text/plain-text.ts';
import { serverVariable } from '../text/server-variable.ts';
import { shellWord } from '../text/shell-word.ts';
import { placeOf, variablesOf } from './check-definition.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What is known besides the failure itself. */
export interface Surroundings {
  /** What the server wrote to stderr. Lines of its stdout that are not messages begin with `[stdout]`. */
  readonly log?: string | undefined;
  /** The files of the configuration and of its sources. */
  readonly config?: Pick<ResolvedConfig, 'origin' | 'sources'> | undefined;
  /** The `--timeout` of the command, if it has one. */
  readonly timeoutMs?: number | undefined;
}

/** The one thing to do. */
export function adviceFor(
  definition: ServerDefinition,
  error: DiscoveryError,
  env: Environment,
  known: Surroundings = {},
): string {
  const { connection, name } = definition;
  const place = placeOf(definition);
  const noise = isLocal(connection) ? noiseIn(known.log) : undefined;
  if (error.code === 'CONFIGURATION_ERROR') return `Correct ${place}`;
  if (error.code === 'STORAGE_ERROR') return 'Unlock the keychain of this computer, or repair the file that is named';
  if (error.code === 'SERVER_AUTH_REQUIRED' && !isLocal(connection)) return howToLogIn(definition, connection, env);
  if (error.code === 'RATE_LIMITED') return 'Wait a while and try again';
  if (isOverdue(error)) {
    if (noise !== undefined) return howToBeQuiet(noise);
    if (known.timeoutMs !== undefined && known.timeoutMs < connectMs(definition))
      return `Use a longer --timeout, or none: then it may take ${connectMs(definition) / 1000} s`;
    return `${howToWaitLonger(definition, known)}, or read its log: anygpt mcp logs ${shellWord(name)}`;
  }
  if (!isLocal(connection)) return adviceForRemote(definition, connection, error, env);
  return (
    adviceForLocal(definition, error, env, known) ??
    (noise === undefined ? `Read its log: anygpt mcp logs ${shellWord(name)}` : howToBeQuiet(noise))
  );
}

/** The first line of stdout that was not a message. */
export const noiseIn = (log = ''): string | undefined =>
  log
    .split('\n')
    .flatMap((line) => (line.startsWith(NOISE) ? line.slice(NOISE.length).trim() : []))
    .find((text) => text !== '');

const NOISE = '[stdout] ';

/** What to do about a server that prints text to stdout. */
export const howToBeQuiet = (noise: string): string =>
  `Make it print to stderr: stdout is for messages only. Its log has: [stdout] ${oneLine(noise, 120)}`;

/** Whether an entry is in the file of a client, which has no key for our settings. */
const isForeign = ({ origin: { file, client } }: ServerDefinition, { config }: Surroundings): boolean =>
  client !== undefined || config?.sources.some(({ path }) => path === file) === true;

const ownFile = ({ config }: Surroundings): string => config?.origin ?? 'your own configuration (anygpt mcp init)';

/** How to allow a longer wait. An entry of ours without a connection adds settings to the server of its name. */
export function howToWaitLonger(definition: ServerDefinition, known: Surroundings): string {
  const allowed = connectMs(definition);
  const { name, origin } = definition;
  if (!isForeign(definition, known)) return `Raise timeouts.connect (now ${allowed} ms) in ${placeOf(definition)}`;
  const entry = `{"name": ${JSON.stringify(name)}, "timeouts": {"connect": ${allowed * 2}}}`;
  return `To wait longer than ${allowed} ms, add ${entry} to "servers" in ${ownFile(known)}: ${origin.file} has no such setting`;
}

/** Recognises our own timeout messages. */
const isOverdue = ({ message }: DiscoveryError): boolean =>
  /no answer within [\d.]+ s|did not list its tools within [\d.]+ s/.test(message);

function howToLogIn(definition: ServerDefinition, connection: RemoteConnection, env: Environment): string {
  const own = serverVariable(definition.name, 'MCP_TOKEN');
  if (connection.oauth?.grant !== undefined) return `Correct connection.oauth in ${placeOf(definition)}`;
  if (connection.auth === 'env') {
    const given = env[own] ? own : env.MCP_AUTH_TOKEN ? 'MCP_AUTH_TOKEN' : undefined;
    return given === undefined ? `export ${own}=…` : `Renew the token in ${given}: the server does not accept it`;
  }
  if (connection.oauth === undefined) {
    const names = variablesOf(definition);
    if (names.length > 0) return `Renew the value of ${names.join(' or ')}: the server does not accept it`;
    if (Object.keys(connection.headers).length > 0)
      return `Correct the headers in ${placeOf(definition)}: the server does not accept them`;
  }
  return `Run: anygpt mcp login ${shellWord(definition.name)}`;
}

/** Matches messages about something missing: `GITHUB_TOKEN is required`, `Missing env var API_KEY`. */
const MISSING =
  /required|missing|not set|unset|not provided|must be set|must set|please set|undefined|not found|no .{0,20}provided/i;
const VARIABLE = /\b[A-Z][A-Z0-9]{1,40}(?:_[A-Z0-9]{1,40}){1,8}\b/g;
/** Words of that shape that are not variables. */
const NO_VARIABLE = /^(?:ERR|E)_|^MODULE_NOT_FOUND$/;

function adviceForLocal(
  definition: ServerDefinition,
  { message }: DiscoveryError,
  env: Environment,
  known: Surroundings,
): string | undefined {
  const { connection } = definition;
  const place = placeOf(definition);
  if (isLocal(connection) && MISSING.test(message)) {
    const given = new Set([...Object.keys(connection.env), ...connection.inheritEnv]);
    const wanted = (message.match(VARIABLE) ?? []).filter((word) => !NO_VARIABLE.test(word));
    const variable = wanted.find((word) => !given.has(word));
    // A child process gets only the variables that its entry names.
    if (variable !== undefined && isForeign(definition, known))
      return `Add ${variable} to "env" of the entry (${place}): a server gets only the variables that its entry names`;
    if (variable !== undefined)
      return env[variable] === undefined
        ? `export ${variable}=… and add it to the entry: "env": {"${variable}": "\${${variable}}"} (${place})`
        : `${variable} is set here but not passed on: add "inheritEnv": ["${variable}"] to the entry (${place})`;
  }
  if (/\bE404\b/.test(message)) return `Correct the package name in ${place}: npm does not know it`;
  if (/\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT)\b/.test(message) && /npm|registry|pypi/i.test(message))
    return 'Check the network: the package cannot be downloaded';
  if (/Cannot find module|ERR_MODULE_NOT_FOUND|No module named|can't open file|No such file/i.test(message))
    return `Correct the path in args of ${place}, or build that program`;
  if (/EACCES|may not be executed/.test(message)) return `Make the command executable (chmod +x), see ${place}`;
  return undefined;
}

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET)|ERR_TLS/;
const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'];

/** The proxy variables that are set. */
export const proxiesIn = (env: Environment): string[] => PROXIES.filter((name) => env[name]);

function adviceForRemote(
  definition: ServerDefinition,
  connection: RemoteConnection,
  { message }: DiscoveryError,
  env: Environment,
): string {
  const place = placeOf(definition);
  const [proxy] = proxiesIn(env);
  if (/could not be renewed/.test(message))
    return 'Try later: the identity provider does not answer, and the login is kept';
  if (CERTIFICATE.test(message)) return 'export NODE_EXTRA_CA_CERTS=/path/to/your-ca.pem';
  if (/ECONNREFUSED/.test(message)) return `Start the server, or correct url in ${place}`;
  if (/ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ECONNRESET/.test(message))
    return proxy === undefined || isThisMachine(connection.url)
      ? `Correct url in ${place}, or check the network`
      : `${proxy} is set, but remote servers are reached without a proxy: use one that is reachable directly, or a local bridge`;
  const status = /HTTP (\d{3})/.exec(message)?.[1] ?? '';
  if (/^40[045]|^406/.test(status)) return `Correct the path of url in ${place}: nothing speaks MCP there`;
  if (status === '403') return 'Ask for access: the server refuses this account';
  if (/^5/.test(status)) return 'Try later, or report it to the operator of the server';
  if (/redirects to/.test(message)) return `Write the address it redirects to into ${place}`;
  return `Correct url in ${place}, or report it to the operator of the server`;
}

const isThisMachine = (url: string): boolean => /^https?:\/\/(?:localhost|127\.|\[::1\])/.test(url);
