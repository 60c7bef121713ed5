/**
 * Asks one MCP Registry, or a registry that speaks the same API, for its servers. Everything is bounded: time, bytes,
 * pages. A busy registry is asked again after a pause, as often as `retry` says.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { pauseAfter } from '../async/back-off.ts';
import { withTimeLimit } from '../async/time-limit.ts';
import { guardedFetch } from '../connections/http/guarded-fetch.ts';
import { shortText } from '../connections/short-text.ts';
import { ConfigurationError, DiscoveryError } from '../core/errors.ts';
import { DEFAULTS, LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';
import { KnownSecrets } from '../secrets/redactor.ts';
import { secretParts } from '../secrets/secret-values.ts';
import { type RegistryPage, readPage } from './read-page.ts';
import { isLoopback } from './way-warnings.ts';

/** A registry as configured. Texts may contain `${NAME}`. */
export interface RegistrySource {
  /** What people call it. Default: the host. */
  readonly name?: string | undefined;
  /** The address before `/v0.1/servers`. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** What a client uses of its surroundings. */
export interface RegistryWorld {
  /** Replaces `${NAME}` in a text. */
  readonly expand?: ((text: string) => string) | undefined;
  readonly fetch?: typeof fetch | undefined;
  /** Longest time for one request. */
  readonly requestMs?: number | undefined;
  /** Longest time to refresh what was synced before, unless fresh answers are wanted. */
  readonly refreshMs?: number | undefined;
  readonly retry?: typeof DEFAULTS.retry | undefined;
  /** Waits between two attempts. */
  readonly pause?: ((ms: number, signal: AbortSignal | undefined) => Promise<void>) | undefined;
}

/** A JSON answer, or the notice that nothing has changed since the given ETag. */
interface RegistryAnswer {
  readonly body: unknown;
  readonly unchanged: boolean;
  readonly etag: string | undefined;
  /** The registry's clock, in milliseconds since 1970. */
  readonly date: number | undefined;
}

interface ListQuery {
  /** Only entries that changed since, deleted ones included. */
  readonly updatedSince?: string | undefined;
  /** Only entries with this text in the name or the description. */
  readonly search?: string | undefined;
  /** The answer to the first page that is known already. */
  readonly etag?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A page, or undefined if nothing has changed; with what the first answer said about itself. */
export interface ListedPage extends Pick<RegistryAnswer, 'unchanged' | 'etag' | 'date'> {
  readonly page: RegistryPage;
}

/** Entries of a page: the most that a registry gives at once. */
export const PAGE = '100';

const NO_ENTRIES: RegistryPage = { entries: [], skipped: [], nextCursor: undefined };

export class RegistryClient {
  readonly name: string;
  readonly #source: RegistrySource;
  readonly #world: RegistryWorld;

  constructor(source: RegistrySource, world: RegistryWorld = {}) {
    this.#source = source;
    this.#world = world;
    this.name = source.name ?? hostOf(source.url);
  }

  /** Yields a list page by page. Ends with an error if the registry repeats a cursor or never ends. */
  async *list({ updatedSince, search, etag, signal }: ListQuery = {}): AsyncGenerator<ListedPage> {
    const query = new URLSearchParams({ limit: PAGE, version: 'latest' });
    if (search !== undefined) query.set('search', search);
    if (updatedSince !== undefined) {
      query.set('updated_since', updatedSince);
      query.set('include_deleted', 'true');
    }
    const seen = new Set<string>();
    for (let pages = 1; ; pages++) {
      const { body, ...about } = await this.get(`/servers?${query}`, { etag: pages === 1 ? etag : undefined, signal });
      const page = about.unchanged ? NO_ENTRIES : readPage(body);
      if (page === undefined) throw this.#refused('answered with something that is not a list of servers');
      const { nextCursor } = page;
      if (nextCursor !== undefined) {
        if (nextCursor.length > LIMITS.wire.cursor) throw this.#refused('gives a cursor that is too long');
        if (seen.has(nextCursor)) throw this.#refused('gives the same cursor twice, so its list has no end');
        if (pages >= LIMITS.registry.pages) throw this.#refused(`has more than ${LIMITS.registry.pages} pages`);
        seen.add(nextCursor);
        query.set('cursor', nextCursor);
      }
      yield { page, ...about };
      if (nextCursor === undefined) return;
    }
  }

  /** Sends one request below `/v0.1`; a body of undefined means "not found". */
  async get(
    path: string,
    { etag, signal }: { readonly etag?: string | undefined; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<RegistryAnswer> {
    const { retry = DEFAULTS.retry, pause = waitFor } = this.#world;
    for (let failures = 0; ; ) {
      try {
        return await this.#once(path, etag, signal);
      } catch (error) {
        const { retryable, retryAfterMs = 0 } = error instanceof DiscoveryError ? error.toInfo() : { retryable: false };
        if (signal?.aborted || !retryable || ++failures > retry.attempts) throw error;
        await pause(Math.max(pauseAfter(failures, retry), retryAfterMs), signal);
      }
    }
  }

  async #once(path: string, etag: string | undefined, parent: AbortSignal | undefined): Promise<RegistryAnswer> {
    const { expand = (text) => text, requestMs = LIMITS.time.registry, fetch } = this.#world;
    const { url, headers = {} } = this.#source;
    const address = addressOf(expand(url), path);
    const values = Object.entries(headers).map(([name, value]) => [name, expand(value)] as const);
    const redact = new KnownSecrets([
      ...values.flatMap(([name, value]) => secretParts(value, name)),
      ...secretParts(expand(url), ''),
    ]).redactWords;
    const who = this.#who;
    const send = guardedFetch({ server: who, maxMessageBytes: LIMITS.registry.answer, fetch, redact });
    const overdue = () =>
      new DiscoveryError('SERVER_CONNECTION_ERROR', `${who} did not answer within ${requestMs} ms.`);
    return withTimeLimit(requestMs, parent, overdue, async (signal) => {
      try {
        const response = await send(address, { headers: headersOf(values, etag, who), signal });
        const about = { etag: shortEtag(response), date: dateOf(response) };
        if (response.status === 304 && etag !== undefined) return { body: undefined, unchanged: true, ...about, etag };
        if (response.status === 404) {
          await response.body?.cancel();
          return { body: undefined, unchanged: false, ...about };
        }
        if (!response.ok) throw refusal(who, response.status, await reasonIn(response), redact);
        return { body: await jsonOf(response, who), unchanged: false, ...about };
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (!(error instanceof DiscoveryError) || error.code !== 'SERVER_AUTH_REQUIRED') throw error;
        throw new DiscoveryError(error.code, `${who} wants a login. Put a token into its \`headers\`.`, {
          retryable: false,
          cause: error,
        });
      }
    });
  }

  /** Whether the registry is on this machine. */
  get isLocal(): boolean {
    const { url } = this.#source;
    return URL.canParse(url) && isLoopback(new URL(url).hostname);
  }

  get #who(): string {
    return `The registry ${this.name}`;
  }

  #refused(what: string): DiscoveryError {
    return new DiscoveryError('SERVER_CONNECTION_ERROR', `${this.#who} ${what}.`, { retryable: false });
  }
}

const waitFor = (ms: number, signal: AbortSignal | undefined): Promise<void> => sleep(ms, undefined, { signal });

/** The host of an address, which may still have references in it. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);

/** Joins the address of a registry and a path. An address that names the version or the list already works as well. */
function addressOf(url: string, path: string): URL {
  const base = URL.canParse(url) ? new URL(url) : undefined;
  if (base?.protocol !== 'http:' && base?.protocol !== 'https:')
    throw new ConfigurationError('The `url` of a registry must be an address that starts with http:// or https://.');
  if (base.username + base.password !== '')
    throw new ConfigurationError('The `url` of a registry must not have a password in it. Use `headers`.');
  const root = base.pathname.replace(/\/+$/, '').replace(/\/servers$/, '');
  const [place, query = ''] = path.split('?');
  base.pathname = `${/\/v\d[\d.]*$/.test(root) ? root : `${root}/v0.1`}${place}`;
  base.search = query;
  base.hash = '';
  return base;
}

function headersOf(values: readonly (readonly [string, string])[], etag: string | undefined, who: string): Headers {
  const headers = new Headers({ accept: 'application/json' });
  for (const [name, value] of values) {
    try {
      headers.set(name, value);
    } catch {
      throw new ConfigurationError(
        `${who}: the header ${JSON.stringify(name)} has characters that HTTP does not allow.`,
      );
    }
  }
  if (etag !== undefined) headers.set('if-none-match', etag);
  return headers;
}

/** An ETag goes back to the registry as it is, and is kept on disk until then. */
const shortEtag = ({ headers }: Response): string | undefined => {
  const etag = headers.get('etag');
  return etag !== null && /^(?:W\/)?"[\x21\x23-\x7e]{0,256}"$/.test(etag) ? etag : undefined;
};

const dateOf = ({ headers }: Response): number | undefined => {
  const time = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(time) ? undefined : time;
};

async function jsonOf(response: Response, who: string): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new DiscoveryError('SERVER_CONNECTION_ERROR', `${who} answered with something that is not JSON.`, {
      retryable: false,
      cause: error,
    });
  }
}

/** Says why a registry refused: `{detail}` of RFC 9457, or `{error}`. */
async function reasonIn(response: Response): Promise<string> {
  try {
    const body: unknown = await response.json();
    const said = isObject(body) ? (body.detail ?? body.error ?? body.title) : undefined;
    return typeof said === 'string' ? said : '';
  } catch (error) {
    if (error instanceof SyntaxError) return '';
    throw error;
  }
}

function refusal(who: string, status: number, why: string, redact: KnownSecrets['redactWords']): DiscoveryError {
  const reason = shortText(why, redact, LIMITS.text.reason);
  const message = `${who} answered HTTP ${status}${reason === '' ? '' : `: ${reason}`}.`;
  return new DiscoveryError('SERVER_CONNECTION_ERROR', message, { retryable: status >= 500 || status === 408 });
}
