/**
 * Opens connections to remote servers: tries Streamable HTTP with the new greeting, then with the old one, then legacy
 * SSE. What worked for an earlier connection is tried first.
 * @module
 */

import { abortable } from '../../async/abortable.ts';
import { withTimeLimit } from '../../async/time-limit.ts';
import { ConfigurationError, DiscoveryError } from '../../core/errors.ts';
import type { RemoteConnection, ServerDefinition } from '../../core/types.ts';
import { serverVariable } from '../../text/server-variable.ts';
import { connectMs } from '../connect-time.ts';
import { Conversation, type Greeting } from '../conversation.ts';
import { discover, initialize } from '../handshake.ts';
import { HttpStatusError } from '../http-status-error.ts';
import { JsonRpcError, UNSUPPORTED_PROTOCOL_VERSION } from '../json-rpc.ts';
import type { OpenedConnection, OpenOptions, Verdict } from '../open-options.ts';
import { failUnreadable } from '../unreadable-answer.ts';
import { httpWire, isWrongTransport, sseWire } from './remote-wire.ts';

interface Way {
  readonly transport: 'http' | 'sse';
  readonly greet: Greeting;
}

const NEW: Way = { transport: 'http', greet: discover };
const OLD: Way = { transport: 'http', greet: initialize };
const SSE: Way = { transport: 'sse', greet: initialize };
/** The fraction of the timeout for the first request to an unknown server: some old servers never answer it. */
const PROBE_SHARE = 0.4;

/** Connects and greets, trying one way after another while another way may succeed. */
export async function openHttp(
  definition: ServerDefinition,
  connection: RemoteConnection,
  options: OpenOptions,
  signal: AbortSignal,
): Promise<OpenedConnection> {
  const target = targetOf(definition, connection, options);
  let failure: unknown;
  for (const way of waysTo(connection.type, options.prior)) {
    if (way === SSE && failure !== undefined && !isWrongTransport(failure)) break;
    if (connection.type === 'sse' && way === NEW && !hasMovedOn(failure)) break;
    const attempt = (limit: AbortSignal) => open(definition, options, target, way, limit);
    try {
      if (way !== NEW || options.prior) return await attempt(signal);
      return await withTimeLimit(connectMs(definition) * PROBE_SHARE, signal, () => new Error('no answer'), attempt);
    } catch (error) {
      if (isFinal(error) || signal.aborted) throw error;
      // The error of the fallback says less than the error before it.
      if (way !== SSE || failure === undefined) failure = error;
    }
  }
  throw failure;
}

function waysTo(type: RemoteConnection['type'], prior: Verdict | undefined): readonly Way[] {
  if (type === 'sse') return [SSE, NEW];
  if (prior?.transport === 'sse') return [SSE, NEW, OLD];
  return prior?.era === 'legacy' ? [OLD, NEW, SSE] : [NEW, OLD, SSE];
}

async function open(
  definition: ServerDefinition,
  options: OpenOptions,
  { url, headers }: Target,
  { transport, greet }: Way,
  signal: AbortSignal,
): Promise<OpenedConnection> {
  const wire = (transport === 'sse' ? sseWire : httpWire)({
    server: definition.name,
    url,
    headers,
    credentials: options.credentials,
    resumable: greet === initialize,
    maxMessageBytes: options.limits.messageBytes,
    maxMessageValues: options.limits.messageValues,
    fetch: options.fetch,
    redact: options.secrets.redactWords,
    onTooDeep: (id) => failUnreadable(conversation.peer, definition.name, id, 'too-deep', options.limits),
  });
  const conversation = new Conversation(definition, options, wire);
  try {
    await abortable(conversation.peer.start(), signal);
    const connection = await conversation.open([greet], signal);
    return { connection, verdict: { era: connection.era, transport } };
  } catch (error) {
    void conversation.peer.close();
    throw error;
  }
}

interface Target {
  readonly url: URL;
  readonly headers: Headers;
}

/** Returns the address and headers with references expanded. Messages name the field and never the value. */
function targetOf(
  definition: ServerDefinition,
  { url, headers, auth }: RemoteConnection,
  { expand, env, secrets }: OpenOptions,
): Target {
  const { name } = definition;
  const refuse = (what: string): never => {
    const { file, path } = definition.origin;
    throw new ConfigurationError(`${name}: ${what} (${file}, ${path}).`, [], { server: name, outcome: 'not_sent' });
  };
  const address = expand(url);
  if (!URL.canParse(address)) refuse('its url is not a valid address');
  const target = new URL(address);
  if (target.protocol !== 'http:' && target.protocol !== 'https:')
    refuse('its url must begin with http:// or https://');
  const sent = new Headers();
  const set = (header: string, value: string) => {
    try {
      sent.set(header, value);
    } catch {
      refuse(`the header ${JSON.stringify(header)} has a name or value that HTTP does not allow`);
    }
  };
  if (target.username || target.password) {
    const pair = [target.username, target.password].map(
      (part) => decoded(part) ?? refuse('its url has a broken % escape'),
    );
    set('Authorization', `Basic ${Buffer.from(pair.join(':')).toString('base64')}`);
    target.username = '';
    target.password = '';
  }
  for (const [header, value] of Object.entries(headers)) set(header, expand(value, { name: header, header: true }));
  const token = auth === 'env' ? (env[serverVariable(name, 'MCP_TOKEN')] ?? env.MCP_AUTH_TOKEN) : undefined;
  if (token) secrets.learn([token]);
  if (token) set('Authorization', `Bearer ${token}`);
  return { url: target, headers: sent };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/**
 * Tells whether a server that used legacy SSE reports that it has moved to protocol 2026-07-28, which has no such
 * transport.
 */
const hasMovedOn = (error: unknown): boolean =>
  (error instanceof JsonRpcError && error.code === UNSUPPORTED_PROTOCOL_VERSION) ||
  ((error instanceof JsonRpcError || error instanceof HttpStatusError) && error.status === 405);

/**
 * Tells whether another protocol or transport cannot help. Old servers may drop the connection on a request they do not
 * know.
 */
const isFinal = (error: unknown): boolean =>
  error instanceof DiscoveryError && (error.details.outcome !== 'unknown' || error.cause instanceof HttpStatusError);
