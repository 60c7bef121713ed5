/**
 * Builds answers of the meta-tools: one text block of minified JSON, without empty fields, within an agent's limits.
 * @module
 */
import type { ErrorInfo } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { CallToolResult, ServerMetadata, ToolMetadata } from '../core/types.ts';
import { visibly } from '../text/plain-text.ts';
import { estimateTokens } from './estimate-tokens.ts';

const SHORT_SUMMARY = 40;

/** Returns a result with one text block of minified JSON. */
export const answer = (value: object): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(visibly(compact(value))) }],
});

/** Returns one of our failures, in the format of the contract. */
export const failure = (error: ErrorInfo): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify({ success: false, error: visibly(error) }) }],
  isError: true,
});

/** Leaves out undefined, null, '', [] and {}. Booleans, numbers and the order stay. */
export function compact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(compact);
  if (typeof value !== 'object' || value === null) return value;
  const kept: [string, unknown][] = [];
  for (const [key, raw] of Object.entries(value)) {
    const item = compact(raw);
    if (!isEmpty(item)) kept.push([key, item]);
  }
  return Object.fromEntries(kept);
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** `list_tools`: full summaries, then short ones, then names, then as many names as fit. */
export function toolListAnswer(server: string, tools: readonly ToolMetadata[]): CallToolResult {
  const entry = (summary: (tool: ToolMetadata) => string) => ({
    server,
    tools: tools.map((tool) => ({ name: tool.name, summary: summary(tool), enabled: tool.enabled, tags: tool.tags })),
  });
  const names = (count: number) => ({
    server,
    tools: tools
      .slice(0, count)
      .map((tool) => (tool.enabled ? { name: tool.name } : { name: tool.name, enabled: false })),
    ...(count < tools.length && {
      more: `+${tools.length - count} more; narrow down with search_tools, server "${server}"`,
    }),
  });
  return firstFitting(
    [() => entry((tool) => tool.summary), () => entry((tool) => cut(tool.summary)), () => names(tools.length)],
    names,
    tools.length,
  );
}

interface ToolCounts {
  readonly toolCount: number;
  readonly disabledCount?: number;
  readonly unapprovedCount?: number;
}

/** Counts the tools that may be used, and beside them those that are disabled or wait for approval. */
export const toolCounts = ({
  toolCount,
  enabledCount,
  unapprovedCount = 0,
}: Pick<ServerMetadata, 'toolCount' | 'enabledCount' | 'unapprovedCount'>): ToolCounts => ({
  toolCount: enabledCount,
  ...(toolCount - unapprovedCount > enabledCount && { disabledCount: toolCount - unapprovedCount - enabledCount }),
  ...(unapprovedCount > 0 && { unapprovedCount }),
});

/** `list_mcp_servers`: with descriptions, then short ones, then without, then as many as fit. */
export function serverListAnswer(servers: readonly ServerMetadata[], notes: readonly string[]): CallToolResult {
  const entry = (description: (server: ServerMetadata) => string) => ({
    servers: servers.map((server) => ({
      name: server.name,
      description: description(server),
      ...toolCounts(server),
      status: server.status,
      reason: server.reason,
      client: shownClient(server, servers),
      stale: server.stale || undefined,
    })),
    notes,
  });
  const names = (count: number) => ({
    servers: servers
      .slice(0, count)
      .map((server) => ({ name: server.name, ...toolCounts(server), status: server.status })),
    ...(count < servers.length && { more: `+${servers.length - count} more; find their tools with search_tools` }),
    notes,
  });
  return firstFitting(
    [
      () => entry((server) => server.description),
      () => entry((server) => cut(server.description)),
      () => names(servers.length),
    ],
    names,
    servers.length,
  );
}

/**
 * The client a server was imported from, where that helps: its file has to be corrected because the server failed, or
 * another server of that name, such as `cursor/memory` beside `memory`, has to be told apart.
 */
const shownClient = (
  { name, status, client }: ServerMetadata,
  servers: readonly ServerMetadata[],
): string | undefined =>
  status === 'error' || servers.some((other) => other.name.endsWith(`/${name}`)) ? client : undefined;

function firstFitting(
  levels: readonly (() => object)[],
  some: (count: number) => object,
  total: number,
): CallToolResult {
  for (const level of levels) {
    const result = answer(level());
    if (fits(result)) return result;
  }
  let [low, high] = [0, total];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(answer(some(middle)))) low = middle;
    else high = middle - 1;
  }
  return answer(some(low));
}

function fits(result: CallToolResult): boolean {
  return estimateTokens(String(result.content?.[0]?.text)) <= LIMITS.answer.listTokens;
}

/** Cuts between characters, never inside one. */
const cut = (text: string): string =>
  text.length <= SHORT_SUMMARY ? text : `${text.slice(0, SHORT_SUMMARY - 1).replace(/[\ud800-\udbff]$/, '')}…`;
