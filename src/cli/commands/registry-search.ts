/**
 * `anygpt mcp registry search`: finds servers of the registries by what they do.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import type { FoundServer } from '../../mcp-registry/mcp-registries.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../io.ts';
import { type RegistrySession, withRegistries } from '../open-registries.ts';
import { numberOf, UsageError } from '../usage-error.ts';

export const searchRegistries: Command['run'] = async (values, positionals, io) => {
  const query = positionals.join(' ').trim();
  if (query === '') throw new UsageError('<query> is missing');
  const limit = numberOf('--limit', values.limit, 1, LIMITS.search.results);
  return withRegistries(values, io, async (session) => {
    const { registries, offline, signal, onProgress } = session;
    const { results, notes } = await registries.search(query, { limit, offline, signal, onProgress });
    if (session.json) session.printJson({ results, ...(notes.length > 0 && { notes }) });
    else {
      if (results.length === 0) session.note(`No server found for "${query}".`);
      else session.print(searchText(query, results, session));
      for (const note of notes) session.note(note);
    }
    return results.length === 0 ? EXIT.notFound : EXIT.ok;
  });
};

function searchText(query: string, results: readonly FoundServer[], { paint, block }: RegistrySession): string {
  const several = new Set(results.map(({ registry }) => registry)).size > 1;
  const hits = results.map(({ name, version, summary, relevance, tags, registry }, at) => {
    const number = `${at + 1}.`;
    const indent = ' '.repeat(number.length + 1);
    const match = relevance > 0 && paint('dim', `(${Math.round(relevance * 100)}% match)`);
    return [
      [number, paint('bold', name), version, match].filter(Boolean).join(' '),
      summary && block(summary, indent),
      tags.length > 0 && block(`Tags: ${tags.join(', ')}`, indent),
      several && block(`Registry: ${registry}`, indent),
    ]
      .filter(Boolean)
      .join('\n');
  });
  const next = `Run "anygpt mcp registry show ${results[0]?.name}" for the ways to use one.`;
  return [block(`Search results for "${query}":`), ...hits, block(next)].join('\n\n');
}
