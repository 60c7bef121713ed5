/**
 * Makes entries of servers from environment variables, for the names that a program lists and no others.
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

/** Addresses that were looked for and not found, by the entries that were made. */
const unset = new WeakMap<object, readonly string[]>();

/** The variables without which servers were left out, if `serversFromEnv` gave these. */
export const unsetFor = (servers: object): readonly string[] => unset.get(servers) ?? [];

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/**
 * Entries for those of the names whose `<NAME>_MCP_URL` is set; a registry that is given them names the others in the
 * `unset` of its discoveries. `<NAME>_API_KEY`, if set, is sent as a bearer token; the
 * entry holds only a reference to it. `<NAME>_MCP_ENABLED=false` switches a server off, also later: it is read at each
 * discovery. Throws `ValidationError` for a name that cannot be part of a variable's.
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
        `"${name}" cannot name a server in the environment: write a letter, then letters, digits, "_" or "-".`,
      );
    const address = serverVariable(name, 'MCP_URL');
    const other = owners.get(address);
    if (other !== undefined)
      throw new ValidationError(`"${other}" and "${name}" would both be ${address}: rename one of them.`);
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

/** Codes of a server whose entry is wrong: the second while the connection is not tried again yet. */
const MISTAKEN: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['CONFIGURATION_ERROR', 'SERVER_UNAVAILABLE']);

/** The same failure, or CONFIGURATION_ERROR with the name of the environment variable that caused it. */
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

/** What is wrong with the variables an entry refers to, by name and never by value; undefined where nothing is. */
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
