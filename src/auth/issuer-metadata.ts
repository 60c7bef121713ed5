/**
 * Asks an identity provider: bounded answers, no redirects, a time limit. Finds its endpoints in its metadata.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';

/** The identity provider cannot be reached now. The token may still be valid. */
export class IssuerUnavailable extends Error {
  override readonly name = 'IssuerUnavailable';
}

/** Sends one request to an identity provider. Throws `IssuerUnavailable` unless it answers with 200. */
export async function askIssuer(url: string, init: RequestInit, send: typeof fetch): Promise<Response> {
  try {
    const signal = AbortSignal.timeout(LIMITS.time.issuer);
    const response = await send(url, { ...init, redirect: 'manual', signal });
    const body = await boundedBody(response);
    if (response.status !== 200) throw new Error(`it answered with status ${response.status}`);
    return new Response(body);
  } catch (error) {
    throw error instanceof IssuerUnavailable
      ? error
      : new IssuerUnavailable(`The identity provider cannot be asked (${new URL(url).origin})`, { cause: error });
  }
}

async function boundedBody({ body }: Response): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (body ?? []) as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > LIMITS.auth.answer) throw new Error('its answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks) as Buffer<ArrayBuffer>;
}

/** Returns an endpoint that the metadata of an issuer names (RFC 8414 and OpenID Connect). */
export async function endpointOf(issuer: string, field: string, send: typeof fetch): Promise<string> {
  let failure: unknown;
  for (const url of metadataUrls(issuer)) {
    try {
      const metadata: unknown = await (await askIssuer(url, {}, send)).json();
      if (!isObject(metadata) || metadata.issuer !== issuer) continue;
      const endpoint = String(metadata[field]);
      if (!URL.canParse(endpoint)) continue;
      const { protocol, origin } = new URL(endpoint);
      if (protocol === 'https:' || origin === new URL(issuer).origin) return endpoint;
    } catch (error) {
      failure = error;
    }
  }
  throw new IssuerUnavailable(`The metadata of ${issuer} name no usable ${field}`, { cause: failure });
}

function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const wellKnown = (name: string) => `${origin}/.well-known/${name}${path}`;
  const own = path === '' ? [] : [`${origin}${path}/.well-known/openid-configuration`];
  return [wellKnown('oauth-authorization-server'), wellKnown('openid-configuration'), ...own];
}
