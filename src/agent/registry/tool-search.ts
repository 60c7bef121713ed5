/**
 * Writes the answer to a search as it goes over the wire: hits with their schemas, and notes on what is missing.
 * @module
 */
import { signature } from '../../catalog/signature.ts';
import { LIMITS } from '../../core/limits.ts';
import type { ToolSummary } from '../../core/tool-provider.ts';
import type { JsonSchema, ToolDefinition } from '../../core/types.ts';
import { jsonBytes } from '../../execution/json-bytes.ts';
import { maskSecrets } from '../../secrets/credential-patterns.ts';
import { oneLine } from '../../text/plain-text.ts';
import { messageOf } from '../../text/thrown-message.ts';

export interface ToolSearchOptions {
  /** Maximum number of hits, 1 to 100. Default 10, or fewer if relevance drops. */
  readonly maxResults?: number | undefined;
  /** True: one line of parameters, `args`, instead of `input_schema`. */
  readonly compact?: boolean | undefined;
}

/** One hit. */
export interface ToolSearchHit {
  readonly name: string;
  readonly description: string;
  /** 0 to 1. An exact name scores 1; `LEVEL` has the minimum scores of other literal matches. */
  readonly score: number;
  readonly input_schema?: JsonSchema | undefined;
  /** `to, subject, body?, tags?: string[]`. Given if a compact answer was asked for, or if the schema is too large. */
  readonly args?: string | undefined;
}

/** The hits, best first. */
export interface ToolSearchResult {
  readonly results: readonly ToolSearchHit[];
  /** What could not be searched, and why. */
  readonly notes: readonly string[];
  /** A hint for the model if nothing was found, or nothing that fits well. */
  readonly hint?: string | undefined;
}

/** A hit without its schema. */
export interface FoundTool {
  readonly tool: ToolSummary;
  readonly score: number;
  readonly definition: () => ToolDefinition | undefined | Promise<ToolDefinition | undefined>;
}

/** Clamps a number of results to the allowed range. Undefined and NaN mean the default. */
export const toLimit = (limit: number | undefined): number | undefined =>
  limit === undefined || Number.isNaN(limit)
    ? undefined
    : Math.max(1, Math.min(LIMITS.search.results, Math.floor(limit)));

/** Reads the schemas and writes the hits. */
export async function toSearchResult(
  found: readonly FoundTool[],
  notes: readonly string[],
  compact: boolean,
): Promise<ToolSearchResult> {
  const definitions = await Promise.all(found.map(({ definition }) => settle(definition)));
  const said = [...notes];
  let room = LIMITS.answer.bytes;
  const results = found.map(({ tool, score }, place): ToolSearchHit => {
    const { definition, problem } = definitions[place] as Settled;
    if (problem !== undefined) said.push(`The schema of "${tool.name}" is missing: ${problem}`);
    const { inputSchema } = definition ?? {};
    const hit = { name: tool.name, description: tool.description ?? '', score: Math.round(score * 100) / 100 };
    if (inputSchema === undefined) return hit;
    const bytes = compact ? 0 : jsonBytes(inputSchema, room);
    if (compact || bytes > room) return { ...hit, args: signature(inputSchema) };
    room -= bytes;
    return { ...hit, input_schema: inputSchema };
  });
  return { results, notes: said };
}

interface Settled {
  readonly definition?: ToolDefinition | undefined;
  readonly problem?: string | undefined;
}

async function settle(read: FoundTool['definition']): Promise<Settled> {
  try {
    const definition = await read();
    return definition === undefined ? { problem: 'its provider has none, or none of a usable size' } : { definition };
  } catch (thrown) {
    return { problem: oneLine(maskSecrets(messageOf(thrown)), 200) };
  }
}
