/**
 * Reads one provider: its list, its revision and the definitions of its tools. Bounds the time and the size of what it
 * reads. A registry and an engine both read their providers with it.
 * @module
 */

import { AsyncResource } from 'node:async_hooks';
import { toAbortSignal } from '../../async/cancellation.ts';
import { limitTime } from '../../async/time-limit.ts';
import { DiscoveryError, ToolNotFoundError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { ToolProvider } from '../../core/tool-provider.ts';
import type { CallToolResult, ToolCall, ToolDefinition } from '../../core/types.ts';
import { isPlain, oneLine } from '../../text/plain-text.ts';
import { thrownAs } from '../../text/thrown-message.ts';
import { type CheckedList, checkDefinition, checkList } from './check-list.ts';
import { isNotFound, OWN_TOOLS } from './check-provider.ts';
import { toCallToolResult, toErrorResult } from './handler-result.ts';
import { ProviderDefinitions } from './provider-definitions.ts';
import type { ProviderLimits } from './provider-limits.ts';
import { outsideRequests } from './request-scope.ts';

interface ProviderReaderOptions {
  readonly limits: () => Omit<ProviderLimits, 'callMs' | 'maxRequestTools' | 'checkArguments'>;
  readonly now: () => number;
  /** True: a list that nothing waits for does not keep the process alive. */
  readonly unwatched?: boolean | undefined;
}

export class ProviderReader {
  readonly definitions: ProviderDefinitions;
  /** Whether the provider checks arguments itself: a nested registry knows more than JSON Schema says. */
  readonly checksItself: boolean;
  readonly #source: ToolProvider;
  readonly #options: ProviderReaderOptions;
  /** The asynchronous context in which the provider was added. */
  readonly #home = new AsyncResource('ToolProvider');
  #revision: ToolProvider['revision'];
  #wasRead = false;

  constructor(provider: ToolProvider, options: ProviderReaderOptions) {
    // Without the tools of the request, which the outer registry or engine adds itself.
    const ownTools = (provider as { readonly [OWN_TOOLS]?: ToolProvider })[OWN_TOOLS];
    this.checksItself = ownTools !== undefined;
    this.#source = ownTools ?? provider;
    this.#options = options;
    const { ttlMs } = options.limits();
    this.definitions = new ProviderDefinitions({ ask: (name) => this.#ask(name), ttlMs, now: options.now });
  }

  /** The provider's revision. One that cannot be read counts as unchanged. */
  get revision(): ToolProvider['revision'] {
    try {
      return this.#neutrally(() => this.#source.revision);
    } catch {
      return this.#revision;
    }
  }

  /** Whether the provider was asked for its list. */
  get wasRead(): boolean {
    return this.#wasRead;
  }

  /** Whether the list has changed since it was last asked for. */
  get hasChanged(): boolean {
    return this.#wasRead && !Object.is(this.revision, this.#revision);
  }

  /** The list: at once if the provider lists at once. Rejects if the provider fails or times out. */
  list(): CheckedList | Promise<CheckedList> {
    const { limits, unwatched } = this.#options;
    const { listMs: ms } = limits();
    const overdue = () => new Error(`gave no list within ${ms} ms`);
    // Read before listing, so that a change during the listing triggers another one.
    this.#revision = this.revision;
    const isFirst = !this.#wasRead;
    this.#wasRead = true;
    let atOnce: unknown;
    const given = limitTime({ ms, overdue, unwatched }, (signal) => {
      const list = this.#neutrally(() => this.#source.listToolMetadata({ signal }));
      if (Array.isArray(list)) atOnce = list;
      return list;
    });
    const check = (list: unknown): CheckedList => {
      // Definitions read during the first listing are as new as the list.
      if (!isFirst) this.definitions.outdate();
      return checkList(list, limits());
    };
    return atOnce ? check(atOnce) : given.then(check);
  }

  /**
   * Calls a tool, as the last step of a pipeline. What the tool itself throws becomes its result; other errors are thrown
   * for the pipeline.
   */
  async call({ server, tool, arguments: args, ...call }: ToolCall): Promise<CallToolResult> {
    const { onProgress, request, traceId } = call;
    try {
      const context = { signal: toAbortSignal(call.signal), onProgress, request, traceId };
      return toCallToolResult(await this.#source.callTool(tool, args, context));
    } catch (thrown) {
      if (isNotFound(thrown, tool)) throw new ToolNotFoundError(server, tool);
      // A nested engine or registry has already classified the error.
      const ours = thrownAs(DiscoveryError, thrown);
      if (ours !== undefined) throw ours;
      return toErrorResult(thrown);
    }
  }

  async #ask(name: string): Promise<ToolDefinition | undefined> {
    const { waitMs: ms, maxToolBytes } = this.#options.limits();
    const overdue = () => new Error(`"${name}" was not described within ${ms} ms`);
    const found = await limitTime({ ms, overdue }, (signal) =>
      this.#neutrally(() => this.#source.getTool(name, { signal })),
    );
    return checkDefinition(found, name, maxToolBytes);
  }

  /** Runs outside of the current request, so that nothing of it gets into what all requests share. */
  #neutrally<T>(fn: () => T): T {
    return this.#home.runInAsyncScope(outsideRequests<T>, undefined, fn);
  }
}

/** The name that a provider gives itself; empty if it has none that can be used. */
export function nameOfProvider(provider: ToolProvider): string {
  try {
    const { name } = provider;
    const plain = typeof name === 'string' ? oneLine(name, LIMITS.names.api) : '';
    return isPlain(plain) ? plain : '';
  } catch {
    return '';
  }
}
