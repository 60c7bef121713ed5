/**
 * `anygpt mcp eval`: measures how well search finds the needed tools, with the user's own queries.
 * @module
 */

import { LIMITS } from '../../core/limits.ts';
import type { SearchResult } from '../../core/types.ts';
import { aboutTokens } from '../../meta-tools/definition-tokens.ts';
import { searchAnswer } from '../../meta-tools/search-answer.ts';
import { evaluate, type JudgedSearch, type ScoredTool, summarize } from '../../search/evaluate.ts';
import { type JudgedQuery, keyOf, type RankedTool, type RelevantTool } from '../../search/metrics.ts';
import { missesOf } from '../../search/misses.ts';
import { nearestNames } from '../../text/nearest-names.ts';
import type { Command } from '../command.ts';
import { type Evaluated, evaluationDocument, evaluationText } from '../eval-text.ts';
import { forTerminal } from '../failure.ts';
import { EXIT } from '../io.ts';
import { exactly } from '../positionals.ts';
import { parseQueries, type WrittenQuery, type WrittenTool } from '../query-file.ts';
import { readText } from '../read-text.ts';
import { SESSION_HELP, SESSION_OPTIONS, type Session, withSession } from '../session.ts';
import { numberOf, UsageError } from '../usage-error.ts';

const SHOWN_MISSES = 10;

export const evaluation: Command = {
  usage: `Usage: anygpt mcp eval --queries FILE [options]

Searches your tools with your queries. Reports how often the needed tool is
found (recall, nDCG, MRR), the tokens (estimated) and the time of an answer, and
which queries missed and why. Calls no tool.

FILE has one query with its tool per line, or is a JSON list or a CSV or TSV
table ("-" is stdin):
  {"query": "open a ticket", "server": "github", "tool": "create_issue"}
  query,server,tool        (header of a table; server is optional)
For several needed tools: "relevant": [{"server", "name", "grade"?, "group"?}].
Tools of one group are interchangeable.

Options:
  --queries FILE     The queries (required)
  --limit N          Search with limit N (default: none, as most agents do)
  --misses N         List at most N misses (default: ${SHOWN_MISSES}; with --json all)
${SESSION_HELP}

Examples:
  anygpt mcp eval --queries queries.jsonl
  anygpt mcp eval --queries queries.csv --misses 50
  anygpt mcp eval --queries queries.jsonl --offline --json

Exit codes: 0 success, 1 invalid arguments or queries, 2 no tools or
configuration error`,
  options: {
    ...SESSION_OPTIONS,
    queries: { type: 'string' },
    limit: { type: 'string' },
    misses: { type: 'string' },
  },
  async run(values, positionals, io) {
    exactly(positionals);
    if (values.queries === undefined) throw new UsageError('--queries FILE is missing');
    const limit = numberOf('--limit', values.limit, 1, LIMITS.search.results);
    const most = numberOf('--misses', values.misses, 0, Number.MAX_SAFE_INTEGER);
    const { text, from } = await readText(String(values.queries), '--queries', io);
    const written = parseQueries(text, from);
    return withSession(values, io, async (session) => {
      await session.lists();
      const catalogue = await catalogueOf(session);
      if (catalogue.status.size === 0)
        return session.fail({
          code: 'TOOL_NOT_FOUND',
          message: ['There are no tools to search.', ...session.engine.notes()].join(' '),
          retryable: false,
        });
      const evaluated = await measured(session, catalogue, written, limit);
      if (session.json) session.printJson(evaluationDocument(evaluated, most ?? evaluated.misses.length));
      else session.print(evaluationText(evaluated, most ?? SHOWN_MISSES, session));
      if (catalogue.unknown.length > 0)
        session.note(`The tools of ${catalogue.unknown.join(', ')} are not known and were not searched.`);
      return EXIT.ok;
    });
  },
};

/** All known tools and whether rules enable them. */
interface Catalogue {
  readonly status: ReadonlyMap<string, 'enabled' | 'disabled'>;
  /** The servers that have a tool of that name. */
  readonly owners: ReadonlyMap<string, readonly string[]>;
  readonly servers: number;
  /** Servers whose tools are not known. */
  readonly unknown: readonly string[];
}

async function catalogueOf({ engine }: Session): Promise<Catalogue> {
  const unknown = await engine.unseen();
  const known = (await engine.serverNames()).filter((name) => !unknown.includes(name));
  const status = new Map<string, 'enabled' | 'disabled'>();
  const owners = new Map<string, string[]>();
  for (const server of known) {
    for (const { name, enabled } of await engine.listTools(server, true)) {
      status.set(keyOf({ server, name }), enabled ? 'enabled' : 'disabled');
      const list = owners.get(name);
      if (list === undefined) owners.set(name, [server]);
      else list.push(server);
    }
  }
  return { status, owners, servers: known.length, unknown };
}

async function measured(
  session: Session,
  catalogue: Catalogue,
  written: readonly WrittenQuery[],
  limit: number | undefined,
): Promise<Evaluated> {
  const queries: JudgedQuery[] = [];
  for (const query of written) queries.push(await judgedQuery(session, catalogue, query));
  const ranker = rankerOf(session, limit);
  // The first search of a process loads data, so it is not measured.
  await ranker.rank(queries[0]?.query ?? '', 1);
  const outcomes = await evaluate(ranker, queries, { countTokens: aboutTokens, depth: LIMITS.search.results });
  return {
    summary: summarize([outcomes]),
    misses: missesOf(outcomes, (tool) => catalogue.status.get(keyOf(tool))),
    tools: catalogue.status.size,
    servers: catalogue.servers,
    depth: LIMITS.search.results,
    near: ({ server, name }) => nearTo(catalogue, server, name),
  };
}

/** The search as an agent uses it. */
function rankerOf(session: Session, limit: number | undefined): JudgedSearch {
  const find = async (query: string, most: number | undefined) => {
    const found = await session.engine.find(query, { limit: most, waitMs: 0 });
    return found.success ? found.data : { results: [], notes: [forTerminal(found.error.message)] };
  };
  return {
    rank: async (query, most) => (await find(query, most)).results.map(toTool),
    answer: async (query) => {
      const { results, notes } = await find(query, limit);
      const text = String(searchAnswer(results, notes, limit !== undefined).content?.[0]?.text);
      // A default answer may leave out hits.
      const shown: { readonly results?: readonly SearchResult[] } = JSON.parse(text);
      return { text, tools: (shown.results ?? []).map(toTool) };
    },
  };
}

const toTool = ({ server, tool, relevance }: SearchResult): ScoredTool => ({ server, name: tool, relevance });

/** Resolves the needed tools like any other server and tool pair. */
async function judgedQuery(session: Session, catalogue: Catalogue, query: WrittenQuery): Promise<JudgedQuery> {
  const relevant: RelevantTool[] = [];
  for (const tool of query.relevant) relevant.push(...(await meantBy(session, catalogue, tool)));
  return { ...query, relevant };
}

async function meantBy({ engine }: Session, { owners }: Catalogue, written: WrittenTool): Promise<RelevantTool[]> {
  const { server, name, grade, group } = written;
  const own = server === undefined ? owners.get(name) : undefined;
  // Without a server, every tool of that name counts.
  if (own) return own.map((owner) => ({ server: owner, name, grade, group: group ?? `any ${name}` }));
  const ref = await engine.refOf(server ?? name, server === undefined ? '' : name);
  const isPair = ref.tool !== '';
  return [{ server: isPair ? ref.server : '', name: isPair ? ref.tool : name, grade, group }];
}

function nearTo({ owners }: Catalogue, server: string, name: string): string[] {
  const here = [...owners].filter(([, servers]) => servers.includes(server)).map(([tool]) => tool);
  const near = nearestNames(name, here, 2);
  const names = near.length > 0 ? near.map((tool): RankedTool => ({ server, name: tool })) : elsewhere(owners, name);
  return names.map((tool) => `${tool.server}:${tool.name}`);
}

const elsewhere = (owners: Catalogue['owners'], name: string): RankedTool[] =>
  nearestNames(name, owners.keys(), 2).map((tool) => ({ server: owners.get(tool)?.[0] ?? '', name: tool }));
