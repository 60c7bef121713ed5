/**
 * Attaches an engine's tools to a server of the MCP SDK: the meta-tools, or all tools.
 * @module
 */

import type { DescribedTool } from '../agent/formats/definition-types.ts';
import { attachTo, type RequestProviders } from '../agent/registry/attach.ts';
import { checkOptions, shown } from '../agent/registry/check-options.ts';
import { ListChanges } from '../agent/registry/list-changes.ts';
import type { AttachableServer } from '../agent/registry/sdk-server.ts';
import { ValidationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { JsonSchema, ToolDefinition, ToolRef, ToolRequest } from '../core/types.ts';
import { META_TOOL_NAMES } from '../meta-tools/meta-tools.ts';
import type { AgentTools } from './agent-tools.ts';
import type { EngineCore } from './engine-core.ts';

type AttachMode = 'search' | 'all';

/** Options for attaching an engine to a server. */
export interface EngineAttachOptions {
  /** What `tools/list` shows. A function decides per request. Default `search`. */
  readonly mode?: AttachMode | ((request: ToolRequest) => AttachMode) | undefined;
  /** Gives the tools of one request, for example by its header or authorization. Called for each request. */
  readonly providersFor?: ((request: ToolRequest) => RequestProviders | Promise<RequestProviders>) | undefined;
}

/** Collects an engine's list changes for the servers it is attached to. */
export function changesOf(core: EngineCore): ListChanges {
  const changes = new ListChanges();
  core.onToolsChanged((server) => changes.announce(server === undefined ? 'visible' : 'hidden'));
  return changes;
}

/** Attaches an engine. Throws `ValidationError` if `server` is no SDK server or already has tools attached. */
export function attachEngine(
  server: AttachableServer,
  options: EngineAttachOptions,
  { core, tools, changes }: { readonly core: EngineCore; readonly tools: AgentTools; readonly changes: ListChanges },
): void {
  checkOptions(options, { mode: 'any', providersFor: 'function' });
  const { mode = 'search', providersFor } = options;
  if (typeof mode !== 'function' && mode !== 'search' && mode !== 'all')
    throw new ValidationError(`mode must be 'search', 'all' or a function, not ${shown(mode)}`);
  const showsAll = typeof mode === 'function' ? (request: ToolRequest) => mode(request) === 'all' : mode === 'all';
  const shows = mode === 'search' ? mode : 'all';
  attachTo(
    server,
    { showsAll, providersFor },
    {
      changes,
      waitMs: LIMITS.time.lists,
      reserved: META_TOOL_NAMES,
      list: async (all) => {
        await (all
          ? core.ready({ waitMs: LIMITS.time.lists })
          : core.readLists({ own: true, waitMs: LIMITS.time.lists }));
        const { nameOf } = tools.known();
        return tools
          .listed(all ? 'all' : 'search')
          .tools.map((tool) => toListed(tool, nameOf, tools.wholeDefinitionOf(tool)?.annotations));
      },
      has: async (name) => (await tools.find(name)) !== undefined,
      run: (name, args, { signal, onProgress, request }) => {
        const { sessionId: session } = request ?? {};
        const caller = session === undefined ? {} : { session };
        return tools.call({ name, arguments: args }, { signal, onProgress, request, caller, shown: shows });
      },
    },
  );
}

/**
 * Writes a tool as `tools/list` shows it, under the name that models call. Leaves the output schema out: with one, clients
 * refuse a result without structured content, and a cut result has none.
 */
function toListed(
  tool: DescribedTool,
  nameOf: (ref: ToolRef) => string,
  annotations: ToolDefinition['annotations'],
): ToolDefinition {
  const { server = '', inputSchema = { type: 'object' }, examples: _examples, ...rest } = tool;
  return {
    ...rest,
    name: nameOf({ server, tool: tool.name }),
    inputSchema: inputSchema as JsonSchema,
    ...(annotations && { annotations }),
  };
}
