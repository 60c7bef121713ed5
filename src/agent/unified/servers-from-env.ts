/**
 * Creates server entries from environment variables, only for the names that a program lists.
 * @module
 */

import type { DiscoveryConfig } from '../../config/define-config.ts';
import { isSwitchedOff } from '../../config/world.ts';
import { type ErrorCode, type ErrorInfo, ValidationError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { serverVariable } from '../../text/server-variable.ts';

/** One server as people write it in `discovery.servers`. */
export type ServerEntry = NonNullable<DiscoveryConfig['servers']>[number];

type Environment = Readonly<Record<string, string | undefined>>;

/** The variables that were not set, by the list of entries that was returned. */
const unset = new WeakMap<object, readonly string[]>();

/** The missing variables because of which `serversFromEnv` left servers out of this list. */
export const unsetFor = (servers: object): readonly string[] => unset.get(servers) ?? [];

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/**
 * Returns an entry for each name whose `<NAME>_MCP_URL` is set. A registry reports the missing variables in the `unset`
 * of each discovery. `<NAME>_API_KEY`, if set, is sent as a bearer token; the entry holds only a reference to it.
 * `<NAME>_MCP_ENABLED=false` disables a server, also later: it is read at each discovery. Throws `ValidationError` for a
 * name that cannot be part of a variable name.
 * @example
 * // RUBE_MCP_URL=https://rube.app/mcp RUBE_API_KEY=…
 * const registry = new UnifiedToolRegistry({ servers: serversFromEnv(['rube', 'github']) });
 */
export function serversFromEnv(names: readonly string[], env: Environment = process.env): ServerEntry[] {
  const missing: string[] = [];
  const owners = new Map<string, string>();
  const entries = [...new Set(names)].flatMap((name): ServerEntry[] => {
    if (typeof name !== 'string' || !NAME.test(name))
      throw new ValidationError(
        `"${name}" cannot be a server name in the environment: use a letter, then letters, digits, "_" or "-".`,
      );
    const address = serverVariable(name, 'MCP_URL');
    const other = owners.get(address);
    if (other !== undefined)
      throw new ValidationError(`"${other}" and "${name}" would both use ${address}: rename one of them.`);
    owners.set(address, name);
    const key = serverVariable(name, 'API_KEY');
    if (!env[address]?.trim()) {
      if (!isSwitchedOff(env[serverVariable(name, 'MCP_ENABLED')])) missing.push(address);
      return [];
    }
    const headers = env[key]?.trim() ? { headers: { Authorization: `Bearer \${${key}}` } } : {};
    return [{ name, connection: { type: 'http', url: `\${${address}}`, ...headers } }];
  });
  unset.set(entries, missing);
  return entries;
}

/** Codes of a server whose entry is wrong. SERVER_UNAVAILABLE is the code during the back-off. */
const MISTAKEN: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['CONFIGURATION_ERROR', 'SERVER_UNAVAILABLE']);

/** Turns a failure into CONFIGURATION_ERROR with the wrong environment variable's name, if one caused it. */
export function namingVariables(
  error: ErrorInfo,
  entries: readonly ServerEntry[],
  env: Environment = process.env,
): ErrorInfo {
  const entry = MISTAKEN.has(error.code) ? entries.find(({ name }) => name === error.server) : undefined;
  const problem = entry && variableProblem(entry, env);
  if (!problem) return error;
  const { retryAfterMs: _never, ...rest } = error;
  return { ...rest, code: 'CONFIGURATION_ERROR', message: `${error.server}: ${problem}.`, retryable: false };
}

/** What is wrong with the variables of an entry; undefined if nothing is. Mentions names, never values. */
function variableProblem({ connection }: ServerEntry, env: Environment): string | undefined {
  if (!connection || !('url' in connection)) return undefined;
  const address = variableIn(connection.url);
  if (address !== undefined && !isWebAddress(env[address]))
    return `the environment variable ${address} is not an address that begins with http:// or https://`;
  const key = Object.values(connection.headers ?? {})
    .map(variableIn)
    .find((name) => name && !isHeader(env[name]));
  return key && `the environment variable ${key} holds characters that HTTP does not allow in a header`;
}

/** `RUBE_API_KEY` in `Bearer ${RUBE_API_KEY}`. */
const variableIn = (text: unknown): string | undefined =>
  typeof text === 'string' && text.length <= LIMITS.names.shown ? REFERENCE.exec(text)?.[1] : undefined;

const REFERENCE = /^(?:Bearer )?\$\{([A-Z0-9_]+)\}$/;

const isWebAddress = (text = ''): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

function isHeader(value = ''): boolean {
  try {
    new Headers({ value });
    return true;
  } catch {
    return false;
  }
}
