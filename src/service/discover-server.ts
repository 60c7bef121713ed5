/**
 * Discovers the tools of one server, in the ten steps of 004 §4.1. A list that is known needs no server: steps 2 to 4, 8
 * and 10 are then left out.
 * @module
 */
import { setTimeout as pause } from 'node:timers/promises';
import { pinOf } from '../approvals/pin.ts';
import { pauseBefore, toServerError, worthWaiting } from '../catalog/retry-policy.ts';
import type { ErrorInfo } from '../core/errors.ts';
import { itemsWith } from '../core/item-definition.ts';
import { isProvider, type SourceDefinition } from '../core/tool-provider.ts';
import { isLocal } from '../core/transport-parts.ts';
import type { ItemKind, JsonSchema, RateLimit, ServerDefinition, ServerItems, ToolDefinition } from '../core/types.ts';
import type { Downstreams } from '../engine/downstreams.ts';
import type { EngineState } from '../engine/engine-state.ts';
import { schemaToTypeExpr } from './convert/type-expr.ts';
import type { TypeNote } from './convert/type-tree.ts';
import { type DiscoveryOptions, rateOf, retryOf } from './discovery-options.ts';
import { staged } from './discovery-stage.ts';
import { type CapabilityManifest, type ManifestTool, toolToManifest } from './manifest.ts';
import { rtfsText } from './rtfs/write-rtfs.ts';

/** A tool that was discovered: a capability, with its types. */
export interface DiscoveredTool extends CapabilityManifest {
  /** The type of the input as RTFS TypeExpr. */
  readonly inputType: string;
  /** The type of the output, where it is known. */
  readonly outputType?: string | undefined;
  /** What could not be expressed or found out, with the stage. */
  readonly problems: readonly ErrorInfo[];
}

/** A server to discover. */
export interface DiscoverySource {
  readonly definition: SourceDefinition;
  /** The state that keeps its list. */
  readonly state: EngineState;
  /** Whether the rules let a tool be used; with a kind, a resource or a prompt. */
  permits(name: string, kind?: ItemKind, tool?: ManifestTool): boolean;
}

/** What a discovery uses of its surroundings. */
interface DiscoveryParts {
  readonly downstreams: Downstreams;
  /** Registers tools of the server. */
  register(tools: readonly DiscoveredTool[]): Promise<void>;
  /** Adds output schemas where a call may be made to learn them. */
  introspect(tools: readonly DiscoveredTool[]): Promise<readonly DiscoveredTool[]>;
  /** Writes capabilities. */
  export(tools: readonly DiscoveredTool[], directory: string | undefined): Promise<unknown>;
}

/** Returns the tools that the rules permit. Throws `DiscoveryError` with a stage. */
export async function discoverServer(
  source: DiscoverySource,
  options: DiscoveryOptions,
  parts: DiscoveryParts,
): Promise<readonly DiscoveredTool[]> {
  // 1. Cache. 2. Rate limit. 3. Session. 4. List. 8. Storage. 10. End of the session.
  const listed = await readList(source, options, parts.downstreams);
  // 5. Schema conversion. 7. Domains and categories.
  const tools = listed.tools
    .filter((tool) => source.permits(tool.name, undefined, tool))
    .map((tool) => ({ ...toDiscovered(tool, source.definition), pin: listed.pins.get(tool.name) }));
  // 9. Registration.
  if (options.registerInMarketplace) await parts.register(tools);
  // 6. Output schemas. After 9, because a call goes through the pipeline, and that calls only what is registered.
  const eager = options.introspectOutputSchemas === true && options.lazyOutputSchemas === false;
  const complete = eager ? await parts.introspect(tools) : tools;
  if (options.exportToRtfs) await parts.export(complete, options.exportDirectory);
  return complete;
}

/** What a server lists. */
interface DiscoveredList {
  readonly tools: readonly ManifestTool[];
  readonly items: ServerItems;
  /** The pins of the definitions, by tool. */
  readonly pins: ReadonlyMap<string, string | undefined>;
}

/** Reads what a server lists: steps 1 to 4, 8 and 10. */
export async function readList(
  source: DiscoverySource,
  options: DiscoveryOptions,
  downstreams: Downstreams,
): Promise<DiscoveredList> {
  const { catalog, discovery } = source.state;
  const { name } = source.definition;
  // 1. Cache: a list that was read from the server and is not old is the answer.
  const isFresh = catalog.fetchedAt(name) > 0 && !discovery.isOld(name);
  const known = options.useCache && options.authHeaders === undefined && isFresh ? await keptList(source) : undefined;
  return known ?? freshList(source, options, downstreams);
}

async function keptList({ definition: { name }, state }: DiscoverySource): Promise<DiscoveredList | undefined> {
  const { catalog, policy } = state;
  await catalog.load(name);
  if (!catalog.isLoaded(name)) return undefined;
  const isApproved = (definition: ToolDefinition) => policy.decide(name, definition).approval === undefined;
  return {
    tools: catalog.tools(name, true),
    items: itemsWith(catalog.items.of(name), isApproved),
    pins: pinsOf(catalog.definitions(name)),
  };
}

/** Asks the server, as often as the retry policy allows. */
async function freshList(
  source: DiscoverySource,
  options: DiscoveryOptions,
  downstreams: Downstreams,
): Promise<DiscoveredList> {
  const { definition, state } = source;
  const { name } = definition;
  const { discovery, config } = state;
  if (isProvider(definition)) {
    const failure = await discovery.listed(name);
    if (failure) throw staged(failure, name, 'list');
    return (await keptList(source)) ?? NOTHING;
  }
  const asked = withHeaders(definition, options.authHeaders);
  const withinMs = options.retryPolicy ? Number.POSITIVE_INFINITY : config.limits.list;
  const policy = { ...retryOf(options.retryPolicy, config.retry), withinMs };
  const started = performance.now();
  for (let made = 1; ; made++) {
    const began = performance.now();
    try {
      const listing = await listOnce(asked, rateOf(options.rateLimit), downstreams);
      // What is not approved is not shown, neither from the catalogue nor from this list.
      const isApproved = (tool: ToolDefinition) => state.policy.decide(name, tool).approval === undefined;
      const tools = listing.tools.filter(isApproved);
      const items = itemsWith({ ...NOTHING.items, ...listing.items }, isApproved);
      const own = { tools, items, pins: pinsOf(tools) };
      if (options.authHeaders !== undefined) return own;
      // 8. Storage, in memory and on disk.
      await discovery.taken(listing);
      return (await keptList(source)) ?? own;
    } catch (error) {
      const failure = toServerError(error, name);
      const now = performance.now();
      const attempts = { made, spentMs: now - started, lastMs: now - began };
      const wait = worthWaiting(failure) ? pauseBefore(failure, attempts, policy) : undefined;
      if (wait === undefined) throw failure;
      await pause(wait);
    } finally {
      // This call's policy decides when the next attempt is made. A call with other headers says nothing about the
      // server.
      downstreams.pool.retryNow(name);
    }
  }
}

const NOTHING: DiscoveredList = {
  tools: [],
  items: { resources: [], resourceTemplates: [], prompts: [] },
  pins: new Map(),
};

const pinsOf = (definitions: readonly ToolDefinition[]): DiscoveredList['pins'] =>
  new Map(definitions.map((definition) => [definition.name, pinOf(definition)]));

async function listOnce(definition: ServerDefinition, rate: RateLimit | undefined, downstreams: Downstreams) {
  const { name } = definition;
  const fail = (step: Parameters<typeof staged>[2]) => (thrown: unknown) => {
    throw staged(thrown, name, step);
  };
  // 2. Rate limit.
  await downstreams.lists.turn(definition, rate);
  // 3. Session.
  const lease = await downstreams.acquire(definition, undefined).catch(fail('connecting'));
  try {
    // 4. List.
    return await downstreams.lists.read(lease.connection, definition).catch(fail('list'));
  } finally {
    // 10. End of the session, unless a call is using it.
    lease.release({ close: true });
  }
}

/** A local program has no headers. */
function withHeaders(definition: ServerDefinition, headers: DiscoveryOptions['authHeaders']): ServerDefinition {
  const { connection } = definition;
  if (headers === undefined || isLocal(connection)) return definition;
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const own = Object.entries(connection.headers).filter(([name]) => !names.has(name.toLowerCase()));
  const auth = names.has('authorization') ? undefined : connection.auth;
  return { ...definition, connection: { ...connection, headers: { ...Object.fromEntries(own), ...headers }, auth } };
}

/** A tool with an output schema that was inferred. */
export const withOutput = (tool: DiscoveredTool, outputSchema: JsonSchema): DiscoveredTool => ({
  ...tool,
  outputSchema,
  outputInferred: true,
  outputType: rtfsText(schemaToTypeExpr(outputSchema).expr),
});

/** A tool with its types. What RTFS cannot say is `:any`, and a problem says why. */
function toDiscovered(tool: ManifestTool, source: SourceDefinition): DiscoveredTool {
  const { name } = source;
  const manifest = toolToManifest(tool, isProvider(source) ? { name } : source);
  const input = schemaToTypeExpr(manifest.inputSchema);
  const output = manifest.outputSchema && schemaToTypeExpr(manifest.outputSchema);
  const problem =
    (where: string) =>
    ({ path, text }: TypeNote): ErrorInfo => ({
      code: 'VALIDATION_ERROR',
      message: `${where}${path === '' ? '' : ` ${path}`}: ${text}`,
      server: name,
      tool: tool.name,
      retryable: false,
      stage: 'conversion',
    });
  return {
    ...manifest,
    inputType: rtfsText(input.expr),
    ...(output && { outputType: rtfsText(output.expr) }),
    problems: [...input.notes.map(problem('input')), ...(output?.notes ?? []).map(problem('output'))],
  };
}
