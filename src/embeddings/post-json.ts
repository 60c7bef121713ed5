/**
 * Sends one JSON request to an embedding service and parses the answer. Limits time and size; errors say what to do.
 * @module
 */

import { withTimeLimit } from '../async/time-limit.ts';
import { guardedFetch } from '../connections/http/guarded-fetch.ts';
import { shortText } from '../connections/short-text.ts';
import { ConfigurationError, DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { KnownSecrets, type Redact } from '../secrets/redactor.ts';
import { secretParts } from '../secrets/secret-values.ts';

/** How a service is reached. Texts may contain `${NAME}`, expanded for each request. */
export interface Endpoint {
  readonly url: string;
  readonly apiKey?: string | undefined;
  readonly expand?: ((text: string) => string) | undefined;
  readonly fetch?: typeof fetch | undefined;
  /** Timeout of one request. */
  readonly requestMs?: number | undefined;
  readonly maxBytes?: number | undefined;
}

/** The service refused these texts; other texts may work. */
export class InputRefusedError extends DiscoveryError {}

const ABOUT_THE_INPUT: ReadonlySet<number> = new Set([400, 413, 422]);

/** Posts to `path` below the endpoint's URL. Rejects with a `DiscoveryError` that says whether a retry may help. */
export async function postJson(
  {
    url,
    apiKey,
    expand = (text) => text,
    fetch,
    requestMs = LIMITS.time.embedding,
    maxBytes = LIMITS.embeddings.response,
  }: Endpoint,
  path: string,
  body: object,
  signal?: AbortSignal,
): Promise<unknown> {
  const headers = new Headers({ 'content-type': 'application/json', accept: 'application/json' });
  const address = addressOf(expand(url), path, headers);
  const key = apiKey === undefined ? '' : expand(apiKey).trim();
  if (key !== '') setBearer(headers, key);
  const service = `The embedder at ${address.host}`;
  const redact = new KnownSecrets([key, ...secretParts(expand(url), '')]).redactWords;
  const send = guardedFetch({ server: service, maxMessageBytes: maxBytes, fetch, redact });
  const overdue = () =>
    new DiscoveryError('SERVER_CONNECTION_ERROR', `${service} did not answer within ${requestMs} ms.`);
  return withTimeLimit(requestMs, signal, overdue, async (limit) => {
    const init = { method: 'POST', headers, body: JSON.stringify(body), signal: limit };
    try {
      const response = await send(address, init);
      const text = await response.text();
      if (!response.ok) throw refusal(service, response.status, text, redact);
      return parse(service, text);
    } catch (error) {
      if (limit.aborted) throw limit.reason;
      throw error instanceof DiscoveryError && error.code === 'SERVER_AUTH_REQUIRED' ? wrongKey(service) : error;
    }
  });
}

/** Returns the full URL; a URL that already ends with the path works too. */
function addressOf(url: string, path: string, headers: Headers): URL {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address?.protocol !== 'http:' && address?.protocol !== 'https:')
    throw new ConfigurationError('search.embedder.url must be a URL that starts with http:// or https://.');
  const base = address.pathname.endsWith('/') ? address.pathname.slice(0, -1) : address.pathname;
  address.pathname = base.endsWith(path) ? base : base + path;
  if (address.username !== '') {
    const pair = `${decodeURIComponent(address.username)}:${decodeURIComponent(address.password)}`;
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`);
    address.username = '';
    address.password = '';
  }
  return address;
}

function setBearer(headers: Headers, key: string): void {
  try {
    headers.set('authorization', `Bearer ${key}`);
  } catch {
    throw new ConfigurationError(
      'search.embedder.apiKey contains characters that HTTP does not allow. Check it for line breaks.',
    );
  }
}

const wrongKey = (service: string): DiscoveryError =>
  new DiscoveryError('SERVER_AUTH_REQUIRED', `${service} does not accept the key. Check search.embedder.apiKey.`, {
    retryable: false,
  });

function refusal(service: string, status: number, text: string, redact: Redact): DiscoveryError {
  if (status === 401 || status === 403) return wrongKey(service);
  const why = shortText(reasonIn(text), redact, 200);
  const message = `${service} answered HTTP ${status}${why === '' ? '' : `: ${why}`}.`;
  if (ABOUT_THE_INPUT.has(status)) return new InputRefusedError('VALIDATION_ERROR', message);
  // A missing model or a wrong URL does not fix itself; a server error may.
  return new DiscoveryError('SERVER_CONNECTION_ERROR', message, { retryable: status >= 500 || status === 408 });
}

/** `{error: {message}}` as in OpenAI, `{error}` as in Ollama, else the text unless it is HTML. */
function reasonIn(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    if (typeof error === 'string') return error;
    const message: unknown = (error as { message?: unknown } | undefined)?.message;
    return typeof message === 'string' ? message : '';
  } catch {
    return text.trimStart().startsWith('<') ? '' : text;
  }
}

function parse(service: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new DiscoveryError('SERVER_CONNECTION_ERROR', `${service} answered with something that is not JSON.`, {
      cause: error,
    });
  }
}
