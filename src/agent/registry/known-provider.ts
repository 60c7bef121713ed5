/**
 * Keeps the state of one provider: its list, its definitions, and why either is missing. Serves a stale list while no new
 * one can be read. A provider that is slow, fails or lists too much adds a note to the answer and never prevents it.
 * @module
 */

import { AsyncResource } from 'node:async_hooks';
import { abortable } from '../../async/abortable.ts';
import { limitTime } from '../../async/time-limit.ts';
import { type Attempt, ListKeeper } from '../../catalog/list-keeper.ts';
import { DiscoveryError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { ToolContext, ToolProvider, ToolSummary } from '../../core/tool-provider.ts';
import type { CallToolResult, ToolDefinition } from '../../core/types.ts';
import type { SchemaValidators } from '../../execution/validation/schema-validators.ts';
import { maskSecrets } from '../../secrets/credential-patterns.ts';
import { oneLine } from '../../text/plain-text.ts';
import { messageOf } from '../../text/thrown-message.ts';
import { checkValue, readArguments, refuseArguments } from './check-arguments.ts';
import { checkDefinition, checkList, definitionOf } from './check-list.ts';
import { isNotFound, OWN_TOOLS } from './check-provider.ts';
import { toCallToolResult, toCancelledResult, toErrorResult } from './handler-result.ts';
import { ProviderDefinitions } from './provider-definitions.ts';
import type { ProviderLimits } from './provider-limits.ts';
import { outsideRequests } from './request-scope.ts';

export { isNotFound, OWN_TOOLS } from './check-provider.ts';

type Arguments = Readonly<Record<string, unknown>>;
type Tools = ReadonlyMap<string, ToolSummary>;

/** What a provider listed last. */
export interface Listing {
  readonly tools: Tools;
  /** Changes with the list; 0 while there is none. */
  readonly version: number;
  /** Why the list is missing or incomplete. */
  readonly problem: string | undefined;
}

/** Options of a provider. */
export interface KnownProviderOptions {
  /** The provider's name in notes, if it has none of its own. */
  readonly label: string;
  readonly limits: ProviderLimits;
  readonly now: () => number;
  /** True: used by all requests, so lists are read outside of any request. */
  readonly shared: boolean;
  readonly validators: SchemaValidators;
  readonly onChange?: ((before: Tools, now: Tools) => void) | undefined;
}

const NO_TOOLS: Tools = new Map();

export class KnownProvider {
  readonly label: string;
  readonly #source: ToolProvider;
  readonly #options: KnownProviderOptions;
  /** The asynchronous context in which a shared provider was added. */
  readonly #home: AsyncResource | undefined;
  readonly #keeper: ListKeeper<string>;
  #tools: Tools | undefined;
  #version = 0;
  /** What was wrong with the list. */
  #problem: string | undefined;
  #revision: string | number | undefined;
  readonly #definitions: ProviderDefinitions;
  /** Undefined if arguments are not checked here. */
  readonly #validators: SchemaValidators | undefined;

  constructor(provider: ToolProvider, options: KnownProviderOptions) {
    const { label, limits, now, validators } = options;
    const ownTools = (provider as { [OWN_TOOLS]?: ToolProvider })[OWN_TOOLS];
    this.label = nameOf(provider) || label;
    this.#source = ownTools ?? provider;
    this.#options = options;
    this.#keeper = new ListKeeper<string>({
      read: (attempt) => this.#readList(attempt),
      toFailure: (thrown) => oneLine(maskSecrets(messageOf(thrown)), 200),
      isStale: (ageMs) => ageMs >= limits.ttlMs,
      retry: { initial: LIMITS.pace.providerRetry, max: limits.ttlMs },
      now,
    });
    this.#definitions = new ProviderDefinitions({ ask: (name) => this.#ask(name), ttlMs: limits.ttlMs, now });
    // A nested registry checks by itself, and knows more than JSON Schema says.
    this.#validators = limits.checkArguments && ownTools === undefined ? validators : undefined;
    this.#home = options.shared ? new AsyncResource('ToolProvider') : undefined;
  }

  /** The provider's own revision, or the number of lists read. */
  get revision(): string | number {
    return this.#readRevision() ?? this.#version;
  }

  /** The current list, without asking the provider. */
  get listing(): Listing {
    return { tools: this.#tools ?? NO_TOOLS, version: this.#version, problem: this.#problemNow() };
  }

  /** Tells whether the current list has a tool. */
  lists(name: string): boolean {
    return this.#tools?.has(name) === true;
  }

  /**
   * Returns the list at once if there is one, otherwise after at most `mostMs`. Refreshes a stale list in the background.
   */
  read(mostMs = Number.POSITIVE_INFINITY): Listing | Promise<Listing> {
    if (!Object.is(this.#readRevision(), this.#revision)) this.invalidate();
    const waiting = this.#keeper.fresh(undefined, Math.min(mostMs, this.#options.limits.waitMs));
    return waiting === undefined ? this.listing : waiting.then(() => this.listing);
  }

  /** Makes the next read ask the provider and wait for its answer. */
  invalidate(): void {
    this.#keeper.invalidate();
    this.#definitions.clear();
  }

  /** The definition of a tool; undefined if there is no usable one. Rejects if the provider fails. */
  definition(name: string): Promise<ToolDefinition | undefined> {
    const known = this.#tools?.get(name);
    const listed = known && definitionOf(known);
    if (listed !== undefined) return Promise.resolve(listed);
    return this.#definitions.get(name);
  }

  /** Tells whether the provider lists or describes a tool of that name. False if it does neither within `waitMs`. */
  has(name: string): Promise<boolean> {
    const listed = Promise.resolve(this.read()).then(({ tools }) => tools.has(name));
    return anyOf(listed, this.#definitions.has(name));
  }

  /** Runs a tool. Throws only `ToolNotFoundError`, if the provider has no such tool. */
  async call(name: string, args: Arguments, context: ToolContext): Promise<CallToolResult> {
    const { callMs } = this.#options.limits;
    const { signal: parent } = context;
    const overdue = () =>
      new DiscoveryError('TOOL_EXECUTION_TIMEOUT', `${name} gave no answer within ${callMs} ms.`, {
        tool: name,
        outcome: 'unknown',
      });
    let isSent = false;
    try {
      parent.throwIfAborted();
      const checked = await abortable(this.#readArguments(name, args), parent);
      const result = await limitTime({ ms: callMs, parent, overdue }, (signal) => {
        isSent = true;
        return this.#source.callTool(name, checked, { ...context, signal });
      });
      return toCallToolResult(result);
    } catch (thrown) {
      if (isNotFound(thrown, name)) throw thrown;
      if (!parent.aborted) return toErrorResult(thrown);
      return toCancelledResult(name, parent, isSent ? 'unknown' : 'not_sent');
    }
  }

  /** Checks arguments as the engine does. A tool without a definition is called unchecked. */
  async #readArguments(name: string, args: Arguments): Promise<Arguments> {
    const refuse = refuseArguments(name);
    const validators = this.#validators;
    const check = (definition: ToolDefinition | undefined): Promise<Arguments> =>
      readArguments(
        args,
        async (sent) => {
          if (definition && validators) await checkValue(validators, definition.inputSchema, sent, refuse);
          return sent;
        },
        refuse,
      );
    if (validators === undefined) return check(undefined);
    const known = this.#tools?.get(name);
    const kept = (known && definitionOf(known)) ?? (await this.#definitions.forCall(name));
    try {
      return await check(kept);
    } catch (refusal) {
      // The definition may be stale rather than the arguments wrong.
      const fresh = kept && (await this.#definitions.renewed(name));
      if (fresh === undefined) throw refusal;
      const read = await check(fresh);
      this.#keeper.outdate();
      return read;
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

  async #readList({ isCurrent }: Attempt<string>): Promise<boolean> {
    const { limits, onChange } = this.#options;
    // Read before listing, so that a change during the listing triggers another one.
    this.#revision = this.#readRevision();
    const overdue = () => new Error(`gave no list within ${limits.listMs} ms`);
    const list = await limitTime({ ms: limits.listMs, overdue, unwatched: true }, (signal) =>
      this.#neutrally(() => this.#source.listToolMetadata({ signal })),
    );
    const { tools, problem } = checkList(list, limits);
    if (!isCurrent()) return false;
    const before = this.#tools;
    // Definitions read during the first listing are as new as the list.
    if (before !== undefined) this.#definitions.clear();
    this.#tools = tools;
    this.#version++;
    this.#problem = problem;
    onChange?.(before ?? NO_TOOLS, tools);
    return true;
  }

  #problemNow(): string | undefined {
    const { failure } = this.#keeper;
    if (failure !== undefined)
      return `could not be asked (${failure})${this.#tools === undefined ? '' : '; its last list was used'}`;
    return this.#tools === undefined ? 'has not listed its tools yet' : this.#problem;
  }

  /** A revision that cannot be read counts as unchanged. */
  #readRevision(): string | number | undefined {
    try {
      return this.#source.revision;
    } catch {
      return this.#revision;
    }
  }

  /** Runs outside of the current request, so that nothing of it gets into shared state. */
  #neutrally<T>(fn: () => T): T {
    return this.#home === undefined ? fn() : this.#home.runInAsyncScope(outsideRequests<T>, undefined, fn);
  }
}

/** True as soon as one of the two is. */
const anyOf = (...answers: readonly [Promise<boolean>, Promise<boolean>]): Promise<boolean> =>
  new Promise((resolve, reject) => {
    for (const answer of answers) answer.then((yes) => yes && resolve(true), reject);
    Promise.all(answers).then(() => resolve(false), reject);
  });

function nameOf(provider: ToolProvider): string {
  try {
    const { name } = provider;
    return typeof name === 'string' ? oneLine(name, 64) : '';
  } catch {
    return '';
  }
}
