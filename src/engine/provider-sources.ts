/**
 * Names a program's providers, and turns what they list into lists for the catalogue.
 * @module
 */

import type { CheckedList } from '../agent/registry/check-list.ts';
import { nameOfProvider, ProviderReader } from '../agent/registry/provider-reader.ts';
import { elapsedNow } from '../async/clock.ts';
import { waitAtMost } from '../async/time-limit.ts';
import type { Listing } from '../catalog/listing.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { isReservedName } from '../config/server-schema.ts';
import { DiscoveryError } from '../core/errors.ts';
import { DEFAULTS, LIMITS } from '../core/limits.ts';
import { isReservedTool } from '../core/own-server.ts';
import { type ProviderDefinition, type ToolProvider, type ToolSummary, UNDESCRIBED } from '../core/tool-provider.ts';
import type { CallToolResult, Logger, ToolCall, ToolDefinition } from '../core/types.ts';
import { maskCredentials } from '../secrets/credential-patterns.ts';
import { oneLine } from '../text/plain-text.ts';
import { messageOf, thrownAs } from '../text/thrown-message.ts';
import type { EngineState, KnownSources } from './engine-state.ts';

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

export class ProviderSources {
  readonly #limits: () => ResolvedConfig['limits'] | undefined;
  readonly #now: () => number;
  readonly #readers = new WeakMap<ToolProvider, ProviderReader>();
  readonly #readings = new WeakMap<ToolProvider, Promise<Listing>>();

  constructor(limits: () => ResolvedConfig['limits'] | undefined, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  #reader({ provider }: ProviderDefinition): ProviderReader {
    const known = this.#readers.get(provider);
    if (known) return known;
    const limits = () => {
      const { list: listMs, listPage: waitMs, ...given } = this.#limits() ?? DEFAULTS.limits;
      const { toolsPerServer: maxTools, definition: maxToolBytes } = given;
      const { ttlMs, listBytes: maxListBytes } = DEFAULTS.provider;
      return { ttlMs, listMs, waitMs, maxTools, maxToolBytes, maxListBytes };
    };
    const reader = new ProviderReader(provider, { limits, now: elapsedNow });
    this.#readers.set(provider, reader);
    return reader;
  }

  /** Reads the changed lists of providers, before a tool is looked up in them. */
  async renewed({ providers, discovery }: EngineState): Promise<void> {
    const changed = providers.filter((source) => this.#reader(source).hasChanged);
    if (changed.length > 0)
      await waitAtMost(Promise.all(changed.map(({ name }) => discovery.refresh(name))), LIMITS.time.lists);
  }

  /**
   * Reads the lists of providers that are missing, old or changed: at once where a provider lists at once, otherwise in
   * the background.
   */
  renew({ providers, catalog, discovery }: EngineState): void {
    for (const source of providers) {
      const { name } = source;
      const isMissing = !catalog.isSeen(name) && discovery.failure(name) === undefined;
      if (isMissing || discovery.isDue(name) || this.#reader(source).hasChanged) void discovery.readNow(name);
    }
  }

  /** The same before the configuration is loaded. */
  renewBefore({ providers, catalog }: KnownSources): void {
    for (const source of providers) {
      const { wasRead, hasChanged } = this.#reader(source);
      if (wasRead && !hasChanged) continue;
      const listing = this.list(source);
      const take = (listed: Listing) => catalog.putNow(listed, false);
      // The loaded state reads it too, and reports what went wrong.
      if (listing instanceof Promise) listing.then(take, () => {});
      else take(listing);
    }
  }

  /** Calls a tool of a provider, as the last step of the pipeline. */
  call(source: ProviderDefinition, call: ToolCall): Promise<CallToolResult> {
    return this.#reader(source).call(call);
  }

  /**
   * Reads a provider's list: synchronously, if the provider lists synchronously. Rejects if the provider fails or times
   * out. Callers share a running reading.
   */
  list(source: ProviderDefinition): Listing | Promise<Listing> {
    const { name, provider } = source;
    const running = this.#readings.get(provider);
    if (running) return running.then((listing) => ({ ...listing, server: name }));
    const list = this.#reader(source).list();
    const listing =
      list instanceof Promise
        ? list.then(
            (checked) => this.#toListing(source, checked),
            (thrown) => {
              // Providers quote addresses of databases, with passwords in them.
              const reason = oneLine(maskCredentials(messageOf(thrown)), LIMITS.text.reason);
              const known = thrownAs(DiscoveryError, thrown);
              const details = { ...known?.details, server: name, cause: thrown };
              throw new DiscoveryError(known?.code ?? 'SERVER_CONNECTION_ERROR', reason, details);
            },
          )
        : this.#toListing(source, list);
    if (!(listing instanceof Promise)) return listing;
    const reading = listing.finally(() => this.#readings.delete(provider));
    this.#readings.set(provider, reading);
    return reading;
  }

  #toListing(source: ProviderDefinition, { tools, problem }: CheckedList): Listing | Promise<Listing> {
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

  /** The whole definition of a tool that was only listed; the listed one where the provider has no other. Never rejects. */
  async describe(source: ProviderDefinition, listed: ToolDefinition): Promise<ToolDefinition> {
    if (!isUndescribed(listed)) return listed;
    return { ...listed, ...(await this.#reader(source).definitions.forCall(listed.name)) };
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
