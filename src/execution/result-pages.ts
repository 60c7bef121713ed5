/**
 * Keeps large results for a while, so that an agent can read them page by page. `keep` returns the first page; `read`
 * returns later pages by id and number, only to the caller that made the call.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { wallNow } from '../async/clock.ts';
import { DEFAULTS, LIMITS } from '../core/limits.ts';
import { OWN_SERVER } from '../core/own-server.ts';
import { fail, ok, type ToolResult } from '../core/result.ts';
import type { SharedStore } from '../core/shared-store.ts';
import type { Caller, CallToolResult, ContentBlock, ToolDefinition } from '../core/types.ts';
import { writeInSteps } from './json-pieces.ts';
import { PAGE_KEY, PagedResult } from './result-pager.ts';
import { type Clock, systemClock } from './timers.ts';

/** The tool that reads further pages of a cut result. */
export const READ_RESULT: ToolDefinition = {
  name: 'read_result',
  description: 'Reads another page of a result that was cut because of its size. The cut result names id and page.',
  inputSchema: {
    type: 'object',
    properties: {
      id: { type: 'string', description: 'The id that the cut result gave' },
      page: { type: 'integer', minimum: 1, description: 'The page to read, counted from 1' },
    },
    required: ['id', 'page'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
};

/** Limits of what is kept. */
interface ResultPagesOptions {
  /** Milliseconds a result is kept. Default ten minutes. */
  readonly ttl?: number | undefined;
  /** Most bytes kept in all; the least recently read is dropped first. Default 64 MiB. */
  readonly maxBytes?: number | undefined;
  readonly clock?: Clock | undefined;
  /** Creates an unguessable id. */
  readonly newId?: (() => string) | undefined;
  /** Where other replicas find what is kept. Default: nowhere. */
  readonly shared?: (() => SharedStore | undefined) | undefined;
}

/** Runs long work in steps that leave room for others. */
export type RunSteps = <T>(steps: Generator<unknown, T>) => Promise<T>;

interface Kept {
  readonly paged: PagedResult;
  readonly owner: string;
  readonly until: number;
  /** Other replicas find it, too. */
  isShared?: boolean;
}

/** What other replicas need to cut a result as it was cut here. */
interface SharedResult {
  readonly owner: string;
  readonly until: number;
  readonly pageBytes: number;
  readonly result: CallToolResult;
}

/** Cut results, by id. */
export class ResultPages {
  readonly #ttl: number;
  readonly #maxBytes: number;
  readonly #clock: Clock;
  readonly #newId: () => string;
  readonly #shared: NonNullable<ResultPagesOptions['shared']>;
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  constructor(options: ResultPagesOptions = {}) {
    this.#ttl = options.ttl ?? DEFAULTS.results.keptMs;
    this.#maxBytes = options.maxBytes ?? DEFAULTS.results.bytes;
    this.#clock = options.clock ?? systemClock;
    this.#newId = options.newId ?? (() => randomBytes(16).toString('base64url'));
    this.#shared = options.shared ?? (() => undefined);
  }

  /** Bytes kept now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Cuts a result into pages of at most `pageBytes`, keeps it for its caller and returns the first page. */
  *keep(result: CallToolResult, pageBytes: number, caller: Caller, size?: number): Generator<void, CallToolResult> {
    const paged = yield* PagedResult.cut(result, pageBytes, size);
    const id = paged.bytes <= this.#maxBytes ? this.#newId() : undefined;
    if (id !== undefined) this.#add(id, { paged, owner: ownerOf(caller), until: this.#clock.now() + this.#ttl });
    const blocks = (yield* paged.pageInSteps(1)) ?? [];
    return { ...paged.fields, content: [...blocks, this.#mark(paged, id, 1)] };
  }

  /** Like `keep`. Other replicas have the pages before the first one is returned, unless their store is away. */
  async keepForAll(
    run: RunSteps,
    result: CallToolResult,
    pageBytes: number,
    caller: Caller,
    size?: number,
  ): Promise<CallToolResult> {
    const first = await run(this.keep(result, pageBytes, caller, size));
    const store = this.#shared();
    const id = idIn(first);
    const kept = id === undefined ? undefined : this.#kept.get(id);
    if (!store || id === undefined || !kept || kept.paged.bytes > LIMITS.cluster.result) return first;
    const shared: SharedResult = { owner: kept.owner, until: wallNow() + this.#ttl, pageBytes, result };
    const text = await run(writeInSteps(shared));
    // Without the store, the result can be read on here.
    await store.write(id, Buffer.from(text), this.#ttl).then(
      () => {
        kept.isShared = true;
      },
      () => {},
    );
    return first;
  }

  /** Answers `read_result`. A wrong, expired or foreign id gets the same answer. */
  async read(
    args: Readonly<Record<string, unknown>>,
    caller: Caller,
    run: RunSteps = atOnce,
  ): Promise<ToolResult<CallToolResult>> {
    const where = { server: OWN_SERVER, tool: READ_RESULT.name, outcome: 'not_sent' } as const;
    const { id, page } = args;
    if (typeof id !== 'string' || !Number.isInteger(page)) {
      const message = 'read_result takes {"id": string, "page": integer}, as the cut result names them.';
      return fail('TOOL_VALIDATION_ERROR', message, { ...where, schema: READ_RESULT.inputSchema });
    }
    this.#sweep(0);
    const kept = this.#kept.get(id) ?? (await this.#fetch(id, run));
    if (kept === undefined || kept.owner !== ownerOf(caller)) {
      const message = `No result is kept under this id. Results are kept for ${minutes(this.#ttl)}: make the call again.`;
      return fail('TOOL_VALIDATION_ERROR', message, where);
    }
    this.#kept.delete(id);
    this.#kept.set(id, kept);
    const blocks = kept.paged.page(page as number);
    if (blocks === undefined) {
      const message = `This result has ${kept.paged.pages} pages, counted from 1.`;
      return fail('TOOL_VALIDATION_ERROR', message, { ...where, schema: { minimum: 1, maximum: kept.paged.pages } });
    }
    return ok({ content: [...blocks, this.#mark(kept.paged, id, page as number)] });
  }

  /** Drops everything. */
  close(): void {
    this.#kept.clear();
    this.#bytes = 0;
  }

  /** Takes a result that another replica has kept. Throws when the store does not answer: the result may be there. */
  async #fetch(id: string, run: RunSteps): Promise<Kept | undefined> {
    const bytes = await this.#shared()?.read(id);
    if (bytes === undefined) return undefined;
    const { owner, until, pageBytes, result } = JSON.parse(Buffer.from(bytes).toString('utf8')) as SharedResult;
    const paged = await run(PagedResult.cut(result, pageBytes));
    // The store forgets it in time; a clock that is wrong must not keep it for longer.
    const left = Math.min(this.#ttl, Math.max(0, until - wallNow()));
    return this.#kept.get(id) ?? this.#add(id, { paged, owner, until: this.#clock.now() + left });
  }

  #add(id: string, kept: Kept): Kept {
    this.#sweep(kept.paged.bytes);
    this.#kept.set(id, kept);
    this.#bytes += kept.paged.bytes;
    return kept;
  }

  #mark(paged: PagedResult, id: string | undefined, page: number): ContentBlock {
    const { pages, bytes } = paged;
    const cut = `[Cut here: page ${page} of ${pages}, ${bytes} bytes of JSON in all.`;
    const next = { id, page: page + 1 };
    const text =
      page === pages
        ? `[End of the result: page ${page} of ${pages}.]`
        : id === undefined
          ? `${cut} The rest is too large to be kept: ask the tool for less.]`
          : `${cut} To read on within ${minutes(this.#ttl)}, call execute_tool with server "${OWN_SERVER}", tool "${READ_RESULT.name}", arguments ${JSON.stringify(next)}.]`;
    return { type: 'text', text, _meta: { [PAGE_KEY]: { ...(id !== undefined && { id }), page, pages } } };
  }

  /** Drops expired results, then the least recently read until `room` bytes fit. */
  #sweep(room: number): void {
    const now = this.#clock.now();
    for (const [id, kept] of this.#kept) {
      if (kept.until > now && this.#bytes + room <= this.#maxBytes) continue;
      this.#kept.delete(id);
      this.#bytes -= kept.paged.bytes;
      // What is kept for all is bounded as what is kept here; the store forgets old values by itself.
      if (kept.isShared && kept.until > now)
        void this.#shared()
          ?.delete(id)
          .catch(() => {});
    }
  }
}

/** Runs all steps without a pause. */
export async function atOnce<T>(steps: Generator<unknown, T>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The id in the mark of a first page; none if the rest was not kept. */
function idIn({ content }: CallToolResult): string | undefined {
  const mark = content?.at(-1)?._meta as Readonly<Record<string, { readonly id?: string }>> | undefined;
  return mark?.[PAGE_KEY]?.id;
}

const minutes = (ms: number): string => (ms === 60_000 ? '1 minute' : `${Math.round(ms / 60_000)} minutes`);

const ownerOf = (caller: Caller): string =>
  caller.principal !== undefined ? `principal ${caller.principal}` : `session ${caller.session ?? ''}`;
