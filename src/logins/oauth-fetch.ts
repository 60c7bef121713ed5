/**
 * Sends the requests of a login: only to web addresses that a login may use, without following redirects, and with
 * bounded answers.
 * @module
 */
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { type HostAddress, httpFetch, type PinnedInit } from '../connections/http/http-fetch.ts';
import { LIMITS } from '../core/limits.ts';
import { messageOf } from '../text/thrown-message.ts';

/** Addresses of this machine. */
const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

/** Link-local addresses, such as the metadata services of clouds. No server may name one. */
const link = new BlockList();
link.addSubnet('169.254.0.0', 16);
link.addSubnet('fe80::', 10, 'ipv6');

/** Addresses that only a server in the same network may name: private, shared, unspecified. */
const inner = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  inner.addSubnet(net, bits);
inner.addSubnet('fc00::', 7, 'ipv6');
inner.addAddress('::', 'ipv6');

/** From the most private on. */
const REACHES = ['link', 'loopback', 'inner', 'public'] as const;
type Reach = (typeof REACHES)[number];

function reachOf(address: string): Reach {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return reachOf(mapped);
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (loopback.check(address, family)) return 'loopback';
  if (link.check(address, family)) return 'link';
  return inner.check(address, family) ? 'inner' : 'public';
}

/** Finds the addresses of a host name. */
type Resolve = (host: string) => Promise<readonly HostAddress[]>;

/** The addresses of a host, and the most private reach of them. */
interface Found {
  readonly addresses: readonly HostAddress[];
  readonly reach: Reach;
}

const hostIn = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

async function find(url: URL, resolve: Resolve): Promise<Found> {
  const host = hostIn(url);
  const family = isIP(host);
  const addresses = family === 0 ? await resolve(host) : [{ address: host, family }];
  const reaches = addresses.map(({ address }) => reachOf(address));
  return { addresses, reach: REACHES.find((reach) => reaches.includes(reach)) ?? 'public' };
}

/** A request of a login that is not sent, and why. */
export class LoginAddressError extends Error {
  override readonly name = 'LoginAddressError';
}

/** Tells whether a name always means this machine, whatever a name server says. */
function namesThisMachine(url: URL): boolean {
  const host = hostIn(url);
  return isIP(host) === 0 ? /(?:^|\.)localhost$/.test(host) : reachOf(host) === 'loopback';
}

/** Tells whether a browser may be sent to an address for a login: https, or http on this machine. */
export const isLoginAddress = (url: URL): boolean =>
  url.protocol === 'https:' || (url.protocol === 'http:' && namesThisMachine(url));

/**
 * Returns a `fetch` for the login of one server. Addresses must be https, or http on this machine if the server itself is
 * there. Addresses of this machine or of an inner network are used only if the server itself is there: a stranger must
 * not send us around it. The connection goes to the addresses that were checked, whatever a name server says then.
 */
export function oauthFetch(
  serverUrl: string | URL,
  send: typeof fetch = httpFetch,
  resolve: Resolve = (host) => lookup(host, { all: true }),
): typeof fetch {
  const server = new URL(serverUrl);
  let own: Promise<Found> | undefined;
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const { addresses, reach } = await find(url, resolve).catch(asNetworkError);
    // A server that is not configured as one of this machine can have any name, and give it any address.
    const isPlain = url.protocol === 'http:' && reach === 'loopback';
    if (url.protocol !== 'https:' && !(isPlain && (url.origin === server.origin || namesThisMachine(server))))
      throw new LoginAddressError(`${url.origin} is not https.`);
    own ??= find(server, resolve).catch(asNetworkError);
    if (reach !== 'public' && url.hostname !== server.hostname && (reach === 'link' || (await own).reach !== reach))
      throw new LoginAddressError(`${url.origin} is in a private network. ${server.host} may not lead there.`);
    const body = init.body instanceof URLSearchParams ? String(init.body) : init.body;
    const headers = new Headers(init.headers);
    if (init.body instanceof URLSearchParams && !headers.has('content-type'))
      headers.set('content-type', 'application/x-www-form-urlencoded');
    const signal = AbortSignal.any([
      AbortSignal.timeout(LIMITS.time.loginRequest),
      ...(init.signal ? [init.signal] : []),
    ]);
    const sent: PinnedInit = { ...init, body: body ?? null, headers, redirect: 'manual', signal, addresses };
    const response = await send(url, sent).catch(asNetworkError);
    return new Response(await bounded(response), response);
  };
}

/** The SDK tells a network that does not answer from a server without metadata by this type. */
function asNetworkError(error: unknown): never {
  throw error instanceof TypeError ? error : new TypeError(messageOf(error), { cause: error });
}

/** Reads a whole body; metadata and tokens are short. */
async function bounded(response: Response): Promise<Buffer<ArrayBuffer> | null> {
  if (!response.body) return null;
  // A stream of events has no end to wait for, and says nothing about a login.
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body.cancel();
    return null;
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > LIMITS.login.answer)
      throw new LoginAddressError(`An answer of the login is longer than ${LIMITS.login.answer} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks) as Buffer<ArrayBuffer>;
}
