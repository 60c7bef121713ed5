/**
 * Finds servers that need a login before they move behind the gateway. Remote servers are probed with `initialize` and `tools/list`, with their entry's headers:
 * some accept the first request and demand a login for the second.
 * @module
 */

import { expandReferences } from '../../config/references.ts';
import type { World } from '../../config/world.ts';
import { ConfigurationError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { isLocal, transportParts } from '../../core/transport-parts.ts';
import { isObject } from '../../json/plain-object.ts';
import type { ImportedEntry } from '../importers/imported-entry.ts';

type Raw = Readonly<Record<string, unknown>>;

/** The result of probing a server. */
export type Login = 'needed' | 'elsewhere' | 'unknown';

/** Tells whether an entry has a login that only its client can do: Gemini takes the identity of a Google account. */
export const isClientsLogin = (raw: unknown): boolean => isObject(raw) && raw.authProviderType !== undefined;

/** Probes the remote servers of these entries. Servers that accept us are not in the result. */
export async function loginsOf(
  entries: readonly ImportedEntry[],
  world: Pick<World, 'env'>,
  fetcher: typeof fetch = fetch,
): Promise<ReadonlyMap<string, Login>> {
  const remote = entries.filter(({ entry }) => entry.connection !== undefined && !isLocal(entry.connection));
  const found = await Promise.all(
    remote
      .slice(0, LIMITS.files.logins)
      .map(async ({ entry }) => [entry.name, await loginOf(entry, world, fetcher)] as const),
  );
  const rest = remote.slice(LIMITS.files.logins).map(({ entry }) => [entry.name, 'unknown'] as const);
  return new Map([...found, ...rest].flatMap(([name, login]) => (login === undefined ? [] : [[name, login] as const])));
}

async function loginOf(
  { name, connection }: ImportedEntry['entry'],
  { env }: Pick<World, 'env'>,
  fetcher: typeof fetch,
): Promise<Login | undefined> {
  if (connection === undefined || isLocal(connection)) return undefined;
  const { opensWith } = transportParts(connection.type);
  if (opensWith === undefined) return undefined;
  const expand = (text: string) => expandReferences(text, env, `server "${name}"`);
  try {
    const headers = Object.entries(connection.headers ?? {}).map(
      ([key, text]) => [key, expand(text)] as [string, string],
    );
    const statuses = await ask(expand(connection.url), opensWith, headers, fetcher);
    if (statuses.some((status) => status === 401 || status === 403)) return 'needed';
    // The gateway follows no redirects; they lead to a login page, or to an address that should be in the entry.
    return statuses.some((status) => status >= 300 && status < 400) ? 'elsewhere' : undefined;
  } catch (error) {
    // A variable that is not set here may be set where the client runs.
    if (error instanceof ConfigurationError) return undefined;
    return 'unknown';
  }
}

const REVISION = '2025-06-18';
const GREETING: Raw = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: REVISION, capabilities: {}, clientInfo: { name: 'anygpt', version: '0' } },
};
/** Requests after a successful `initialize`. */
const QUESTIONS: readonly Raw[] = [
  { jsonrpc: '2.0', method: 'notifications/initialized' },
  { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} },
];

/** Returns the status of each request, up to the first that failed. */
async function ask(
  url: string,
  opensWith: 'GET' | 'POST',
  own: [string, string][],
  fetcher: typeof fetch,
): Promise<readonly number[]> {
  const headers = new Headers(own);
  headers.set('accept', opensWith === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream');
  if (opensWith === 'POST') headers.set('content-type', 'application/json');
  const signal = AbortSignal.timeout(LIMITS.time.probe);
  const send = async (how: RequestInit): Promise<Response> => {
    // Headers for one address are not sent to another.
    const response = await fetcher(url, { redirect: 'manual', signal, ...how, headers });
    await response.body?.cancel().catch(() => undefined);
    return response;
  };
  if (opensWith === 'GET') return [(await send({ method: 'GET' })).status];
  const post = (message: Raw) => send({ method: 'POST', body: JSON.stringify(message) });
  const { ok, status, headers: answered } = await post(GREETING);
  const session = answered.get('mcp-session-id');
  if (session !== null) headers.set('mcp-session-id', session);
  headers.set('mcp-protocol-version', REVISION);
  const statuses = [status];
  try {
    for (const question of ok ? QUESTIONS : []) statuses.push((await post(question)).status);
  } finally {
    // End the session. A server that refuses to end it will let it expire.
    if (session !== null)
      await send({ method: 'DELETE', signal: AbortSignal.timeout(LIMITS.time.probe) }).catch(() => undefined);
  }
  return statuses;
}
