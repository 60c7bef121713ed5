/**
 * Keeps the list of one provider of a registry, its place in an index, and why tools are missing. A stale list is served
 * while a new one cannot be read. A provider that is slow, fails or lists too much costs a note, never the answer. Calls
 * pass the engine's own steps: they look the definition up, validate the arguments and limit the time.
 * @module
 */

import { type Attempt, ListKeeper } from '../../catalog/list-keeper.ts';
import { ToolNotFoundError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { ok } from '../../core/result.ts';
import { type ToolContext, type ToolProvider, type ToolSummary, UNDESCRIBED } from '../../core/tool-provider.ts';
import type { CallToolResult, ToolCall, ToolDefinition } from '../../core/types.ts';
import { type Handler, pipeline } from '../../execution/pipeline.ts';
import { resolve } from '../../execution/steps/resolve.ts';
import { timeout } from '../../execution/steps/timeout.ts';
import { validate } from '../../execution/steps/validate.ts';
import type { SchemaValidators } from '../../execution/validation/schema-validators.ts';
import { maskSecrets } from '../../secrets/credential-patterns.ts';
import { oneLine } from '../../text/plain-text.ts';
import { messageOf } from '../../text/thrown-message.ts';
import { definitionOf } from './check-list.ts';
import { toOwnResult } from './handler-result.ts';
import type { ProviderLimits } from './provider-limits.ts';
import { nameOfProvider, ProviderReader } from './provider-reader.ts';
import type { ToolIndex } from './tool-index.ts';

type Tools = ReadonlyMap<string, ToolSummary>;

/** What a provider listed last. */
export interface Listing {
  readonly tools: Tools;
  /** Changes with the list; 0 while there is none. */
  readonly version: number;
  /** Why the list is missing or incomplete. */
  readonly problem: string | undefined;
}

interface KnownProviderOptions {
  /** The provider's name in notes, if it has none of its own. */
  readonly label: string;
  /** Where its tools are indexed, and as which group. */
  readonly index: ToolIndex;
  readonly group: string;
  /** Whether all requests see it. */
  readonly shared: boolean;
  readonly limits: ProviderLimits;
  readonly now: () => number;
  readonly validators: SchemaValidators;
  readonly onChange?: ((before: Tools, now: Tools) => void) | undefined;
}

const NO_TOOLS: Tools = new Map();

export class KnownProvider {
  readonly label: string;
  readonly index: ToolIndex;
  readonly group: string;
  readonly shared: boolean;
  readonly #reader: ProviderReader;
  readonly #options: KnownProviderOptions;
  readonly #keeper: ListKeeper<string>;
  readonly #run: Handler;
  #tools: Tools | undefined;
  #version = 0;
  #indexed = 0;
  #isRemoved = false;
  /** What was wrong with the list. */
  #problem: string | undefined;

  constructor(provider: ToolProvider, options: KnownProviderOptions) {
    const { limits, now, validators } = options;
    const { ttlMs, callMs, checkArguments } = limits;
    this.label = nameOfProvider(provider) || options.label;
    this.index = options.index;
    this.group = options.group;
    this.shared = options.shared;
    this.#options = options;
    this.#reader = new ProviderReader(provider, { limits: () => limits, now, unwatched: true });
    this.#keeper = new ListKeeper<string>({
      read: (attempt) => this.#readList(attempt),
      toFailure: (thrown) => oneLine(maskSecrets(messageOf(thrown)), 200),
      isStale: (ageMs) => ageMs >= ttlMs,
      retry: { initial: LIMITS.pace.providerRetry, max: ttlMs },
      now,
    });
    const isUnchecked = () => !checkArguments || this.#reader.checksItself;
    this.#run = pipeline(
      [
        resolve((call) => (isUnchecked() ? ok(UNCHECKED) : this.#definitionFor(call))),
        validate(validators, 'off', undefined, isUnchecked),
        timeout({ idle: Number.POSITIVE_INFINITY, ceiling: callMs }),
      ],
      async (call) => ok(await this.#reader.call(call)),
    );
  }

  /** True once removed: views made earlier must no longer show its tools. */
  get isRemoved(): boolean {
    return this.#isRemoved;
  }

  /** Removes its tools from the index for good. */
  remove(): void {
    this.#isRemoved = true;
    this.index.delete(this.group);
  }

  /** The provider's own revision, or the number of lists read. */
  get revision(): string | number {
    return this.#reader.revision ?? this.#version;
  }

  /** The current list, without asking the provider. */
  get listing(): Listing {
    return { tools: this.#tools ?? NO_TOOLS, version: this.#version, problem: this.#problemNow() };
  }

  /** Passes a new list to the index. */
  publish({ tools, version }: Listing): void {
    if (this.#isRemoved || version === this.#indexed) return;
    this.#indexed = version;
    this.index.set(this.group, [...tools.values()]);
  }

  /** Tells whether the current list has a tool. */
  lists(name: string): boolean {
    return this.#tools?.has(name) === true;
  }

  /**
   * Returns the list at once if there is one, otherwise after at most `mostMs`. Refreshes a stale list in the background.
   */
  read(mostMs = Number.POSITIVE_INFINITY): Listing | Promise<Listing> {
    if (this.#reader.hasChanged) this.invalidate();
    const waiting = this.#keeper.fresh(undefined, Math.min(mostMs, this.#options.limits.waitMs));
    return waiting === undefined ? this.listing : waiting.then(() => this.listing);
  }

  /** Makes the next read ask the provider and wait for its answer. */
  invalidate(): void {
    this.#keeper.invalidate();
    this.#reader.definitions.clear();
  }

  /** The definition of a tool; undefined if there is no usable one. Rejects if the provider fails. */
  async definition(name: string): Promise<ToolDefinition | undefined> {
    return this.#listed(name) ?? this.#reader.definitions.get(name);
  }

  /** Tells whether the provider lists or describes a tool of that name. False if it does neither within `waitMs`. */
  has(name: string): Promise<boolean> {
    const listed = Promise.resolve(this.read()).then(({ tools }) => tools.has(name));
    return anyOf(listed, this.#reader.definitions.has(name));
  }

  /** Runs a tool. Throws only `ToolNotFoundError`, if the provider has no such tool. */
  async call(name: string, args: ToolCall['arguments'], context: ToolContext): Promise<CallToolResult> {
    const { traceId = '', ...given } = context;
    const call: ToolCall = { ...given, traceId, server: '', tool: name, arguments: args, caller: {} };
    let result = await this.#run(call);
    if (!result.success && result.error.code === 'TOOL_VALIDATION_ERROR') {
      // The definition may be stale rather than the arguments wrong.
      const definition = await this.#reader.definitions.renewed(name);
      const again = definition && (await this.#run({ ...call, definition }));
      if (again?.success) this.#keeper.outdate();
      result = again ?? result;
    }
    if (!result.success && result.error.code === 'TOOL_NOT_FOUND' && result.error.tool === name)
      throw new ToolNotFoundError(name);
    return toOwnResult(result);
  }

  /** The definition to check arguments with. A tool without one is called unchecked. */
  #definitionFor({ tool, definition = this.#listed(tool) }: ToolCall): ReturnType<Parameters<typeof resolve>[0]> {
    if (definition) return ok(definition);
    return this.#reader.definitions.forCall(tool).then((found) => ok(found ?? UNCHECKED));
  }

  #listed(name: string): ToolDefinition | undefined {
    const tool = this.#tools?.get(name);
    return tool && definitionOf(tool);
  }

  async #readList({ isCurrent }: Attempt<string>): Promise<boolean> {
    const { tools, problem } = await this.#reader.list();
    if (!isCurrent()) return false;
    const before = this.#tools;
    this.#tools = tools;
    this.#version++;
    this.#problem = problem;
    this.#options.onChange?.(before ?? NO_TOOLS, tools);
    return true;
  }

  #problemNow(): string | undefined {
    const { failure } = this.#keeper;
    if (failure !== undefined)
      return `could not be asked (${failure})${this.#tools === undefined ? '' : '; its last list was used'}`;
    return this.#tools === undefined ? 'has not listed its tools yet' : this.#problem;
  }
}

/** Stands for a definition that is not known or not needed. */
const UNCHECKED: ToolDefinition = { name: '', inputSchema: UNDESCRIBED };

/** True as soon as one of the two is. */
const anyOf = (...answers: readonly [Promise<boolean>, Promise<boolean>]): Promise<boolean> =>
  new Promise((resolve, reject) => {
    for (const answer of answers) answer.then((yes) => yes && resolve(true), reject);
    Promise.all(answers).then(() => resolve(false), reject);
  });
