/**
 * Lists and reads the resources and prompts of servers.
 * @module
 */
import { usableItems } from '../catalog/server-items.ts';
import { requireTools } from '../catalog/tool-lookup.ts';
import { itemDefinitions, itemIn, itemsWith } from '../core/item-definition.ts';
import { ok, type ToolResult, toFailure } from '../core/result.ts';
import type { CallToolResult, ItemRef, ServerItems, ToolDefinition } from '../core/types.ts';
import type { ToolDecision } from '../rules/tool-policy.ts';
import type { CallRequest } from './engine-calls.ts';
import type { EngineRuntime } from './engine-runtime.ts';
import { stateWith } from './seen-states.ts';
import { type ShowOptions, toolsOf } from './show-tools.ts';

export class EngineItems {
  readonly #runtime: EngineRuntime;

  constructor(runtime: EngineRuntime) {
    this.#runtime = runtime;
  }

  /** One server's resources, resource templates and prompts that may be used, as the server itself lists them. */
  async list(server: string, options: ShowOptions = {}): Promise<ToolResult<ServerItems>> {
    const listed = await toolsOf(this.#runtime, server, options);
    if (!listed.success) return listed;
    const { catalog } = await stateWith(this.#runtime, server);
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
      const { proxy } = await this.#runtime.executions.of(await this.#runtime.ready());
      return await proxy.execute(server, tool, request.arguments, { ...request, item: { kind, id, isRaw: true } });
    } catch (error) {
      return toFailure(error, { server, tool, outcome: 'not_sent' });
    }
  }

  /** What may be used of a page that a server lists to a client: what is allowed, and is approved as it is listed now. */
  async usable(server: string, page: Partial<ServerItems>): Promise<ServerItems> {
    const { policy, vet } = await stateWith(this.#runtime, server);
    const definitions = itemDefinitions(page);
    await vet?.(server, definitions);
    const allowed = new Set<ToolDefinition>();
    for (const definition of definitions) {
      const item = itemIn(definition);
      if (item && policy.decide(server, definition).enabled && (await this.decide(server, item)).enabled)
        allowed.add(definition);
    }
    const { resources = [], resourceTemplates = [], prompts = [] } = page;
    return itemsWith({ resources, resourceTemplates, prompts }, (definition) => allowed.has(definition));
  }

  /** The decision of rules and approvals about a resource or a prompt. */
  async decide(server: string, { kind, id }: ItemRef): Promise<ToolDecision> {
    const state = await stateWith(this.#runtime, server);
    // Whether a server's items may be used depends on its tools, and on what it lists.
    if (!state.catalog.isLoaded(server)) await requireTools(state, server);
    const decision = state.catalog.items.decide(server, kind, id);
    return decision.enabled ? decision : { code: 'TOOL_DISABLED', ...decision };
  }
}
