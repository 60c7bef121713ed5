/**
 * Describes a request over HTTP, of a client or passed on by another replica: who is asking, and what for.
 * @module
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Identity } from '../auth/identity.ts';
import { META } from '../connections/handshake.ts';
import { LISTEN } from '../connections/peer.ts';
import { LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';
import type { UpstreamIdentity } from './sdk-context.ts';

export type Params = Readonly<Record<string, unknown>>;

/** A request whose head was checked, and its body. */
export interface Incoming extends Asked {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** A request to answer: of a client, or of another replica that a client has sent it to. */
export interface Asked {
  readonly request: Pick<IncomingMessage, 'headers'> & { readonly socket?: IncomingMessage['socket'] };
  readonly response: Answering;
  readonly body: unknown;
  /** Another replica has passed the request on, and watches its client. */
  readonly isPassed?: boolean;
  /** Undefined if authentication is off. */
  readonly identity: Identity | undefined;
  readonly profile: string | undefined;
}

/** The end of a request that is being answered. */
type Answering = Pick<ServerResponse, 'closed' | 'destroyed' | 'writableFinished'> & {
  once(event: 'close', listener: () => void): unknown;
};

/** What a client says when it opens a session. */
export type Greeting = Params & { readonly capabilities: Params; readonly clientInfo?: unknown };
export type Who = ReturnType<typeof whoIs>;

export const isOwnClient = (from: Asked): from is Incoming => !from.isPassed;

/** Identifies the caller of a request that stands alone. */
export function modernIdentity(from: Asked): UpstreamIdentity {
  const capabilities = envelopeOf(from.body)[META.clientCapabilities];
  return {
    era: 'modern',
    ...whoIs(from),
    socket: socketOf(from.request),
    clientName: modernName(from),
    capabilities: isObject(capabilities) ? capabilities : {},
  };
}

export const whoIs = ({ identity, profile }: Asked) => ({ principal: identity?.principal, profile });

/** Tells whether a body holds a request that counts as use of a session. */
export const asksForSomething = (body: unknown): boolean =>
  (Array.isArray(body) ? body : [body]).some(
    (message) => isObject(message) && message.id !== undefined && message.method !== 'ping' && 'method' in message,
  );

export const isListening = (body: unknown): body is Params => isObject(body) && body.method === LISTEN;

/** Calls `done` when a response is closed, which it may be already. */
export function whenClosed(response: Answering, done: () => void): void {
  if (response.closed || response.destroyed) done();
  else response.once('close', done);
}

const socketOf = ({ socket }: Asked['request']): string | undefined =>
  socket && `${socket.remoteAddress}:${socket.remotePort}`;

export const modernName = (from: Asked): string => nameOf(from, envelopeOf(from.body)[META.clientInfo]);

function envelopeOf(body: unknown): Params {
  const { params } = (isObject(body) ? body : {}) as { params?: { _meta?: Params } };
  return params?._meta ?? {};
}

/** Identifies a client among others: by its user, else by what the client says about itself. */
export function nameOf({ request: { headers }, identity }: Asked, clientInfo: unknown): string {
  const { name, version } = (isObject(clientInfo) ? clientInfo : {}) as { name?: unknown; version?: unknown };
  const { authorization, 'user-agent': agent } = headers;
  // A known user has one name, whatever token or program is used.
  if (identity) return identity.principal;
  const token = authorization === undefined ? '' : createHash('sha256').update(authorization).digest('hex');
  const words = [name, version, agent].map((one) => (typeof one === 'string' ? one.slice(0, LIMITS.names.shown) : ''));
  return words.join('\n') + token;
}
