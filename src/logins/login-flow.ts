/**
 * Logs a person in: sends the browser to the authorization server and waits for the answer on this machine.
 * @module
 */
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { abortable } from '../async/abortable.ts';
import { elapsedNow } from '../async/clock.ts';
import { limitTime } from '../async/time-limit.ts';
import { META, MODERN_VERSION } from '../connections/handshake.ts';
import { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';
import { oneLine } from '../text/plain-text.ts';
import { type CallbackListener, callbackPort, listenForCallback } from './callback-listener.ts';
import { type Challenge, challengeIn } from './challenge.ts';
import { discoverLogin, type LoginPlace } from './discover-login.ts';
import { DEVICE_GRANT, loginClient } from './login-client.ts';
import type { LoginStore } from './login-store.ts';
import { isLoginAddress } from './oauth-fetch.ts';
import type { LoginClient, LoginOwner, SavedLogin } from './saved-login.ts';
import type { LoginTarget } from './server-logins.ts';
import { identify, requestToken, type TokenAnswer } from './token-request.ts';

/** What a person sees of a login. */
export interface LoginScreen {
  /** Whether a device code is preferred to a redirect to this machine. */
  readonly prefersCode: boolean;
  readonly signal: AbortSignal;
  /** Shows the address to visit, or opens it. A device grant has a code to type there. */
  show(address: URL, code?: string): void;
  /**
   * Resolves with what a person pastes: the address that the browser ended at. Undefined: nothing will come. `isAgain`:
   * what was pasted before does not belong to this login.
   */
  pasted(signal: AbortSignal, isAgain: boolean): Promise<string | undefined>;
}

/** Logs in and saves the tokens. If another process does so meanwhile, its login is used. */
export async function logIn(
  target: LoginTarget,
  owner: LoginOwner,
  store: LoginStore,
  screen: LoginScreen,
  send: typeof fetch,
): Promise<void> {
  const before = await store.read(owner);
  await store.alone(owner, async () => {
    const meanwhile = await store.read(owner);
    if (meanwhile && meanwhile.accessToken !== before?.accessToken) return;
    const { server, url, settings } = target;
    const place = await discoverLogin(server, new URL(url), await challengeOf(target, send), settings, send);
    if (before && settings.clientId !== undefined && before.issuer !== place.issuer)
      throw refusal(
        server,
        `it now names the authorization server ${shown(place.issuer)}; the last login was at ${shown(before.issuer)}. If that is right, log out first.`,
      );
    const overdue = () => refusal(server, `nobody logged in within ${LIMITS.time.login / 60_000} minutes.`);
    const login = await limitTime({ ms: LIMITS.time.login, parent: screen.signal, overdue }, async (signal) => {
      const offer = screen.prefersCode ? await codeOffer(target, place, send) : undefined;
      return offer
        ? byCode(target, place, offer, screen, send, signal)
        : byRedirect(target, place, screen, send, signal);
    });
    await store.locked(owner, () => store.write(owner, login));
  });
}

/** Asks the server without a token and returns its challenge; an empty one if it wants none. */
export async function challengeOf({ url, headers, opensWith }: LoginTarget, send: typeof fetch): Promise<Challenge> {
  const sent = new Headers(headers);
  sent.set('accept', 'application/json, text/event-stream');
  sent.set('content-type', 'application/json');
  const ask = async (body: object | undefined) => {
    const written = body && { body: JSON.stringify(body) };
    return send(url, { method: opensWith, headers: sent, ...written }).catch(() => undefined);
  };
  let response = await ask(opensWith === 'POST' ? GREETING : undefined);
  // A server of the new protocol does not know the old greeting, and need not look at the token first.
  if (opensWith === 'POST' && response?.status === 400) {
    sent.set('mcp-protocol-version', MODERN_VERSION);
    sent.set('mcp-method', DISCOVER.method);
    response = await ask(DISCOVER);
  } else if (opensWith === 'POST' && response?.ok) {
    // Some servers greet everybody, and ask for a token with the first request.
    const session = response.headers.get('mcp-session-id');
    if (session !== null) sent.set('mcp-session-id', session);
    sent.set('mcp-protocol-version', GREETING.params.protocolVersion);
    response = await ask(LISTING);
  }
  return challengeIn(response?.headers.get('www-authenticate') ?? null);
}

const GREETING = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'anygpt', version: '0' } },
};
const LISTING = { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} };
const DISCOVER = {
  jsonrpc: '2.0',
  id: 1,
  method: 'server/discover',
  params: {
    _meta: {
      [META.protocolVersion]: MODERN_VERSION,
      [META.clientCapabilities]: {},
      [META.clientInfo]: GREETING.params.clientInfo,
    },
  },
};

async function byRedirect(
  target: LoginTarget,
  place: LoginPlace,
  screen: LoginScreen,
  send: typeof fetch,
  signal: AbortSignal,
): Promise<SavedLogin> {
  const { server, settings, url } = target;
  const state = randomBytes(24).toString('base64url');
  const listener = await listenForCallback(settings.redirectUri, callbackPort(url), state);
  try {
    const { redirectUri } = listener;
    const client = await loginClient(server, place, settings, redirectUri, send);
    const verifier = randomBytes(32).toString('base64url');
    const address = new URL(place.metadata.authorization_endpoint);
    if (!isLoginAddress(address))
      throw refusal(server, 'its authorization server names no https address to log in at.');
    for (const [name, value] of Object.entries({
      ...settings.parameters,
      response_type: 'code',
      client_id: client.client_id,
      redirect_uri: redirectUri,
      state,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      scope: place.scope,
      resource: place.resource,
    }))
      if (value !== undefined) address.searchParams.set(name, value);
    // OpenID providers give a refresh token only after consent.
    if (place.scope?.split(' ').includes('offline_access') && !address.searchParams.has('prompt'))
      address.searchParams.set('prompt', 'consent');
    screen.show(address);
    const code = await codeFrom(server, place, state, listener, screen, signal);
    const asked = { ...savedPlace(place), client };
    const answer = await requestToken(
      asked,
      { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier },
      send,
    );
    const login = { ...asked, ...tokensOf(server, answer, place) };
    listener.answer(true);
    return login;
  } catch (error) {
    listener.answer(false);
    throw error;
  } finally {
    await listener.close();
  }
}

/** Waits for the answer to this login, from the browser or from a person who pastes it. */
async function codeFrom(
  server: string,
  place: LoginPlace,
  state: string,
  listener: CallbackListener,
  screen: LoginScreen,
  signal: AbortSignal,
): Promise<string> {
  const ended = new AbortController();
  const pasted = pastedAnswer(screen, state, ended.signal);
  const arrived = listener.arrived.then(({ searchParams }) => searchParams);
  try {
    return await codeIn(server, place, await abortable(Promise.race([arrived, pasted]), signal));
  } finally {
    ended.abort();
  }
}

/** Asks the person until the answer to this login is pasted. Never settles if nothing more will come. */
async function pastedAnswer({ pasted }: LoginScreen, state: string, signal: AbortSignal): Promise<URLSearchParams> {
  for (let isAgain = false; ; isAgain = true) {
    const text = await pasted(signal, isAgain);
    if (text === undefined) return new Promise<never>(() => {});
    const parameters = parametersIn(text);
    if (parameters.get('state') === state) return parameters;
  }
}

/** Returns the code of an answer to this login. Throws the reason if it has none. */
async function codeIn(server: string, place: LoginPlace, parameters: URLSearchParams): Promise<string> {
  const { validateAuthorizationResponseIssuer } = await import('@modelcontextprotocol/client');
  try {
    validateAuthorizationResponseIssuer({
      iss: parameters.get('iss') ?? undefined,
      expectedIssuer: place.issuer,
      issParameterSupported: place.metadata.authorization_response_iss_parameter_supported === true,
    });
  } catch {
    // What such an answer says is not shown: it may come from anywhere.
    throw refusal(server, `the answer did not come from ${shown(place.issuer)}.`);
  }
  const code = parameters.get('code');
  if (code) return code;
  const [error = 'no code', description = ''] = [parameters.get('error'), parameters.get('error_description')].map(
    (text) => oneLine(text ?? '', LIMITS.text.detail) || undefined,
  );
  throw refusal(server, `${shown(place.issuer)} answered ${error}${description && `: ${description}`}.`);
}

/** Reads a pasted address, or only its query. */
const parametersIn = (text: string): URLSearchParams =>
  URL.canParse(text.trim()) ? new URL(text.trim()).searchParams : new URLSearchParams(text.trim().replace(/^\?/, ''));

/** A code for a login, and where to type it. */
interface CodeOffer {
  readonly client: LoginClient;
  readonly deviceCode: string;
  readonly userCode: string;
  readonly address: URL;
  readonly waitMs: number;
  /** When the code expires, of the monotonic clock. */
  readonly endsAt: number;
}

/**
 * Asks for a code (RFC 8628). Undefined where none is given, whatever the reason: providers offer codes that not every
 * client may have, and the redirect that is tried then fails with a reason of its own.
 */
async function codeOffer(
  { server, settings }: LoginTarget,
  place: LoginPlace,
  send: typeof fetch,
): Promise<CodeOffer | undefined> {
  const { device_authorization_endpoint: endpoint, token_endpoint_auth_methods_supported: methods } = place.metadata;
  if (typeof endpoint !== 'string') return undefined;
  try {
    const client = await loginClient(server, place, settings, undefined, send);
    const body = new URLSearchParams({
      client_id: client.client_id,
      ...(place.scope !== undefined && { scope: place.scope }),
      ...(place.resource !== undefined && { resource: place.resource }),
    });
    const headers = new Headers({ accept: 'application/json' });
    identify(client, methods, body, headers);
    const offer: unknown = await (await send(endpoint, { method: 'POST', headers, body })).json();
    const { device_code, user_code, verification_uri, interval, expires_in } = isObject(offer) ? offer : {};
    if (typeof device_code !== 'string' || typeof user_code !== 'string' || typeof verification_uri !== 'string')
      return undefined;
    const address = new URL(verification_uri);
    if (!isLoginAddress(address)) return undefined;
    const waitMs = Math.max(Number(interval) * 1000 || LIMITS.pace.deviceCode, LIMITS.pace.deviceCodeLeast);
    return {
      client,
      deviceCode: device_code,
      userCode: oneLine(user_code, LIMITS.names.shown),
      address,
      // A longer timer than Node has would fire at once.
      waitMs: Math.min(waitMs, LIMITS.time.login),
      endsAt: elapsedNow() + (Number(expires_in) * 1000 || LIMITS.time.login),
    };
  } catch {
    return undefined;
  }
}

/** Logs in with a code that a person types on another device. */
async function byCode(
  { server }: LoginTarget,
  place: LoginPlace,
  { client, deviceCode, userCode, address, waitMs, endsAt }: CodeOffer,
  screen: LoginScreen,
  send: typeof fetch,
  signal: AbortSignal,
): Promise<SavedLogin> {
  const asked = { ...savedPlace(place), client };
  screen.show(address, userCode);
  for (let wait = waitMs; ; ) {
    await pause(wait, undefined, { signal });
    const answer = await requestToken(asked, { grant_type: DEVICE_GRANT, device_code: deviceCode }, send);
    if ('tokens' in answer) return { ...asked, ...tokensOf(server, answer, place) };
    const { code, reason, isTransient } = answer;
    if (code === 'expired_token' || elapsedNow() >= endsAt)
      throw refusal(server, 'the code expired before the login was done. Log in again for a new one.');
    if (code === 'authorization_pending') continue;
    if (!isTransient) throw refusal(server, `${shown(place.issuer)} answered ${code ?? reason}.`);
    // `slow_down`, or an endpoint that cannot answer now.
    wait += LIMITS.pace.deviceCode;
  }
}

const savedPlace = ({ issuer, metadata, resource }: LoginPlace) => ({
  issuer,
  tokenEndpoint: metadata.token_endpoint,
  ...(typeof metadata.revocation_endpoint === 'string' && { revocationEndpoint: metadata.revocation_endpoint }),
  authMethods: metadata.token_endpoint_auth_methods_supported,
  resource,
});

/** Returns the tokens. What was asked for is granted unless the answer says otherwise. */
function tokensOf(server: string, answer: TokenAnswer, { scope }: LoginPlace) {
  if ('tokens' in answer) return { scope, ...answer.tokens };
  throw refusal(server, `${answer.reason}.`);
}

const shown = (text: string): string => oneLine(text, LIMITS.names.shown);

const refusal = (server: string, why: string): DiscoveryError =>
  new DiscoveryError('SERVER_AUTH_REQUIRED', `Cannot log in to ${server}: ${why}`, { server, retryable: false });
