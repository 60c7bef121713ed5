/**
 * Serves the gateway on Streamable HTTP. Nothing is opened or started before the head of a request is checked: where it
 * comes from, what it is for, and who is asking.
 * @module
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, isIP } from 'node:net';
import { waitAtMost } from '../async/time-limit.ts';
import { Authenticator } from '../auth/authenticator.ts';
import { type Identity, isIdentity } from '../auth/identity.ts';
import { SharedTokens } from '../auth/shared-tokens.ts';
import { StaticTokens } from '../auth/static-tokens.ts';
import { ConfigurationError } from '../core/errors.ts';
import { DEFAULTS, LIMITS } from '../core/limits.ts';
import { DEFAULT_PROFILE } from '../core/profile-name.ts';
import { coreOf, type EngineHandle } from '../engine/engine-handle.ts';
import { messageOf } from '../text/thrown-message.ts';
import { type Access, logAccess, type WriteLine } from './access-log.ts';
import { challengeOf, type Refusal, resourceMetadata } from './bearer-challenge.ts';
import { ByteRoom } from './byte-room.ts';
import type { Incoming } from './client-request.ts';
import { allowOrigin, answerPreflight, isPreflight } from './cors.ts';
import { type Matched, metadataPath, routeOf } from './http-routes.ts';
import { createMcpEndpoint } from './mcp-endpoint.ts';
import { OpenConnections } from './open-connections.ts';
import { readRequestBody } from './request-body.ts';
import { RequestTurns } from './request-turns.ts';
import { rpcFault } from './rpc-fault.ts';
import type { ServedGateway, Surface } from './serve-stdio.ts';
import { corsOriginOf, foreignness, type SiteOptions, valuesOf } from './site-guard.ts';
import { type Origin, TrustedProxies } from './trusted-proxies.ts';
import { UnreadAnswers, WatchedResponse } from './unread-answers.ts';
import { WatchedStreams } from './watched-streams.ts';

/** Where to serve, what to serve, and who may use it. */
export interface ServeHttpOptions {
  readonly port: number;
  /** The address or name to listen on. Default: `127.0.0.1`. Any address of another machine needs authentication. */
  readonly host?: string;
  readonly surface: Surface;
  readonly maxSessions?: number;
  /** A certificate and its key, as PEM. Default: plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  /** Names under which clients reach the gateway, beside those of this machine: `tools.example.com`, with or without a port. */
  readonly allowedHosts?: readonly string[];
  /** Origins of web pages that may use the gateway, such as `https://app.example.com`. */
  readonly allowedOrigins?: readonly string[];
  /** Addresses and networks of proxies whose `X-Forwarded-…` headers are believed. */
  readonly trustedProxies?: readonly string[];
  /** Receives one JSON line for each request. */
  readonly accessLog?: WriteLine;
  /** Runs the work on a request in the trace that its headers name. Default: just runs it. */
  readonly within?: ((headers: IncomingHttpHeaders, work: () => void) => void) | undefined;
  /** Tells whether a profile exists. Default: none does. */
  readonly hasProfile?: (name: string) => boolean;
}

/** A running HTTP gateway, and its address. */
export interface ServedHttp extends ServedGateway {
  readonly url: string;
  /** Whether requests need a token. */
  readonly isAuthenticated: boolean;
  /** Refuses new requests and ends streams, so that running calls can finish. `/readyz` says so. */
  drain(): void;
}

/** A request whose place and route are known. */
interface Arrived {
  readonly request: IncomingMessage;
  readonly response: WatchedResponse;
  readonly matched: Matched;
  readonly origin: Origin;
  readonly access: Access;
}

/** A request whose sender is known. */
type Admitted = Pick<Arrived, 'request' | 'response'> & Pick<Incoming, 'identity' | 'profile'>;

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/;

/** Serves until `close`. Refuses requests that could come from another site. Rejects with nothing left open. */
export async function serveGatewayOnHttp(engine: EngineHandle, options: ServeHttpOptions): Promise<ServedHttp> {
  const opened: (() => unknown)[] = [];
  try {
    return await opening(engine, options, opened);
  } catch (error) {
    for (const close of opened.reverse()) await close();
    throw error;
  }
}

/** @param opened gets what closes each part that is open before the gateway listens */
async function opening(
  engine: EngineHandle,
  options: ServeHttpOptions,
  opened: (() => unknown)[],
): Promise<ServedHttp> {
  const { port, host = '127.0.0.1', surface, maxSessions = DEFAULTS.http.sessions, tls, within } = options;
  const core = coreOf(engine);
  const { logger } = core.runtime.world;
  const { allowedHosts = [], hasProfile = (name: string) => core.hasProfile(name) } = options;
  const isLoopback = LOOPBACK.test(host);
  const proxies = new TrustedProxies(options.trustedProxies);
  const tokens = new SharedTokens(new StaticTokens(await core.stateFolder()), logger);
  opened.push(() => tokens.close());
  const authenticator = new Authenticator({
    tokens,
    isRequired: !isLoopback || allowedHosts.length > 0,
    learn: (token) => core.keepSecret(token),
  });
  // Without a valid configuration there is nothing to protect: the tools only say what is wrong with it.
  const configure = async () => {
    await core.getConfig().catch(() => {});
    const shared = core.runtime.cluster.current?.tokens;
    if (shared) await tokens.follow(shared);
    const provider = await core.identityProvider().catch((error: unknown) => {
      // There are no earlier settings to fall back on, and without any, requests would need no token.
      if (!core.problem && !authenticator.settings) authenticator.suspend();
      throw error;
    });
    authenticator.configure(provider);
  };
  await configure().catch((error: unknown) => {
    if (!core.problem) throw error;
  });
  refuseOpenDoor(
    { host, isLoopback, allowedHosts },
    authenticator.settings !== undefined || tokens.exist || tokens.isShared,
  );

  const watched = new WatchedStreams((identity) => authenticator.isStillValid(identity));
  const endpoint = createMcpEndpoint(engine, surface, maxSessions, watched);
  opened.push(() => endpoint.close());
  const unread = new UnreadAnswers();
  const bodies = new ByteRoom(LIMITS.wire.bodies);
  const turns = new RequestTurns();
  const pieces = new RequestTurns();
  const connections = new OpenConnections();
  let isDraining = false;
  let site: SiteOptions | undefined;
  const siteNow = (): SiteOptions => {
    site ??= {
      port: (http.address() as AddressInfo).port,
      isSecure: tls !== undefined,
      isLoopback,
      hosts: [...allowedHosts, ...(isLoopback || isIP(host) !== 0 ? [] : [host])],
      origins: options.allowedOrigins ?? [],
    };
    return site;
  };

  const receive = (request: IncomingMessage, response: WatchedResponse): void => {
    if (!connections.admit(request, response)) return;
    const access = options.accessLog ? logAccess(request, response, options.accessLog) : {};
    const origin = proxies.originOf(request);
    access.client = origin.address;
    const foreign = foreignness(request, siteNow(), origin.host);
    if (foreign !== undefined) return refuse(response, { status: 403, message: foreign });
    const page = corsOriginOf(request, siteNow());
    if (page !== undefined) allowOrigin(response, page);
    const matched = routeOf((request.url ?? '').split('?')[0] ?? '');
    if (!matched) return refuse(response, { status: 404, message: 'Not found: MCP is served at /mcp' });
    const { route } = matched;
    access.path = route.example;
    if (page !== undefined && isPreflight(request)) return answerPreflight(request, response, route.methods);
    const { methods } = route;
    if (!methods.includes(request.method ?? ''))
      return refuse(response, { status: 405, message: 'Method not allowed', headers: { allow: methods.join(', ') } });
    const arrived = { request, response, matched, origin, access };
    if (route.access === 'public') return answerPublic(arrived);
    void admit(arrived).catch((error: unknown) => {
      logger.error({}, `A request over HTTP failed: ${messageOf(error)}`);
      response.destroy();
    });
  };

  const answerPublic = ({ request, response, matched, origin }: Arrived): void => {
    const { settings } = authenticator;
    if (matched.route.name === 'metadata') {
      if (!settings) return refuse(response, { status: 404, message: 'There is no identity provider' });
      const path = matched.profile === undefined ? '/mcp' : `/mcp/p/${matched.profile}`;
      return send(response, 200, resourceMetadata(publicUrl(request, origin, path), settings));
    }
    if (matched.route.name === 'health') return send(response, 200, { status: 'ok' });
    const why = isDraining ? 'draining' : core.problem ? 'configuration' : undefined;
    send(response, why === undefined ? 200 : 503, { status: why ?? 'ready' });
  };

  /** The public URL of a path: as configured, otherwise as this request addressed it. */
  const publicUrl = (request: IncomingMessage, { host: forwarded, isSecure }: Origin, path: string): string => {
    const configured = authenticator.settings?.resource;
    if (configured !== undefined) return path === '/mcp' ? configured : `${new URL(configured).origin}${path}`;
    const scheme = (isSecure ?? tls !== undefined) ? 'https' : 'http';
    return `${scheme}://${forwarded ?? request.headers.host}${path}`;
  };

  /** Finds out who is asking, and for which profile. */
  const admit = async (arrived: Arrived): Promise<void> => {
    const { request, response, matched, origin, access } = arrived;
    let identity: Identity | undefined;
    if (authenticator.isOn) {
      const answer = await authenticator.authenticate(request);
      if (response.destroyed) return;
      if (!isIdentity(answer)) {
        const path = matched.profile === undefined ? '/mcp' : `/mcp/p/${matched.profile}`;
        const url = publicUrl(request, origin, metadataPath(path));
        return refuse(response, challengeOf(answer, authenticator.settings, url));
      }
      identity = answer;
      access.identity = identity;
    }
    if (request.method === 'POST' && !isJson(request))
      return refuse(response, { status: 415, message: 'Content-Type must be application/json' });
    const named = matched.profile;
    const profile = identity?.profile ?? named;
    const isUnknown = profile !== undefined && !hasProfile(profile);
    // A user that may not use a profile does not learn whether it exists.
    if (named !== undefined && (isUnknown || !maySelect(named, identity)))
      return refuse(response, { status: 404, message: 'There is no such profile' });
    if (isUnknown) return refuse(response, { status: 403, message: 'The profile of this token does not exist' });
    // A user without a profile may use everything. Where tokens have to name a profile, one without it is refused.
    if (profile === undefined && identity?.choosesProfile === false && !hasProfile(DEFAULT_PROFILE))
      return refuse(response, { status: 403, message: 'The token names no profile, and there is no default one' });
    access.profile = profile;
    if (isDraining)
      return refuse(response, {
        status: 503,
        message: 'The gateway is shutting down',
        headers: { 'retry-after': '1' },
      });
    serve({ request, response, identity, profile });
  };

  const serve = ({ request, response, identity, profile }: Admitted): void => {
    const withBody = (body: unknown): Incoming => ({ request, response, identity, profile, body });
    connections.use(request, response);
    unread.watch(response);
    if (request.method !== 'POST') return endpoint.serve(withBody(undefined));
    const turn = (body: unknown) => turns.take(endpoint.clientName(withBody(body)));
    void readRequestBody(request, { room: bodies, pieces }, turn)
      .then((body) => {
        if ('value' in body) return response.destroyed ? undefined : endpoint.serve(withBody(body.value));
        const { status, id, ...error } = body.refused;
        // Otherwise a client could go on writing without end.
        if (status === 503) response.once('finish', () => request.destroy());
        close(response, status, { jsonrpc: '2.0', id, error });
      })
      // A failed request must not end the process that serves others.
      .catch(() => response.destroy());
  };

  const settings = { connectionsCheckingInterval: LIMITS.pace.httpConnections, ServerResponse: WatchedResponse };
  const listener: typeof receive = within
    ? (request, response) => within(request.headers, () => receive(request, response))
    : receive;
  const http = tls
    ? createSecureServer({ ...settings, handshakeTimeout: LIMITS.time.httpHead, ...tls }, listener)
    : createServer(settings, listener);
  http.on('connection', (socket) => connections.add(socket));
  http.on(tls ? 'secureConnection' : 'connection', (socket) => connections.slow(socket));
  http.requestTimeout = LIMITS.time.httpRequest;
  http.headersTimeout = LIMITS.time.httpHead;
  http.keepAliveTimeout = LIMITS.time.httpKeepAlive;
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject);
    http.listen(port, host, resolve);
  });
  const stopConfiguring = core.onReload(() => {
    void configure().catch((error: unknown) => {
      const before = authenticator.settings
        ? 'The earlier settings of "auth" stay in force.'
        : 'Until this is corrected, every request is refused.';
      logger.error({ code: 'CONFIGURATION_ERROR' }, `${messageOf(error)} ${before}`);
    });
  });
  let finish = () => {};
  const closed = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const shown = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host;
  return {
    url: `${tls ? 'https' : 'http'}://${isIP(shown) === 6 ? `[${shown}]` : shown}:${siteNow().port}/mcp`,
    closed,
    get isAuthenticated() {
      return authenticator.isOn;
    },
    drain: () => {
      isDraining = true;
      endpoint.drain();
      watched.endAll();
    },
    close: async () => {
      isDraining = true;
      endpoint.drain();
      stopConfiguring();
      tokens.close();
      const ended = new Promise((resolve) => http.close(resolve));
      watched.endAll();
      await endpoint.close();
      await waitAtMost(closedAll(connections.unanswered()), LIMITS.time.lastAnswers);
      http.closeAllConnections();
      await ended;
      finish();
    },
  };
}

/** Resolves when all these answers were sent or their clients have disconnected. */
const closedAll = (responses: Iterable<ServerResponse>): Promise<unknown> =>
  Promise.all([...responses].map((response) => new Promise((resolve) => response.once('close', resolve))));

/** Refuses to listen on an address that other machines can reach, unless requests need a token. */
function refuseOpenDoor(
  { host, isLoopback, allowedHosts }: { host: string; isLoopback: boolean; allowedHosts: readonly string[] },
  isAuthenticated: boolean,
): void {
  if (isAuthenticated || (isLoopback && allowedHosts.length === 0)) return;
  const what = isLoopback ? `--allowed-host ${allowedHosts[0]}` : `--host ${host}`;
  throw new ConfigurationError(
    `${what} lets other machines in, so clients need a token. Create one with "anygpt mcp token create", or set "auth" in the configuration to your identity provider.`,
  );
}

/** A path may select a profile only if the credential leaves it open or names the same one. */
const maySelect = (named: string, identity: Identity | undefined): boolean =>
  identity?.profile === undefined ? identity?.choosesProfile !== false : identity.profile === named;

function isJson(request: IncomingMessage): boolean {
  const [type = '', ...more] = valuesOf(request, 'content-type');
  return more.length === 0 && /^application\/json\s*(?:;|$)/i.test(type.trim());
}

/** Refuses a request without reading its body, and closes the connection. */
const refuse = (response: ServerResponse, { status, message, headers }: Refusal): void =>
  close(response, status, rpcFault(-32000, message), headers);

function close(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...headers });
  response.end(JSON.stringify(body));
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}
