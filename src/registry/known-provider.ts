/**
 * A provider and what is known of it: its list is asked for once at a time, kept, and served old while it cannot be had
 * anew. A provider that is slow, fails or lists too much costs a note, never an answer.
 * @module
 */
import { AsyncResource } from 'node:async_hooks';
import { DiscoveryError } from '../errors.ts';
import { oneLine } from '../plain-text.ts';
import type { ToolContext, ToolProvider, ToolSummary } from '../tool-provider.ts';
import type { CallToolResult, ToolDefinition } from '../types.ts';
import { toCallToolResult, toErrorResult } from './handler-result.ts';
import { checkDefinition, checkList, definitionOf, type ListLimits } from './provided-tools.ts';
import { outsideRequests } from './request-scope.ts';
import { limitTime, waitAtMost } from './time-limit.ts';

/** How long providers are waited for, and how much they may list. */
export interface ProviderLimits extends ListLimits {
  /** How long a list is fresh. Default 5 minutes. */
  readonly ttlMs: number;
  /** How long a search waits for a list it has never seen. Default 2 s; the asking goes on behind it. */
  readonly waitMs: number;
  /** How long listing may take at all. Default 30 s. */
  readonly listMs: number;
  /** How long a call may take. Default 60 s. */
  readonly callMs: number;
  /** How many tools a provider of one request may list: each such provider is indexed by itself. Default 1,000. */
  readonly maxRequestTools: number;
}

/** What holds where nothing else is said. */
export const PROVIDER_LIMITS: ProviderLimits = {
  ttlMs: 300_000,
  waitMs: 2_000,
  listMs: 30_000,
  callMs: 60_000,
  maxTools: 10_000,
  maxRequestTools: 1_000,
  maxListBytes: 16 * 1024 * 1024,
  maxToolBytes: 256 * 1024,
};

type Tools = ReadonlyMap<string, ToolSummary>;

/** What a provider listed last. */
export interface Listing {
  readonly tools: Tools;
  /** Changes when the list does; 0 while there is none. */
  readonly version: number;
  /** Why it is not what it should be. */
  readonly problem: string | undefined;
}

/** A registry gives its own tools without those of the request, which the asking registry adds itself. */
export const OWN_TOOLS = Symbol('own tools');

/** How a provider is kept. */
export interface KnownProviderOptions {
  /** What notes call it when it has no name. */
  readonly label: string;
  readonly limits: ProviderLimits;
  readonly now: () => number;
  /** True: kept for all requests, so lists are asked for outside of any. */
  readonly shared: boolean;
  readonly onChange?: ((before: Tools, now: Tools) => void) | undefined;
}

const NO_TOOLS: Tools = new Map();
const FIRST_RETRY_MS = 1_000;
const MAX_KEPT_DEFINITIONS = 1_000;

/** See the module. */
export class KnownProvider {
  readonly label: string;
  readonly #source: ToolProvider;
  readonly #options: KnownProviderOptions;
  /** The asynchronous context of whoever added it, where it is kept for all. */
  readonly #home: AsyncResource | undefined;
  #tools: Tools | undefined;
  #version = 0;
  /** Why the last attempt failed, or what was wrong with the list. */
  #problem: string | undefined;
  #failures = 0;
  #due = Number.NEGATIVE_INFINITY;
  #mustWait = true;
  #revision: string | number | undefined;
  #pending: Promise<void> | undefined;
  #definitions = new Map<string, Promise<ToolDefinition | undefined>>();

  constructor(provider: ToolProvider, options: KnownProviderOptions) {
    const { name } = provider;
    this.label = typeof name === 'string' && name !== '' ? oneLine(name, 64) : options.label;
    this.#source = (provider as { [OWN_TOOLS]?: ToolProvider })[OWN_TOOLS] ?? provider;
    this.#options = options;
    this.#home = options.shared ? new AsyncResource('ToolProvider') : undefined;
  }

  /** What `ToolProvider.revision` says, or how often the list was read. */
  get revision(): string | number {
    return this.#source.revision ?? this.#version;
  }

  /** The list as it is now, without asking anybody. */
  get listing(): Listing {
    const problem = this.#tools === undefined ? (this.#problem ?? 'has not listed its tools yet') : this.#problem;
    return { tools: this.#tools ?? NO_TOOLS, version: this.#version, problem };
  }

  /** The list; at once when one is there, else after at most `waitMs`. An old one is renewed behind the answer. */
  read(): Listing | Promise<Listing> {
    const { limits, now } = this.#options;
    if (!Object.is(this.#source.revision, this.#revision)) this.invalidate();
    if (this.#pending === undefined && now() >= this.#due) this.#refresh();
    if (this.#pending === undefined || !this.#mustWait) return this.listing;
    return waitAtMost(this.#pending, limits.waitMs).then(() => this.listing);
  }

  /** The next read asks anew and waits for the answer. */
  invalidate(): void {
    this.#due = Number.NEGATIVE_INFINITY;
    this.#mustWait = true;
    this.#failures = 0;
    this.#pending = undefined;
  }

  /** The definition of a tool; undefined when the provider has none, or none that can be used. Rejects when it fails. */
  definition(name: string): Promise<ToolDefinition | undefined> {
    const known = this.#tools?.get(name);
    const listed = known && definitionOf(known);
    if (listed !== undefined) return Promise.resolve(listed);
    const kept = this.#definitions.get(name);
    if (kept !== undefined) return kept;
    const asked = this.#ask(name);
    if (known === undefined) return asked;
    const definitions = this.#definitions;
    if (definitions.size >= MAX_KEPT_DEFINITIONS) definitions.clear();
    definitions.set(name, asked);
    asked.then(
      (definition) => definition ?? definitions.delete(name),
      () => definitions.delete(name),
    );
    return asked;
  }

  /** Runs a tool. Throws only `ToolNotFoundError`, for what is not the provider's own. */
  async call(name: string, args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<CallToolResult> {
    const { callMs } = this.#options.limits;
    const overdue = () =>
      new DiscoveryError('TOOL_EXECUTION_TIMEOUT', `${name} gave no answer within ${callMs} ms.`, {
        tool: name,
        outcome: 'unknown',
      });
    try {
      const result = await limitTime({ ms: callMs, parent: context.signal, overdue }, (signal) =>
        this.#source.callTool(name, args, { ...context, signal }),
      );
      return toCallToolResult(result);
    } catch (thrown) {
      if (isNotFound(thrown, name)) throw thrown;
      if (!context.signal.aborted) return toErrorResult(thrown);
      return toErrorResult(
        new DiscoveryError('CANCELLED', `${name} was cancelled.`, { tool: name, outcome: 'unknown' }),
      );
    }
  }

  async #ask(name: string): Promise<ToolDefinition | undefined> {
    const { waitMs, maxToolBytes } = this.#options.limits;
    const overdue = () => new Error(`${this.label} did not describe "${name}" within ${waitMs} ms`);
    const found = await limitTime({ ms: waitMs, overdue }, (signal) =>
      this.#neutrally(() => this.#source.getTool(name, { signal })),
    );
    return checkDefinition(found, name, maxToolBytes);
  }

  #refresh(): void {
    const { limits, now, onChange } = this.#options;
    // Read first: what changes while the list is made is in the next one.
    this.#revision = this.#source.revision;
    const overdue = () => new Error(`gave no list within ${limits.listMs} ms`);
    const asked = limitTime({ ms: limits.listMs, overdue, unwatched: true }, (signal) =>
      this.#neutrally(() => this.#source.listToolMetadata({ signal })),
    );
    const isCurrent = () => this.#pending === pending;
    const pending: Promise<void> = asked
      .then((list) => checkList(list, limits))
      .then(
        ({ tools, problem }) => {
          if (!isCurrent()) return;
          const before = this.#tools ?? NO_TOOLS;
          this.#tools = tools;
          this.#version++;
          this.#problem = problem;
          this.#failures = 0;
          this.#due = now() + limits.ttlMs;
          this.#definitions = new Map();
          this.#done();
          onChange?.(before, tools);
        },
        (thrown) => {
          if (!isCurrent()) return;
          const reason = oneLine(thrown instanceof Error ? thrown.message : String(thrown), 200);
          this.#problem = `could not be asked (${reason})${this.#tools === undefined ? '' : '; its last list was used'}`;
          this.#due = now() + Math.min(limits.ttlMs, FIRST_RETRY_MS * 2 ** this.#failures++);
          this.#done();
        },
      );
    this.#pending = pending;
  }

  #done(): void {
    this.#pending = undefined;
    this.#mustWait = false;
  }

  /** Away from the request that happens to ask, so that nothing of it gets into what is kept for all. */
  #neutrally<T>(fn: () => T): T {
    return this.#home === undefined ? fn() : this.#home.runInAsyncScope(outsideRequests<T>, undefined, fn);
  }
}

/** A tool that calls others may fail for want of one of those; that is not this. */
export const isNotFound = (thrown: unknown, name: string): boolean => {
  if (!(thrown instanceof Error) || (thrown as { code?: unknown }).code !== 'TOOL_NOT_FOUND') return false;
  const { tool } = thrown as { tool?: unknown };
  return tool === undefined || tool === name;
};
