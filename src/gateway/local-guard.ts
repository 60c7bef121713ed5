/**
 * Refuses requests that a page of another site could have made, and anything this gateway does not serve, before any
 * other code sees them.
 * @module
 */
import type { IncomingMessage } from 'node:http';

/** Why a request is refused, as HTTP status and message. */
export interface Refusal {
  readonly status: 403 | 404 | 405 | 415;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const HOSTS = ['localhost', '127.0.0.1', '[::1]'];
const METHODS = ['GET', 'POST', 'DELETE'];
const PATH = '/mcp';
/** Values of `Sec-Fetch-Site` that browsers send unless another site made the request. */
const OWN_SITE = ['same-origin', 'none'];

/** Why a request must be refused, or undefined. Reads only the request's head. */
export function refusalOf(
  request: Pick<IncomingMessage, 'rawHeaders' | 'method' | 'url'>,
  port: number,
): Refusal | undefined {
  const foreign = foreignness(request, port);
  if (foreign !== undefined) return { status: 403, message: foreign };
  const { method = '', url = '' } = request;
  if (url.split('?')[0] !== PATH) return { status: 404, message: `Not found: this gateway serves only ${PATH}` };
  if (!METHODS.includes(method))
    return { status: 405, message: 'Method not allowed', headers: { allow: METHODS.join(', ') } };
  const [type = '', ...more] = valuesOf(request, 'content-type');
  const isJson = more.length === 0 && /^application\/json\s*(?:;|$)/i.test(type.trim());
  if (method === 'POST' && !isJson) return { status: 415, message: 'Content-Type must be application/json' };
  return undefined;
}

/** Why a request counts as foreign, or undefined. Host and Origin must match this machine and port exactly. */
export function foreignness(request: Pick<IncomingMessage, 'rawHeaders'>, port: number): string | undefined {
  const hosts = valuesOf(request, 'host');
  const [host = ''] = hosts;
  if (hosts.length !== 1 || !HOSTS.some((name) => host === name || host === `${name}:${port}`))
    return `Invalid Host: ${host.slice(0, 100)}`;
  const origin = valuesOf(request, 'origin').find((given) => !HOSTS.some((name) => given === `http://${name}:${port}`));
  if (origin !== undefined) return `Invalid Origin: ${origin.slice(0, 100)}`;
  // Browsers send no Origin with images, scripts and links, but they do send Sec-Fetch-Site.
  const site = valuesOf(request, 'sec-fetch-site').find((given) => !OWN_SITE.includes(given.trim().toLowerCase()));
  return site === undefined ? undefined : `Invalid Sec-Fetch-Site: ${site.slice(0, 100)}`;
}

const valuesOf = ({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): string[] =>
  rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
