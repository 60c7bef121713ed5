/**
 * Lists and calls the tools of a program's providers. Checks and bounds everything a provider lists.
 * @module
 */

import { checkDefinition, checkList } from '../agent/registry/check-list.ts';
import { isNotFound, OWN_TOOLS } from '../agent/registry/check-provider.ts';
import { toCallToolResult, toErrorResult } from '../agent/registry/handler-result.ts';
import { outsideRequests } from '../agent/registry/request-scope.ts';
import { toAbortSignal } from '../async/cancellation.ts';
import { limitTime, waitAtMost } from '../async/time-limit.ts';
import type { Listing } from '../catalog/listing.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { isReservedName } from '../config/server-schema.ts';
import { DiscoveryError, ToolNotFoundError } from '../core/errors.ts';
import { DEFAULTS, LIMITS } from '../core/limits.ts';
import { isReservedTool } from '../core/own-server.ts';
import { type ProviderDefinition, type ToolProvider, type ToolSummary, UNDESCRIBED } from '../core/tool-provider.ts';
import type { CallToolResult, Logger, ToolCall, ToolDefinition } from '../core/types.ts';
import { maskCredentials } from '../secrets/credential-patterns.ts';
import { isPlain, oneLine } from '../text/plain-text.ts';
import { messageOf, thrownAs } from '../text/thrown-message.ts';

/** The name of a program's provider that has none. */
export const OWN = 'own';

const fingerprints = new WeakMap<ToolProvider, string>();
let count = 0;

/** Identifies a provider object across reloads, within this process. */
export function providerFingerprint(provider: ToolProvider): string {
  const known = fingerprints.get(provider) ?? `provider ${++count}`;
  fingerprints.set(provider, known);
  return known;
}

/** Gives each provider a unique name: `provider.name`, else `fallback`, with a number appended if taken. */
export function nameProviders(
  providers: readonly ToolProvider[],
  taken: Pick<ReadonlySet<string>, 'has'>,
  fallback: string,
): ProviderDefinition[] {
  const named = new Set<string>();
  return providers.map((provider) => {
    const given = nameOfProvider(provider);
    const usable = given === '' || isReservedName(given) ? fallback : given;
    let name = usable;
    for (let at = 2; named.has(name) || taken.has(name); at++) name = `${usable}-${at}`;
    named.add(name);
    return {
      name,
      wantedName: given || fallback,
      description: undefined,
      tools: [],
      timeouts: { connect: undefined, call: undefined },
      rateLimit: undefined,
      concurrency: undefined,
      // The program's own code.
      trusted: true,
      idempotent: [],
      provider,
      ttlMs: DEFAULTS.provider.ttlMs,
    };
  });
}

/** Logs that a provider could not keep its own name. */
export function logRenamed({ name, wantedName, provider }: ProviderDefinition, logger: Logger): void {
  if (name !== wantedName && nameOfProvider(provider) !== '')
    logger.warn(
      { provider: wantedName, name },
      `provider "${wantedName}" is named "${name}" here: its own name is taken or reserved`,
    );
}

/** The name that a provider gives itself; empty if it has none that can be used. */
export function nameOfProvider(provider: ToolProvider): string {
  const name = attempt(() => provider.name);
  const plain = typeof name === 'string' ? oneLine(name, LIMITS.names.api) : '';
  return isPlain(plain) ? plain : '';
}

export class ProviderSources {
  readonly #limits: () => ResolvedConfig['limits'] | undefined;
  readonly #now: () => number;
  /** Each provider's revision when its list was last read. */
  readonly #revisions = new WeakMap<ToolProvider, unknown>();
  readonly #readings = new WeakMap<ToolProvider, Promise<Listing>>();
  readonly #described = new WeakMap<ToolDefinition, Promise<ToolDefinition | undefined>>();

  constructor(limits: () => ResolvedConfig['limits'] | undefined, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Tells whether a provider was asked for its list. */
  wasRead({ provider }: ProviderDefinition): boolean {
    return this.#revisions.has(provider);
  }

  /** Tells whether a provider's list has changed since it was read. */
  hasChanged({ provider }: ProviderDefinition): boolean {
    return this.#revisions.has(provider) && !Object.is(this.#revisions.get(provider), revisionOf(provider));
  }

  /**
   * Reads a provider's list: synchronously, if the provider lists synchronously. Rejects if the provider fails or times
   * out. Callers share a running reading.
   */
  list(source: ProviderDefinition): Listing | Promise<Listing> {
    const { name, provider } = source;
    const running = this.#readings.get(provider);
    if (running) return running.then((listing) => ({ ...listing, server: name }));
    const { list: ms } = this.#limits() ?? DEFAULTS.limits;
    const overdue = () => new Error(`${name} did not list its tools within ${ms / 1000} s`);
    // Read before listing, so that a change during the listing triggers another one.
    this.#revisions.set(provider, revisionOf(provider));
    let atOnce: unknown;
    const given = limitTime({ ms, overdue }, (signal) => {
      const list = outsideRequests(() => ownToolsOf(provider).listToolMetadata({ signal }));
      if (Array.isArray(list)) atOnce = list;
      return list;
    }).catch((thrown) => {
      // Providers quote addresses of databases, with passwords in them.
      const reason = oneLine(maskCredentials(messageOf(thrown)), LIMITS.text.reason);
      const known = thrownAs(DiscoveryError, thrown);
      const details = { ...known?.details, server: name, cause: thrown };
      throw new DiscoveryError(known?.code ?? 'SERVER_CONNECTION_ERROR', reason, details);
    });
    const listing = atOnce ? this.#toListing(source, atOnce) : given.then((list) => this.#toListing(source, list));
    if (!(listing instanceof Promise)) return listing;
    const reading = listing.finally(() => this.#readings.delete(provider));
    this.#readings.set(provider, reading);
    return reading;
  }

  #toListing(source: ProviderDefinition, given: unknown): Listing | Promise<Listing> {
    const { toolsPerServer: maxTools, definition: maxToolBytes } = this.#limits() ?? DEFAULTS.limits;
    const { tools, problem } = checkList(given, { maxTools, maxListBytes: DEFAULTS.provider.listBytes, maxToolBytes });
    const reserved = [...tools.keys()].filter(isReservedTool);
    const usable = [...tools.values()].filter((tool) => !isReservedTool(tool.name)).map(toDefinition);
    const listing = {
      server: source.name,
      fingerprint: providerFingerprint(source.provider),
      fetchedAt: this.#now(),
      tools: usable,
      skipped: [
        ...reserved.map((tool) => ({ name: tool, reason: 'the name belongs to a meta-tool' })),
        ...(problem === undefined ? [] : [{ name: '', reason: problem }]),
      ],
    };
    return usable.some(isUndescribed)
      ? this.#describeSome(source, usable).then((described) => ({ ...listing, tools: described }))
      : listing;
  }

  /** Adds the definitions that a provider returns quickly, if only a few are missing. */
  async #describeSome(source: ProviderDefinition, tools: readonly ToolDefinition[]): Promise<ToolDefinition[]> {
    const undescribed = tools.filter(isUndescribed);
    const described = new Map<ToolDefinition, ToolDefinition>();
    if (undescribed.length <= DEFAULTS.provider.described) {
      const all = undescribed.map(async (tool) => described.set(tool, await this.describe(source, tool)));
      await waitAtMost(Promise.all(all), LIMITS.time.described);
    }
    return tools.map((tool) => described.get(tool) ?? tool);
  }

  /** The full definition of a listed tool, or the listed one if the provider has no other. Never rejects. */
  async describe({ provider }: ProviderDefinition, listed: ToolDefinition): Promise<ToolDefinition> {
    if (!isUndescribed(listed)) return listed;
    const asked = this.#described.get(listed) ?? this.#ask(provider, listed.name).catch(() => undefined);
    this.#described.set(listed, asked);
    const found = await asked;
    if (found === undefined) this.#described.delete(listed);
    return found === undefined ? listed : { ...listed, ...found };
  }

  /**
   * Calls a tool of a provider. What the tool itself throws becomes its result; other errors are thrown for the
   * pipeline.
   */
  async call({ provider }: ProviderDefinition, call: ToolCall): Promise<CallToolResult> {
    const { tool, arguments: args, signal, onProgress, request, traceId } = call;
    try {
      const context = { signal: toAbortSignal(signal), onProgress, request, traceId };
      return toCallToolResult(await ownToolsOf(provider).callTool(tool, args, context));
    } catch (thrown) {
      if (isNotFound(thrown, tool)) throw new ToolNotFoundError(call.server, tool);
      // A nested engine or registry has already classified the error.
      const ours = thrownAs(DiscoveryError, thrown);
      if (ours !== undefined) throw ours;
      return toErrorResult(thrown);
    }
  }

  async #ask(provider: ToolProvider, name: string): Promise<ToolDefinition | undefined> {
    const { listPage: ms, definition: maxBytes } = this.#limits() ?? DEFAULTS.limits;
    const overdue = () => new Error(`"${name}" was not described within ${ms / 1000} s`);
    const found = await limitTime({ ms, overdue }, (signal) =>
      outsideRequests(() => ownToolsOf(provider).getTool(name, { signal })),
    );
    return checkDefinition(found, name, maxBytes);
  }
}

const isUndescribed = ({ inputSchema }: ToolDefinition): boolean => inputSchema === UNDESCRIBED;

/** Cached by list entry: an unchanged tool stays the same object, which the catalogue and the validators recognise. */
const definitions = new WeakMap<ToolSummary, ToolDefinition>();

function toDefinition(tool: ToolSummary): ToolDefinition {
  const known = definitions.get(tool);
  if (known) return known;
  const { inputSchema, ...rest } = tool;
  const schema = inputSchema === undefined ? UNDESCRIBED : { type: 'object', ...inputSchema };
  const definition = { ...rest, inputSchema: schema };
  definitions.set(tool, definition);
  return definition;
}

/** Leaves the request's tools out of a nested registry or engine: the outer engine adds them itself. */
const ownToolsOf = (provider: ToolProvider): ToolProvider =>
  (provider as { readonly [OWN_TOOLS]?: ToolProvider })[OWN_TOOLS] ?? provider;

/** A revision that throws counts as unchanged. */
const revisionOf = (provider: ToolProvider): unknown =>
  attempt(() => outsideRequests(() => ownToolsOf(provider).revision));

/** The result of a program's code; undefined if it throws. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
