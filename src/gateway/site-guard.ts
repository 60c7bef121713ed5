/**
 * Refuses requests that a page of another site could have made, before any other code sees them. Browsers set Host and
 * Origin themselves, and no page can change these headers.
 * @module
 */
import type { IncomingMessage } from 'node:http';

/** The names under which the gateway may be reached, and the pages that may use it. */
export interface SiteOptions {
  readonly port: number;
  readonly isSecure: boolean;
  /** Listens only on this machine. */
  readonly isLoopback: boolean;
  /** Names, with or without a port, beside those of this machine. */
  readonly hosts: readonly string[];
  /** Origins of web pages, such as `https://app.example.com`. */
  readonly origins: readonly string[];
}

type Head = Pick<IncomingMessage, 'rawHeaders'> & { readonly socket?: { readonly localAddress?: string | undefined } };

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
/** Values of `Sec-Fetch-Site` that browsers send unless another site made the request. */
const OWN_SITE = ['same-origin', 'none'];

/**
 * Why a request counts as foreign, or undefined.
 * @param forwarded the Host that a trusted proxy was asked for
 */
export function foreignness(request: Head, site: SiteOptions, forwarded?: string): string | undefined {
  const hosts = valuesOf(request, 'host');
  const host = (forwarded ?? hosts[0] ?? '').toLowerCase();
  if (hosts.length !== 1 || !isOurs(host, request, site)) return `Invalid Host: ${host.slice(0, 100)}`;
  const given = valuesOf(request, 'origin');
  const allowed = corsOriginOf(request, site);
  if (allowed !== undefined) return undefined;
  const scheme = site.isSecure ? 'https' : 'http';
  const origin = given.find((one) => !LOOPBACK.some((name) => one === `${scheme}://${name}:${site.port}`));
  if (origin !== undefined) return `Invalid Origin: ${origin.slice(0, 100)}`;
  // Browsers send no Origin with images, scripts and links, but they do send Sec-Fetch-Site.
  const fetched = valuesOf(request, 'sec-fetch-site').find((one) => !OWN_SITE.includes(one.trim().toLowerCase()));
  return fetched === undefined ? undefined : `Invalid Sec-Fetch-Site: ${fetched.slice(0, 100)}`;
}

/** The Origin of a page that was explicitly allowed to use the gateway. */
export function corsOriginOf(request: Head, { origins }: SiteOptions): string | undefined {
  const [origin, ...more] = valuesOf(request, 'origin');
  return origin !== undefined && more.length === 0 && origins.includes(origin) ? origin : undefined;
}

function isOurs(host: string, { socket }: Head, { port, isLoopback, hosts }: SiteOptions): boolean {
  const [name = '', asked] = nameAndPort(host);
  if (hosts.some((one) => one === host || one === name)) return true;
  const isPort = asked === undefined || asked === String(port);
  if (LOOPBACK.includes(name)) return isPort || !isLoopback;
  // An attacker's site has a name, so an IP address as Host is safe. Its port must match: only local names are port-mapped.
  return !isLoopback && isPort && socket?.localAddress !== undefined && name === written(socket.localAddress);
}

/** Splits `[::1]:80` or `host:80` in two. Returns nothing for any other form. */
function nameAndPort(host: string): readonly string[] {
  const [, name, port] = /^(\[[0-9a-f:.]+\]|[^:/@\s[\]]+)(?::(\d{1,5}))?$/.exec(host) ?? [];
  return name === undefined ? [] : port === undefined ? [name] : [name, port];
}

/** An address as it stands in a Host header. */
const written = (address: string): string => {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return plain.includes(':') ? `[${plain}]` : plain;
};

/** The values of a header, each as it was sent. */
export function valuesOf({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): string[] {
  const values: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const header = rawHeaders[at];
    if (header?.length === name.length && header.toLowerCase() === name) values.push(rawHeaders[at + 1] ?? '');
  }
  return values;
}
