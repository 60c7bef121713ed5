/**
 * Searches tools and explains a tool's rank. Waits briefly for servers that have no list yet, adds what was learnt and
 * what an embedder knows, then searches.
 * @module
 */
import { joinedNotes, searchNotes } from '../catalog/search-notes.ts';
import { fromIndexed, withItems } from '../catalog/server-items.ts';
import { requireServer, requireTool, settleRef } from '../catalog/tool-lookup.ts';
import { isBrokenSource } from '../config/resolved-config.ts';
import { LIMITS } from '../core/limits.ts';
import { fail, ok, type ToolResult } from '../core/result.ts';
import type { Caller, SearchOptions, SearchResult } from '../core/types.ts';
import type { Explanation } from '../search/explanation.ts';
import type { SearchQuery } from '../search/query.ts';
import { asksForClasses } from '../search/query-filters.ts';
import { oneLine, shortAdvice } from '../text/plain-text.ts';
import type { EngineRuntime } from './engine-runtime.ts';
import type { EngineState } from './engine-state.ts';
import { isFitting, registryNote } from './registry-note.ts';

/** A search with its caller and timeout. */
export interface FindOptions extends SearchOptions {
  readonly caller?: Caller | undefined;
  /** Also finds resources and prompts, beside the tools. Default false. */
  readonly items?: boolean | undefined;
  /** How long to wait for servers that have no list yet. */
  readonly waitMs?: number | undefined;
}

export interface FindResult {
  readonly results: readonly SearchResult[];
  /** What was not searched or was withheld, and why. */
  readonly notes: readonly string[];
}

/** Searches all tools, or one server's: the shared ones, then those of the request. */
export async function findTools(
  runtime: EngineRuntime,
  [shared, ...own]: readonly EngineState[],
  query: string,
  options: FindOptions,
): Promise<ToolResult<FindResult>> {
  const { server, limit } = options;
  const ofRequest = own.filter(({ servers }) => server === undefined || servers.has(server));
  if (server !== undefined && ofRequest.length > 0) return findIn(runtime, ofRequest[0] as EngineState, query, options);
  const found = await findIn(runtime, shared as EngineState, query, options, true);
  if (ofRequest.length === 0 || !found.success) return found;
  const more = await Promise.all(ofRequest.map((state) => findIn(runtime, state, query, options)));
  const parts = [found, ...more].flatMap((part) => (part.success ? [part.data] : []));
  const results = parts.flatMap((part) => part.results).sort((a, b) => b.relevance - a.relevance);
  return ok({
    results: results.slice(0, limit ?? LIMITS.search.defaultResults),
    notes: joinedNotes(
      parts.map((part) => part.notes),
      results,
    ),
  });
}

/** Searches one state. Nothing is learnt or counted for the state of a request. */
async function findIn(
  runtime: EngineRuntime,
  state: EngineState,
  query: string,
  { caller, waitMs = LIMITS.time.lists, server, items: wantsItems = false, ...rest }: FindOptions,
  isShared = false,
): Promise<ToolResult<FindResult>> {
  const { discovery, catalog } = state;
  if (state.offReason !== undefined) return ok({ results: [], notes: gatewayNotes(state) });
  const known = server === undefined ? undefined : requireServer(state, server);
  if (known?.success === false) return known;
  const unseen = discovery.unseen().filter((name) => server === undefined || name === server);
  if (isShared) runtime.count(unseen.length === 0);
  await discovery.firstLists(unseen, waitMs, caller);
  const read = await readQuery(state, query);
  const isLearnt = isShared || state.sight !== undefined;
  const hints = isLearnt ? await whatIsKnown(runtime, read, { server, caller, ...rest }) : {};
  const { results: tools, withheld } = catalog.search.find(read, { ...rest, server, ...hints });
  if (isLearnt) runtime.usage?.shown(read.text, caller, tools);
  const index = catalog.items.search;
  const items = wantsItems && index.size > 0 ? index.find(read, { ...rest, server }).results.map(fromIndexed) : [];
  const results = withItems(tools, items, rest.limit);
  discovery.refreshBehind(new Set(results.map((result) => result.server)), caller);
  if (isShared) runtime.answered(state);
  const searched = server === undefined ? state.servers.keys() : [server];
  const waiting = state.approvals ? [...searched].reduce((sum, name) => sum + catalog.unapprovedCount(name), 0) : 0;
  const notes = searchNotes(discovery, unseen, results, withheld, waiting);
  if (!isShared) return ok({ results, notes });
  const isMissing =
    // Users of a profile cannot add servers, and need not know which there are.
    state.sight?.profile === undefined &&
    server === undefined &&
    withheld + waiting === 0 &&
    !isFitting(results) &&
    discovery.unseen().length === 0;
  const elsewhere = isMissing ? await registryNote(state.config, read.text) : undefined;
  return ok({ results, notes: [...gatewayNotes(state), ...notes, ...(elsewhere === undefined ? [] : [elsewhere])] });
}

/** Reads a query. Inference is loaded only for one that filters by domain or category. */
async function readQuery({ catalog, config }: EngineState, query: string): Promise<SearchQuery> {
  if (!asksForClasses(query)) return catalog.search.read(query);
  const { indexClassifier } = await import('../service/infer/classify-tool.ts');
  return catalog.search.read(query, indexClassifier(config.servers));
}

/** Explains a tool's rank for a query. */
export async function explainTool(
  runtime: EngineRuntime,
  state: EngineState,
  query: string,
  { server, tool }: { readonly server: string; readonly tool: string },
  options: FindOptions,
): Promise<ToolResult<Explanation>> {
  const ref = await settleRef(state, server, tool, options);
  const found = await requireTool(state, ref, options.caller);
  if (!found.success) return found;
  const read = await readQuery(state, query);
  const known = await whatIsKnown(runtime, read, options);
  const about = state.catalog.about(ref.server);
  const explanation = state.catalog.search.explain(read, found.data.metadata, about, { ...options, ...known });
  return explanation === undefined
    ? fail('TOOL_NOT_FOUND', `${ref.server}:${ref.tool} is not in the search index.`, ref)
    : ok(explanation);
}

/** What usage and the embedder add to a query, unless the caller gave it. */
async function whatIsKnown(
  { usage, embeddings }: EngineRuntime,
  query: SearchQuery,
  { server, caller, learnt, similar }: FindOptions,
): Promise<Pick<SearchOptions, 'learnt' | 'similar'>> {
  return {
    learnt: learnt ?? (await usage?.learntFor(query, caller)),
    similar: similar ?? (await embeddings.similar(query.text, server)),
  };
}

/** Notes about the whole gateway, for an agent. */
export function gatewayNotes(state: EngineState | undefined): string[] {
  if (state === undefined) return [];
  if (state.sight?.profile !== undefined) return state.servers.size > 0 || state.owned.size > 0 ? [] : [NOTHING_HERE];
  if (state.offReason !== undefined) return [state.offReason];
  // The user who could fix it often sees only what the agent says.
  const { servers, warnings, sources, origin } = state.config;
  const lost = (state.approvals?.problems ?? []).map((problem) => shortAdvice(problem, LIMITS.answer.warning));
  const broken = sources.filter(isBrokenSource).map(({ type, message }) => `Source ${type}: ${message}`);
  const why = (servers.length === 0 ? warnings : broken)
    .slice(0, LIMITS.answer.warnings)
    .map((warning) => shortAdvice(warning, LIMITS.answer.warning));
  if (servers.length > 0 || state.providers.length > 0) return [...lost, ...why];
  if (why.length > 0) return why;
  // `init` does not change an existing configuration.
  const how =
    origin === undefined
      ? 'set some up with: anygpt mcp init'
      : `add one to "servers" in ${oneLine(origin, LIMITS.answer.warning)}.`;
  return [`No servers are configured. A person can ${how}`];
}

const NOTHING_HERE = 'No servers are available to you. The operator of this gateway decides that.';
