/**
 * What the tool searches of APIs want beside deferred tools: their own search as an entry in `tools`, and hits of ours as
 * references.
 * @module
 */
import type { ToolRef } from '../../core/types.ts';
import type { DefinitionSet } from './definition-types.ts';

/** Anthropic's tool search, as an entry in `tools`. */
export type AnthropicToolSearch =
  | { type: 'tool_search_tool_bm25_20251119'; name: 'tool_search_tool_bm25' }
  | { type: 'tool_search_tool_regex_20251119'; name: 'tool_search_tool_regex' };

/** OpenAI's tool search, as an entry in `tools` of the Responses API. */
export interface OpenAiToolSearch {
  type: 'tool_search';
}

/** A block that loads a deferred tool, in the `tool_result` of a search of our own. */
export interface AnthropicToolReference {
  type: 'tool_reference';
  tool_name: string;
}

/** Anthropic's own search among deferred tools; it may not be deferred itself. */
export const anthropicToolSearch = (kind: 'bm25' | 'regex' = 'bm25'): AnthropicToolSearch =>
  kind === 'regex'
    ? { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' }
    : { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' };

/** OpenAI's own search among deferred tools. */
export const openAiToolSearch = (): OpenAiToolSearch => ({ type: 'tool_search' });

/**
 * Search hits as `tool_reference` blocks, for the `tool_result` of a search tool of your own: Anthropic then loads the
 * definitions that were sent with `defer_loading`. Hits without a definition are left out, because Anthropic refuses
 * references to what it does not know.
 * @example
 * const defined = toDefinitions(tools, { format: 'anthropic', deferLoading: true });
 * const content = toToolReferences(await engine.searchTools('open an issue'), defined);
 */
export function toToolReferences(
  hits: Iterable<ToolRef>,
  defined: Pick<DefinitionSet<'anthropic'>, 'names' | 'readCall'>,
): AnthropicToolReference[] {
  const found = new Set<string>();
  for (const hit of hits) {
    const name = defined.names.nameOf(hit);
    if (name !== undefined && defined.readCall({ name })) found.add(name);
  }
  return [...found].map((name) => ({ type: 'tool_reference', tool_name: name }));
}
