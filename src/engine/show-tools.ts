/**
 * Shows one server's tools, and one tool in full. Asks the server only for a list that is missing.
 * @module
 */
import { type Description, describeTool } from '../catalog/description.ts';
import { requireTools, requireUsableTool } from '../catalog/tool-lookup.ts';
import { ok, type ToolResult } from '../core/result.ts';
import type { Caller, ToolDefinition, ToolMetadata } from '../core/types.ts';
import { ownTool } from './engine-own-tools.ts';
import type { EngineRuntime } from './engine-runtime.ts';
import { findMeant, isCallable, NAMELESS } from './meant-tool.ts';
import { seenStates, stateWith } from './seen-states.ts';

/** The client that wants to see tools. */
export interface ShowOptions {
  readonly caller?: Caller | undefined;
}

/** One server's tools, by name. */
export async function toolsOf(
  runtime: EngineRuntime,
  server: string,
  { caller, includeDisabled }: ShowOptions & { readonly includeDisabled?: boolean },
): Promise<ToolResult<readonly ToolMetadata[]>> {
  const state = await stateWith(runtime, server, caller);
  runtime.count(state.catalog.isSeen(server));
  const listed = await requireTools(state, server, caller);
  if (!listed.success) return listed;
  state.discovery.refreshBehind([server], caller);
  runtime.answered(state);
  return ok(state.catalog.tools(server, includeDisabled));
}

/** One server's enabled tools, as the server itself defines them. */
export async function definitionsOf(
  runtime: EngineRuntime,
  server: string,
  options: ShowOptions,
): Promise<ToolResult<readonly ToolDefinition[]>> {
  const listed = await toolsOf(runtime, server, options);
  if (!listed.success) return listed;
  const { catalog } = await stateWith(runtime, server, options.caller);
  return ok(listed.data.flatMap(({ name }) => catalog.definition(server, name) ?? []));
}

/** One tool that may be used, as its server defines it. */
export async function definitionOf(
  runtime: EngineRuntime,
  server: string,
  tool: string,
  { caller }: ShowOptions,
): Promise<ToolResult<ToolDefinition>> {
  const found = await requireUsableTool(await stateWith(runtime, server, caller), { server, tool }, caller);
  return found.success ? ok(found.data.definition) : found;
}

/** One tool with its parameters and examples. */
export async function describe(
  runtime: EngineRuntime,
  server: string,
  tool: string,
  { caller, examples }: ShowOptions & { readonly examples?: boolean | undefined },
): Promise<ToolResult<Description>> {
  if (!isCallable(server, tool)) return NAMELESS;
  const [state, ref] = await findMeant(await seenStates(runtime, caller), server, tool, { caller });
  const own = ownTool(ref);
  if (own) return ok(describeTool(own, examples));
  runtime.count(state.catalog.isSeen(ref.server));
  const found = await requireUsableTool(state, ref, caller);
  if (!found.success) return found;
  state.discovery.refreshBehind([ref.server], caller);
  runtime.answered(state);
  const { definition, metadata } = found.data;
  const inferredOutput = runtime.outputs.schemaOf(definition);
  return ok({ ...describeTool(metadata, examples), ...(inferredOutput && { inferredOutput }) });
}
