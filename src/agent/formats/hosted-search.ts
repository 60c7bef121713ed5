/**
 * Supports the APIs' own tool search over deferred tools: its entry in `tools`, and our hits as references.
 * @module
 */
import type { ToolRef } from '../../core/types.ts';
import type { DefinitionSet } from './definition-types.ts';

/** Anthropic's tool search, as an entry in `tools`. */
type AnthropicToolSearch =
  | { type: 'tool_search_tool_bm25_20251119'; name: 'tool_search_tool_bm25' }
  | { type: 'tool_search_tool_regex_20251119'; name: 'tool_search_tool_regex' };

/** OpenAI's tool search, as an entry in `tools` of the Responses API. */
interface OpenAiToolSearch {
  type: 'tool_search';
}

/** A block that loads a deferred tool, in the `tool_result` of the program's own search. */
export interface AnthropicToolReference {
  type: 'tool_reference';
  tool_name: string;
}

/** Anthropic's own search among deferred tools; it must not be deferred itself. */
export const anthropicToolSearch = (kind: 'bm25' | 'regex' = 'bm25'): AnthropicToolSearch =>
  kind === 'regex'
    ? { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' }
    : { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' };

/** OpenAI's own search among deferred tools. */
export const openAiToolSearch = (): OpenAiToolSearch => ({ type: 'tool_search' });

/**
 * Returns search hits as `tool_reference` blocks, for the `tool_result` of the program's own search tool. Anthropic
 * then loads the definitions that were sent with `defer_loading`. Hits without a definition are left out, because
 * Anthropic refuses unknown references.
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
