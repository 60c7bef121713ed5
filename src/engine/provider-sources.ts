/**
 * Asks the providers of a program for their tools and calls them. Everything that a provider lists is checked and bounded.
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
import { isReservedTool } from '../core/own-server.ts';
import { type ProviderDefinition, type ToolProvider, type ToolSummary, UNDESCRIBED } from '../core/tool-provider.ts';
import type { CallToolResult, Logger, ToolCall, ToolDefinition } from '../core/types.ts';
import { maskCredentials } from '../secrets/credential-patterns.ts';
import { isPlain, oneLine } from '../text/plain-text.ts';
import { messageOf, thrownAs } from '../text/thrown-message.ts';

/** How long a provider's list holds. */
const TTL_MS = 300_000;
/** The texts and schemas of one list together. */
const MAX_LIST_BYTES = 16 * 1024 * 1024;
/** A provider that lists without schemas is asked for those of so many tools; of others when they are needed. */
const MAX_DESCRIBED = 100;
/** How long a list waits for them. */
const DESCRIBE_MS = 1_000;
const MAX_NAME = 64;
const MAX_REASON = 500;

const fingerprints = new WeakMap<ToolProvider, string>();
let count = 0;

/** Tells one provider object from another, across reloads. Means nothing to another process. */
export function providerFingerprint(provider: ToolProvider): string {
  const known = fingerprints.get(provider) ?? `provider ${++count}`;
  fingerprints.set(provider, known);
  return known;
}

/** Names providers apart from servers and from each other: `provider.name`, else `fallback`, else with a number behind. */
export function nameProviders(
  providers: readonly ToolProvider[],
  servers: Iterable<string>,
  fallback: string,
  logger?: Logger,
): ProviderDefinition[] {
  const taken = new Set(servers);
  return providers.map((provider) => {
    const given = nameOf(provider);
    const wanted = given === '' || isReservedName(given) ? fallback : given;
    let name = wanted;
    for (let at = 2; taken.has(name); at++) name = `${wanted}-${at}`;
    taken.add(name);
    if (given !== '' && name !== given)
      logger?.warn({ provider: given, name }, `the provider "${given}" is called "${name}" here: its name is taken`);
    return {
      name,
      description: undefined,
      tools: [],
      timeouts: { connect: undefined, call: undefined },
      rateLimit: undefined,
      concurrency: undefined,
      // The program's own code.
      trusted: true,
      idempotent: [],
      provider,
      ttlMs: TTL_MS,
    };
  });
}

function nameOf(provider: ToolProvider): string {
  const name = attempt(() => provider.name);
  const plain = typeof name === 'string' ? oneLine(name, MAX_NAME) : '';
  return isPlain(plain) ? plain : '';
}

/** See the module. */
export class ProviderSources {
  readonly #limits: () => ResolvedConfig['limits'] | undefined;
  readonly #now: () => number;
  /** What each provider called its list when it was last asked for. */
  readonly #revisions = new WeakMap<ToolProvider, unknown>();
  readonly #described = new WeakMap<ToolDefinition, Promise<ToolDefinition | undefined>>();

  constructor(limits: () => ResolvedConfig['limits'] | undefined, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Whether a provider says that its list is another one than the one that was read. */
  hasChanged({ provider }: ProviderDefinition): boolean {
    return this.#revisions.has(provider) && !Object.is(this.#revisions.get(provider), revisionOf(provider));
  }

  /** Reads a provider's list. Rejects when it cannot be asked. */
  async list(source: ProviderDefinition): Promise<Listing> {
    const { name, provider } = source;
    const {
      list: ms = 30_000,
      toolsPerServer: maxTools = 10_000,
      definition: maxToolBytes = 262_144,
    } = this.#limits() ?? {};
    const overdue = () => new Error(`${name} did not list its tools within ${ms / 1000} s`);
    // Read first: a change while the list is made is in the next one.
    this.#revisions.set(provider, revisionOf(provider));
    const given = await limitTime({ ms, overdue, unwatched: true }, (signal) =>
      outsideRequests(() => ownToolsOf(provider).listToolMetadata({ signal })),
    ).catch((thrown) => {
      // Providers quote addresses of databases, with passwords in them.
      const reason = oneLine(maskCredentials(messageOf(thrown)), MAX_REASON);
      const known = thrownAs(DiscoveryError, thrown);
      const details = { ...known?.details, server: name, cause: thrown };
      throw new DiscoveryError(known?.code ?? 'SERVER_CONNECTION_ERROR', reason, details);
    });
    const { tools, problem } = checkList(given, { maxTools, maxListBytes: MAX_LIST_BYTES, maxToolBytes });
    const reserved = [...tools.keys()].filter(isReservedTool);
    const usable = [...tools.values()].filter((tool) => !isReservedTool(tool.name)).map(toDefinition);
    const definitions = await this.#describeSome(source, usable);
    return {
      server: name,
      fingerprint: providerFingerprint(provider),
      fetchedAt: this.#now(),
      tools: definitions,
      skipped: [
        ...reserved.map((tool) => ({ name: tool, reason: 'the name belongs to a meta-tool' })),
        ...(problem === undefined ? [] : [{ name: '', reason: problem }]),
      ],
    };
  }

  /** The tools with the definitions that a provider gives at once. */
  async #describeSome(source: ProviderDefinition, tools: readonly ToolDefinition[]): Promise<ToolDefinition[]> {
    const undescribed = tools.filter(isUndescribed);
    const described = new Map<ToolDefinition, ToolDefinition>();
    if (undescribed.length > 0 && undescribed.length <= MAX_DESCRIBED) {
      const all = undescribed.map(async (tool) => described.set(tool, await this.describe(source, tool)));
      await waitAtMost(Promise.all(all), DESCRIBE_MS);
    }
    return tools.map((tool) => described.get(tool) ?? tool);
  }

  /** The whole definition of a tool that was only listed; the listed one where the provider has no other. Never rejects. */
  async describe({ provider }: ProviderDefinition, listed: ToolDefinition): Promise<ToolDefinition> {
    if (!isUndescribed(listed)) return listed;
    const asked = this.#described.get(listed) ?? this.#ask(provider, listed.name).catch(() => undefined);
    this.#described.set(listed, asked);
    const found = await asked;
    if (found === undefined) this.#described.delete(listed);
    return found === undefined ? listed : { ...listed, ...found };
  }

  /** Calls a tool of a provider. Throws what the pipeline turns into a failure; what a tool throws is its result. */
  async call({ provider }: ProviderDefinition, call: ToolCall): Promise<CallToolResult> {
    const { tool, arguments: args, signal, onProgress, request, traceId } = call;
    try {
      const context = { signal: toAbortSignal(signal), onProgress, request, traceId };
      return toCallToolResult(await ownToolsOf(provider).callTool(tool, args, context));
    } catch (thrown) {
      if (isNotFound(thrown, tool)) throw new ToolNotFoundError(call.server, tool);
      // An engine or a registry behind this one has said what went wrong, in codes.
      const ours = thrownAs(DiscoveryError, thrown);
      if (ours !== undefined) throw ours;
      return toErrorResult(thrown);
    }
  }

  async #ask(provider: ToolProvider, name: string): Promise<ToolDefinition | undefined> {
    const { listPage: ms = 10_000, definition: maxBytes = 262_144 } = this.#limits() ?? {};
    const overdue = () => new Error(`"${name}" was not described within ${ms / 1000} s`);
    const found = await limitTime({ ms, overdue, unwatched: true }, (signal) =>
      outsideRequests(() => ownToolsOf(provider).getTool(name, { signal })),
    );
    return checkDefinition(found, name, maxBytes);
  }
}

const isUndescribed = ({ inputSchema }: ToolDefinition): boolean => inputSchema === UNDESCRIBED;

const toDefinition = ({ inputSchema, ...rest }: ToolSummary): ToolDefinition => ({
  ...rest,
  inputSchema: inputSchema === undefined ? UNDESCRIBED : { type: 'object', ...inputSchema },
});

/** A registry or an engine gives its own tools without those of the request: the asking engine adds these itself. */
const ownToolsOf = (provider: ToolProvider): ToolProvider =>
  (provider as { readonly [OWN_TOOLS]?: ToolProvider })[OWN_TOOLS] ?? provider;

/** A revision that throws counts as unchanged. */
const revisionOf = (provider: ToolProvider): unknown => attempt(() => ownToolsOf(provider).revision);

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
