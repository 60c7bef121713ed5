/**
 * `anygpt mcp search`: searches tools by what they do.
 * @module
 */

import { LIMITS } from '../../core/limits.ts';
import type { SearchResult } from '../../core/types.ts';
import type { Explanation } from '../../search/explanation.ts';
import { matchesPattern, type QueryFilter, readFilters } from '../../search/query-filters.ts';
import { nearestNames } from '../../text/nearest-names.ts';
import { oneLine } from '../../text/plain-text.ts';
import type { Command } from '../command.ts';
import { explainLines } from '../explain-text.ts';
import { forTerminal } from '../failure.ts';
import { EXIT } from '../io.ts';
import { searchDocument } from '../json-answers.ts';
import { SESSION_HELP, SESSION_OPTIONS, type Session, withSession } from '../session.ts';
import { numberOf, UsageError } from '../usage-error.ts';

export const search: Command = {
  usage: `Usage: anygpt mcp search <query> [options]

Searches the tools, resources and prompts of all servers. Starts only servers
whose lists are unknown.
The query may have filters: server:NAME, tag:NAME, name:create_*, readonly:true,
destructive:false, domain:github.issues, category:crud.read; -tag:NAME excludes.
tag:resource and tag:prompt find only these.

Options:
  --server NAME      Filter by server
  --limit N          Max results (default: 10)
  --explain          Explain the percentage of each result
  --profile NAME     As a caller with this profile of the configuration
${SESSION_HELP}

Examples:
  anygpt mcp search "github issue"
  anygpt mcp search "create" --server github
  anygpt mcp search "file" --limit 5
  anygpt mcp search "server:github readonly:true pull requests"
  anygpt mcp search "throw away a branch" --explain

Exit codes: 0 results found, 1 invalid arguments, 2 no results, server not found
or configuration error`,
  options: {
    ...SESSION_OPTIONS,
    profile: { type: 'string' },
    server: { type: 'string' },
    limit: { type: 'string' },
    explain: { type: 'boolean' },
  },
  async run(values, positionals, io) {
    const query = positionals.join(' ').trim();
    if (query === '') throw new UsageError('<query> is missing');
    const limit = numberOf('--limit', values.limit, 1, LIMITS.search.results);
    const server = values.server as string | undefined;
    return withSession(values, io, async (session) => {
      await session.lists(server === undefined ? undefined : [server]);
      const found = await session.engine.find(query, { server, limit, items: true, waitMs: 0, caller: session.caller });
      if (!found.success) return session.fail(found.error);
      const { results } = found.data;
      const { filters, text } = readFilters(query);
      const { servers } = await session.engine.getConfig();
      const notes = [...unmatchedServers(filters, servers), ...found.data.notes];
      // A filter for a server says itself that it is disabled.
      const isNarrowed = server !== undefined || filters.some(({ key }) => key === 'server');
      const isLikely = text.trim() === '' || (results[0]?.relevance ?? 0) >= LIKELY;
      if (!isNarrowed && !isLikely) notes.push(...disabledServers(servers));
      const reasons = values.explain === true ? await explainAll(session, query, results) : [];
      if (session.json) session.printJson(searchDocument({ results, notes }, reasons));
      else {
        if (results.length === 0) session.note(`No results found for "${query}".`);
        // Results that only passed filters have no rank.
        else session.print(searchText(query, results, { reasons, ranked: text.trim() !== '' }, session));
        for (const note of shortNotes(notes)) session.note(forTerminal(note));
      }
      return results.length === 0 ? EXIT.notFound : EXIT.ok;
    });
  },
};

/** A first hit below this is wrong in one of three searches or more. */
const LIKELY = 0.6;

const FAILED = /^(.+) not searched: (?!still starting)/;

/** Several failed servers are one note; "nothing fits" repeats that there are no results. */
function shortNotes(notes: readonly string[]): string[] {
  const failed = notes.flatMap((note) => FAILED.exec(note)?.[1] ?? []);
  const others = notes.filter((note) => !note.startsWith('nothing fits;') && (failed.length < 2 || !FAILED.test(note)));
  return failed.length < 2
    ? others
    : [...others, `Not searched, because they failed: ${failed.join(', ')}. "anygpt mcp list" says why.`];
}

async function explainAll(
  { engine }: Session,
  query: string,
  results: readonly SearchResult[],
): Promise<Explanation[]> {
  const reasons: Explanation[] = [];
  for (const { server, tool, kind } of results) {
    if (kind !== undefined) continue;
    const reason = await engine.explain(query, server, tool);
    if (reason.success) reasons.push(reason.data);
  }
  return reasons;
}

function searchText(
  query: string,
  results: readonly SearchResult[],
  { reasons, ranked }: { readonly reasons: readonly Explanation[]; readonly ranked: boolean },
  { paint, block }: Session,
): string {
  const hits = results.map(({ kind, server, tool, summary, relevance, tags }, at) => {
    const number = `${at + 1}.`;
    const indent = ' '.repeat(number.length + 1);
    return [
      [
        number,
        paint('bold', oneLine(kind === undefined ? `${server}:${tool}` : `${server} ${kind} ${tool}`, 500)),
        ranked && paint('dim', `(${Math.round(relevance * 100)}% match)`),
      ]
        .filter(Boolean)
        .join(' '),
      summary && block(oneLine(summary, 2000), indent),
      tags.length > 0 && block(`Tags: ${tags.join(', ')}`, indent),
      ...reasons
        .filter((reason) => reason.server === server && reason.tool === tool)
        .flatMap((reason) =>
          explainLines(reason, query, `${tool} ${summary}`).map((line) => paint('dim', block(line, indent))),
        ),
    ]
      .filter(Boolean)
      .join('\n');
  });
  return [block(`Search results for "${oneLine(query, 200)}" (${results.length} found):`), ...hits].join('\n\n');
}

/** Nothing that fits was found, but a server that was not searched may have it. */
function disabledServers(servers: readonly { readonly name: string; readonly enabled: boolean }[]): string[] {
  const off = servers.filter(({ enabled }) => !enabled);
  if (off.length === 0) return [];
  const more = off.length > LIMITS.shown.some ? ` and ${off.length - LIMITS.shown.some} more` : '';
  const names = namesOf(off.slice(0, LIMITS.shown.some)) + more;
  return [
    `Not searched, because ${off.length === 1 ? 'it is' : 'they are'} disabled: ${names}. "anygpt mcp enable" switches a server on.`,
  ];
}

/** One message for each `server:` filter that matches no enabled server: the empty answer alone would mislead. */
function unmatchedServers(
  filters: readonly QueryFilter[],
  servers: readonly { readonly name: string; readonly enabled: boolean }[],
): string[] {
  return filters
    .filter(({ key }) => key === 'server')
    .flatMap(({ value, pieces }) => {
      const fitting = servers.filter(({ name }) => matchesPattern(name.toLowerCase(), pieces));
      if (fitting.some(({ enabled }) => enabled)) return [];
      if (fitting.length > 0) return [`${namesOf(fitting)} is disabled.`];
      return [`No server is called "${oneLine(value, 100)}". ${hint(value, servers)}`];
    });
}

function hint(value: string, servers: readonly { readonly name: string; readonly enabled: boolean }[]): string {
  const usable = servers.filter(({ enabled }) => enabled);
  const near = nearestNames(
    value.replaceAll('*', ''),
    usable.map(({ name }) => name),
  );
  if (near.length > 0) return `Did you mean ${near.map((name) => `server:${filterWord(name)}`).join(' or ')}?`;
  return usable.length === 0 ? 'There are none.' : `There are ${namesOf(usable)}.`;
}

const filterWord = (name: string): string => (/\s/.test(name) ? `"${oneLine(name, 100)}"` : oneLine(name, 100));

const namesOf = (servers: readonly { readonly name: string }[]): string =>
  servers
    .slice(0, LIMITS.shown.some)
    .map(({ name }) => oneLine(name, 100))
    .join(', ') + (servers.length > LIMITS.shown.some ? ` and ${servers.length - LIMITS.shown.some} more` : '');
