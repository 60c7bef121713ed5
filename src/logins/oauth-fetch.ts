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
inner.addSubnet('192.0.0.0', 24);
inner.addSubnet('198.18.0.0', 15);
inner.addSubnet('fc00::', 7, 'ipv6');
inner.addSubnet('fec0::', 10, 'ipv6');
inner.addAddress('::', 'ipv6');

/** From the most private on. */
const REACHES = ['link', 'loopback', 'inner', 'public'] as const;
type Reach = (typeof REACHES)[number];

function reachOf(address: string): Reach {
  const held = heldIPv4(address);
  if (held !== undefined) return reachOf(held);
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (loopback.check(address, family)) return 'loopback';
  if (link.check(address, family)) return 'link';
  return inner.check(address, family) ? 'inner' : 'public';
}

/** Where an IPv6 address that leads to an IPv4 address has it: mapped, compatible, NAT64 and 6to4. */
const HOLDERS = [
  { start: '0:0:0:0:0:ffff:', at: 6 },
  { start: '0:0:0:0:0:0:', at: 6 },
  { start: '64:ff9b:0:0:0:0:', at: 6 },
  { start: '64:ff9b:1:', at: 6 },
  { start: '2002:', at: 1 },
];

/** The IPv4 address that an IPv6 address leads to; undefined if there is none. */
function heldIPv4(address: string): string | undefined {
  if (isIP(address) !== 6) return undefined;
  const groups = groupsOf(address);
  const text = groups.map((group) => group.toString(16)).join(':');
  // `::` and `::1` have addresses of their own.
  if (/^(?:0:){7}[01]$/.test(text)) return undefined;
  const holder = HOLDERS.find(({ start }) => text.startsWith(start));
  if (!holder) return undefined;
  const [high = 0, low = 0] = groups.slice(holder.at);
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): readonly number[] {
  const [written = ''] = address.split('%');
  // Written in hexadecimal, without a dotted end.
  const plain = new URL(`http://[${written}]`).hostname.slice(1, -1);
  const [before = '', after] = plain.split('::');
  const parts = (text: string) => text.split(':').filter(Boolean);
  const [head, tail] = [parts(before), parts(after ?? '')];
  const zeros = Array.from({ length: after === undefined ? 0 : 8 - head.length - tail.length }, () => '0');
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
}

/** Finds the addresses of a host name. */
type Resolve = (host: string) => Promise<readonly HostAddress[]>;

/** The addresses of a host, and the most private and the most public reach of them. */
interface Found {
  readonly addresses: readonly HostAddress[];
  readonly reach: Reach;
  readonly most: Reach;
}

const hostIn = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

async function find(url: URL, resolve: Resolve): Promise<Found> {
  const host = hostIn(url);
  const family = isIP(host);
  const addresses = family === 0 ? await resolve(host) : [{ address: host, family }];
  const reaches = addresses.map(({ address }) => reachOf(address));
  const reach = REACHES.find((one) => reaches.includes(one)) ?? 'public';
  return { addresses, reach, most: REACHES.findLast((one) => reaches.includes(one)) ?? 'public' };
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
    // Whoever owns a name can give it a private address beside the public one: such a server is not there.
    if (reach !== 'public' && url.hostname !== server.hostname && (reach === 'link' || (await own).most !== reach))
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
