/**
 * Builds the documents of `--json` in the shapes of the meta-tools, but without their token budget. Empty fields are left
 * out, except the list itself.
 * @module
 */

import type { ServerDefinition, ServerMetadata, ToolMetadata } from '../core/types.ts';
import type { FindResult } from '../engine/find-tools.ts';
import { compact, toolCounts } from '../meta-tools/answers.ts';
import { nameOf } from '../meta-tools/search-answer.ts';
import type { Explanation } from '../search/explanation.ts';

type Document = Readonly<Record<string, unknown>>;

/** `list_mcp_servers`, always with the client, and with the disabled servers beside it. */
export const serversDocument = (
  servers: readonly ServerMetadata[],
  notes: readonly string[],
  configured: readonly ServerDefinition[] = [],
): Document => {
  const disabled = configured.filter(({ name }) => !servers.some((server) => server.name === name));
  return {
    servers: servers.map(({ name, description, status, reason, client, stale, ...counts }) =>
      compact({ name, description, ...toolCounts(counts), status, reason, client, stale }),
    ),
    ...(disabled.length > 0 && {
      disabled: disabled.map(({ name, description, origin: { client } }) => compact({ name, description, client })),
    }),
    ...(notes.length > 0 && { notes }),
  };
};

/** `search_tools`, with explanations for `--explain`. */
export const searchDocument = ({ results, notes }: FindResult, reasons: readonly Explanation[] = []): Document => ({
  results: results.map((hit) => {
    const { kind, server, tool, summary, relevance, tags, args } = hit;
    const reason = reasons.find((one) => kind === undefined && one.server === server && one.tool === tool);
    return {
      ...(compact({ kind, server, ...nameOf(hit), summary, relevance, tags, args }) as Document),
      ...explanationOf(reason),
    };
  }),
  ...(notes.length > 0 && { notes }),
});

const explanationOf = (reason: Explanation | undefined): Document => {
  if (reason === undefined) return {};
  const { named, score, lead, translated, goal, asking, things, acts, words, missed, alike } = reason;
  return { explanation: compact({ named, score, lead, translated, goal, asking, things, acts, words, missed, alike }) };
};

/** `list_tools`. */
export const toolsDocument = (server: string, tools: readonly ToolMetadata[]): Document => ({
  server,
  tools: tools.map(({ name, summary, enabled, tags }) => compact({ name, summary, enabled, tags })),
});

/** Where a tool belongs, as inferred from its definition. */
export interface Belonging {
  readonly domains: readonly string[];
  readonly categories: readonly string[];
}

/** `get_tool_details`, with where the tool belongs. */
export const detailsDocument = (
  { server, name, description, parameters = [], examples, tags }: ToolMetadata,
  { domains, categories }: Belonging,
): Document => ({
  ...(compact({ server, tool: name, description }) as Document),
  parameters: parameters.map(compact),
  ...(compact({ examples, tags, domains, categories }) as Document),
});
