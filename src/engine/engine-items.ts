/**
 * Lists and reads the resources and prompts of servers.
 * @module
 */
import { usableItems } from '../catalog/server-items.ts';
import { requireTools } from '../catalog/tool-lookup.ts';
import type { ErrorInfo } from '../core/errors.ts';
import { itemDefinitions, itemIn, itemsWith } from '../core/item-definition.ts';
import { ok, type ToolResult, toFailure } from '../core/result.ts';
import type { CallToolResult, ItemRef, ServerItems, ToolDefinition } from '../core/types.ts';
import type { CallRequest } from './engine-calls.ts';
import type { EngineRuntime } from './engine-runtime.ts';
import { seenStates, stateWith } from './seen-states.ts';
import { type ShowOptions, toolsOf } from './show-tools.ts';

/** Why a resource or a prompt may not be used, and what to do about it. */
type ItemRefusal = Pick<ErrorInfo, 'code' | 'message'>;

export class EngineItems {
  readonly #runtime: EngineRuntime;

  constructor(runtime: EngineRuntime) {
    this.#runtime = runtime;
  }

  /** One server's resources, resource templates and prompts that may be used, as the server itself lists them. */
  async list(server: string, options: ShowOptions = {}): Promise<ToolResult<ServerItems>> {
    const listed = await toolsOf(this.#runtime, server, options);
    if (!listed.success) return listed;
    const { catalog } = await stateWith(this.#runtime, server, options.caller);
    return ok(usableItems(catalog.items.of(server), (kind, id) => catalog.items.decide(server, kind, id).enabled));
  }

  /** Reads a resource or gets a prompt through the whole pipeline. The result is the server's own answer. Never throws. */
  async read(
    server: string,
    { kind, id }: ItemRef,
    request: Omit<CallRequest, 'server' | 'tool'> = {},
  ): Promise<ToolResult<CallToolResult>> {
    const tool = `${kind}:${id}`;
    try {
      await seenStates(this.#runtime, request.caller);
      const { proxy } = await this.#runtime.executions.of(await this.#runtime.ready());
      return await proxy.execute(server, tool, request.arguments, { ...request, item: { kind, id, isRaw: true } });
    } catch (error) {
      return toFailure(error, { server, tool, outcome: 'not_sent' });
    }
  }

  /** What may be used of a page that a server lists to a client: what is allowed, and is approved as it is listed now. */
  async usable(server: string, page: Partial<ServerItems>, options: ShowOptions = {}): Promise<ServerItems> {
    const { policy, vet } = await stateWith(this.#runtime, server, options.caller);
    const definitions = itemDefinitions(page);
    await vet?.(server, definitions);
    const allowed = new Set<ToolDefinition>();
    for (const definition of definitions) {
      const item = itemIn(definition);
      const isAllowed = item?.kind !== undefined && policy.decide(server, definition).enabled;
      if (isAllowed && (await this.allows(server, { kind: item.kind, id: item.id }, options))) allowed.add(definition);
    }
    const { resources = [], resourceTemplates = [], prompts = [] } = page;
    return itemsWith({ resources, resourceTemplates, prompts }, (definition) => allowed.has(definition));
  }

  /** Tells whether rules and approvals allow a resource or a prompt. */
  async allows(server: string, item: ItemRef, options: ShowOptions = {}): Promise<boolean> {
    return (await this.refusal(server, item, options)) === undefined;
  }

  /** Why a resource or a prompt may not be used; undefined if it may. */
  async refusal(server: string, { kind, id }: ItemRef, { caller }: ShowOptions = {}): Promise<ItemRefusal | undefined> {
    const state = await stateWith(this.#runtime, server, caller);
    const unknown = { code: 'TOOL_NOT_FOUND', message: `There is no ${kind} ${id}.` } as const;
    if (!state.servers.has(server)) return unknown;
    // Whether a server's items may be used depends on its tools, and on what it lists.
    if (!state.catalog.isLoaded(server)) await requireTools(state, server, caller);
    const { enabled, code, reason } = state.catalog.items.decide(server, kind, id);
    if (enabled) return undefined;
    if (code === 'TOOL_NOT_APPROVED') return { code, message: reason };
    // What is not for a profile does not exist for its callers, and no rule is quoted to them.
    if (state.sight?.profile !== undefined) return unknown;
    return { code: 'TOOL_DISABLED', message: `A rule disables ${kind} ${id}.` };
  }
}
