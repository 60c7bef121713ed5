/**
 * Defines the gateway's own tools, which are called under its reserved server name, and connects `read_schema` to
 * catalogue and rules.
 * @module
 */
import { READ_SCHEMA, readSchema } from '../catalog/read-schema-tool.ts';
import { requireUsableTool } from '../catalog/tool-lookup.ts';
import { OWN_SERVER } from '../core/own-server.ts';
import { ok } from '../core/result.ts';
import type { Caller, ToolMetadata, ToolRef } from '../core/types.ts';
import { ITEM_TOOLS } from '../execution/item-tools.ts';
import { READ_RESULT } from '../execution/result-pages.ts';
import type { OwnTool } from '../execution/tool-executor.ts';
import type { EngineState } from './engine-state.ts';
import { findMeant } from './meant-tool.ts';

const OWN_TOOLS: ReadonlyMap<string, ToolMetadata> = new Map(
  [READ_RESULT, READ_SCHEMA, ...ITEM_TOOLS].map((definition) => [
    definition.name,
    { ...definition, server: OWN_SERVER, summary: definition.description ?? '', enabled: true, tags: [] },
  ]),
);

/** One of the gateway's own tools, as `describe` shows it. */
export const ownTool = ({ server, tool }: ToolRef): ToolMetadata | undefined =>
  server === OWN_SERVER ? OWN_TOOLS.get(tool) : undefined;

/** Creates `read_schema` over the tools that the request sees. A tool that may not be used cannot be read. */
export const createReadSchema = (states: (caller: Caller) => readonly EngineState[]): OwnTool => ({
  definition: READ_SCHEMA,
  run: async ({ arguments: args, caller, signal }) => {
    const { server = '', tool, path = '', page = 1 } = args;
    const [state, ref] = await findMeant(states(caller), String(server), String(tool), { caller, signal });
    const own = ownTool(ref);
    const found = own ? ok({ metadata: own }) : await requireUsableTool(state, ref, caller);
    return found.success ? readSchema(found.data.metadata, String(path), Number(page)) : found;
  },
});
