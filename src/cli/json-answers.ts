/**
 * The documents of `--json`, in the shapes of the meta-tools: whole, where an agent's would be cut to its budget. What
 * is empty is left out, except the list a script goes through.
 * @module
 */

import type { ServerMetadata, ToolMetadata } from '../core/types.ts';
import type { FindResult } from '../engine/engine-core.ts';
import { compact, toolCounts } from '../meta-tools/answers.ts';
import type { Explanation } from '../search/explanation.ts';

type Document = Readonly<Record<string, unknown>>;

/** `list_mcp_servers`. */
export const serversDocument = (servers: readonly ServerMetadata[], notes: readonly string[]): Document => ({
  servers: servers.map(({ name, description, status, reason, stale, ...counts }) =>
    compact({ name, description, ...toolCounts(counts), status, reason, stale }),
  ),
  ...(notes.length > 0 && { notes }),
});

/** `search_tools`, with `reasons` for those who asked for them. */
export const searchDocument = ({ results, notes }: FindResult, reasons: readonly Explanation[] = []): Document => ({
  results: results.map(({ server, tool, summary, relevance, tags, args }) => ({
    ...(compact({ server, tool, summary, relevance, tags, args }) as Document),
    ...explanationOf(reasons.find((reason) => reason.server === server && reason.tool === tool)),
  })),
  ...(notes.length > 0 && { notes }),
});

const explanationOf = (reason: Explanation | undefined): Document => {
  if (reason === undefined) return {};
  const { named, score, words, missed, alike } = reason;
  return { explanation: compact({ named, score, words, missed, alike }) };
};

/** `list_tools`. */
export const toolsDocument = (server: string, tools: readonly ToolMetadata[]): Document => ({
  server,
  tools: tools.map(({ name, summary, enabled, tags }) => compact({ name, summary, enabled, tags })),
});

/** `get_tool_details`. */
export const detailsDocument = ({
  server,
  name,
  description,
  parameters = [],
  examples,
  tags,
}: ToolMetadata): Document => ({
  ...(compact({ server, tool: name, description }) as Document),
  parameters: parameters.map(compact),
  ...(compact({ examples, tags }) as Document),
});
