/**
 * Compares a server's new list with the one in memory, tool by tool. Unchanged tools keep their metadata.
 * @module
 */
import { isDeepStrictEqual } from 'node:util';
import type { ToolDefinition, ToolMetadata } from '../core/types.ts';

/** The list in memory, and how tools of the new one are decided on. */
interface KnownTools {
  readonly definitions: ReadonlyMap<string, ToolDefinition> | undefined;
  readonly metadata: (tool: string) => ToolMetadata | undefined;
  readonly approval: (tool: ToolDefinition) => ToolMetadata['approval'];
  readonly decide: (tool: ToolDefinition) => ToolMetadata;
}

interface ComparedList {
  readonly tools: ReadonlyMap<string, ToolDefinition>;
  readonly metadata: readonly ToolMetadata[];
  /** The metadata of new and changed tools. */
  readonly changed: readonly ToolMetadata[];
  /** Names of tools that the new list no longer has. */
  readonly gone: readonly string[];
}

const TOOLS_PER_STEP = 20;

export function* compareList(
  listed: readonly ToolDefinition[],
  { definitions, metadata: metadataOf, approval, decide }: KnownTools,
): Generator<unknown, ComparedList> {
  const tools = new Map<string, ToolDefinition>();
  const metadata: ToolMetadata[] = [];
  const changed: ToolMetadata[] = [];
  for (const tool of listed) {
    const known = definitions?.get(tool.name);
    const same = known && isDeepStrictEqual(known, tool) ? metadataOf(tool.name) : undefined;
    // An approval may have come meanwhile.
    const kept = same && same.approval === approval(known as ToolDefinition) ? same : undefined;
    const current = kept ?? decide(tool);
    tools.set(tool.name, kept && known ? known : tool);
    metadata.push(current);
    if (!kept) changed.push(current);
    if (metadata.length % TOOLS_PER_STEP === 0) yield;
  }
  const gone = [...(definitions?.keys() ?? [])].filter((name) => !tools.has(name));
  return { tools, metadata, changed, gone };
}
