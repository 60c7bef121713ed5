/**
 * Builds the answer of `search_tools`: as many hits as an agent should pay for. Without a `limit`, the first two hits are
 * complete, the next are shorter, the last are names, and the list ends with the budget. With a `limit`, the agent gets that many complete
 * hits.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import { OWN_SERVER } from '../core/own-server.ts';
import type { CallToolResult, ItemKind, SearchResult } from '../core/types.ts';
import { shorten } from '../text/plain-text.ts';
import { answer } from './answers.ts';
import { estimateTokens } from './estimate-tokens.ts';

/** Hits that are shown in full before the rest is shortened, and hits that are shown even if there is no room left. */
const FULL = 2;
const ALWAYS = 3;
const SUMMARY = 80;
const SHORT_SUMMARY = 48;
const ARGS = 72;

/** Shapes hits and notes; `limited` when the agent gave a number. */
export function searchAnswer(
  results: readonly SearchResult[],
  notes: readonly string[],
  limited: boolean,
): CallToolResult {
  const hits: readonly { kind?: unknown }[] = limited ? results.map(inFull) : withinRoom(results);
  const ways = ITEM_WAYS.filter(([kind]) => hits.some((hit) => hit.kind === kind)).map(([, way]) => way);
  return answer({ results: hits, notes: [...notes, ...ways] });
}

/** How to read a hit that is no tool. */
const ITEM_WAYS: readonly (readonly [ItemKind, string])[] = [
  ['resource', `read a resource: execute_tool ${OWN_SERVER} read_resource {server,uri}`],
  ['prompt', `get a prompt: execute_tool ${OWN_SERVER} get_prompt {server,name,arguments}`],
];

/** What a hit is called by: a tool by its name, a resource by its URI. */
export const nameOf = ({ kind, tool }: SearchResult): object =>
  kind === undefined ? { tool } : kind === 'resource' ? { uri: tool } : { name: tool };

/** The hits that fit. Resources and prompts get the room that tools leave. */
function withinRoom(results: readonly SearchResult[]): object[] {
  const shown = new Map<SearchResult, object>();
  let left = LIMITS.answer.hits;
  for (const [rank, result] of results.filter(({ kind }) => kind === undefined).entries()) {
    const entry = rank < FULL ? inBrief(result, SUMMARY, ARGS) : inBrief(result, SHORT_SUMMARY, 0);
    const named = { server: result.server, tool: result.tool, relevance: result.relevance };
    // The best hit is always included, however long its names. So are the next two, which its length must not push out,
    // and every tool that was asked for by name.
    const fitting = [entry, named].find((one) => tokensOf(one) <= left);
    if (fitting === undefined && rank >= ALWAYS && result.relevance < 1) break;
    const one = rank === 0 ? entry : (fitting ?? named);
    left -= tokensOf(one);
    shown.set(result, one);
  }
  for (const result of results.filter(({ kind }) => kind !== undefined)) {
    const sizes = [inBrief(result, SUMMARY, ARGS), inBrief(result, SHORT_SUMMARY, ARGS)];
    const entry = sizes.find((one) => tokensOf(one) <= left) ?? (result === results[0] ? sizes[0] : undefined);
    if (entry === undefined) continue;
    left -= tokensOf(entry);
    shown.set(result, entry);
  }
  return results.flatMap((result) => shown.get(result) ?? []);
}

const tokensOf = (entry: object): number => estimateTokens(JSON.stringify(entry));

const inFull = (hit: SearchResult): object => {
  const { kind, server, summary, relevance, tags, args } = hit;
  return { kind, server, ...nameOf(hit), summary, relevance, tags, args };
};

const inBrief = (hit: SearchResult, summaryChars: number, argsChars: number): object => {
  const { kind, server, summary, relevance, tags, args } = hit;
  return {
    ...(kind && { kind }),
    server,
    ...nameOf(hit),
    summary: shorten(summary, summaryChars),
    relevance,
    ...(tags.length > 0 && { tags }),
    ...(args && argsChars > 0 && { args: shortenArgs(args, argsChars) }),
  };
};

/** Cuts between parameters; the rest can be asked for. */
function shortenArgs(args: string, chars: number): string {
  if (args.length <= chars) return args;
  const end = args.lastIndexOf(', ', chars - 3);
  return end > 0 ? `${args.slice(0, end)}, …` : shorten(args, chars);
}
