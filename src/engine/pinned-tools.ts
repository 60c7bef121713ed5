/**
 * Finds the pinned tools of a caller: those that its clients see beside the five, and call directly.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { Caller, ToolDefinition, ToolRef } from '../core/types.ts';
import { compileName, isServer } from '../rules/pattern.ts';
import { visibly } from '../text/plain-text.ts';
import type { EngineRuntime } from './engine-runtime.ts';
import type { EngineState } from './engine-state.ts';
import { seenPart } from './profile-parts.ts';
import { seenStates, sharedState } from './seen-states.ts';

/** A pinned tool under the name that clients see. */
export interface PinnedTool {
  readonly ref: ToolRef;
  readonly definition: ToolDefinition;
}

/**
 * Returns the pinned tools that a caller may use, by name. Waits briefly for lists of their servers that were never read.
 */
export async function pinnedTools(
  runtime: EngineRuntime,
  caller: Caller | undefined,
): Promise<ReadonlyMap<string, PinnedTool>> {
  const base = await sharedState(runtime);
  const patterns = patternsFor(base, caller).map(split);
  const found: (ToolRef & { readonly given: ToolDefinition })[] = [];
  if (patterns.length === 0) return NONE;
  for (const state of await seenStates(runtime, caller)) {
    const wanted = [...state.servers.keys()].filter((name) =>
      patterns.some(({ server }) => isServer(server, name, true)),
    );
    const unseen = wanted.filter((name) => !state.catalog.isSeen(name));
    if (unseen.length > 0) await state.discovery.firstLists(unseen, LIMITS.time.lists, caller);
    for (const server of wanted) {
      await state.catalog.load(server);
      const ofServer = patterns.filter((pattern) => isServer(pattern.server, server, true));
      for (const { name: tool } of state.catalog.tools(server)) {
        const given = ofServer.some((pattern) => pattern.tool.exact(tool.normalize('NFC')))
          ? state.catalog.definition(server, tool)
          : undefined;
        if (given && found.length < LIMITS.answer.pinned) found.push({ server, tool, given });
      }
    }
  }
  return named(found);
}

/** Whether tools of a server may be pinned for a caller. */
export const pinsAnyOf = (base: EngineState, server: string, caller: Caller): boolean =>
  patternsFor(base, caller).some((pattern) => isServer(split(pattern).server, server, true));

function patternsFor(base: EngineState, caller: Caller | undefined): readonly string[] {
  const profile = seenPart(base, caller)?.profile;
  const own = profile === undefined ? undefined : base.config.profiles[profile]?.pinned;
  return own ?? base.config.pinned;
}

function split(pattern: string) {
  const at = pattern.indexOf(':');
  return { server: compileName(pattern.slice(0, at)), tool: compileName(pattern.slice(at + 1)) };
}

/** Of two tools whose names are the same for clients, the first has it. */
function named(found: readonly (ToolRef & { readonly given: ToolDefinition })[]): ReadonlyMap<string, PinnedTool> {
  const tools = new Map<string, PinnedTool>();
  for (const { server, tool, given } of found) {
    const name = `${server}__${tool}`.replace(/[^\w.-]/g, '_').slice(0, LIMITS.names.pinned);
    if (tools.has(name)) continue;
    const { title, description, inputSchema, annotations } = given;
    // Results may be cut or be our own errors, so no output schema is promised.
    const shown = visibly({ title, description, inputSchema, annotations }) as Omit<ToolDefinition, 'name'>;
    tools.set(name, { ref: { server, tool }, definition: { name, ...shown } as ToolDefinition });
  }
  return tools;
}

const NONE: ReadonlyMap<string, PinnedTool> = new Map();
