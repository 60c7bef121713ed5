/**
 * One entry of `sources` in, what its files give out: one result for each file, and one that says so when there is none.
 * Files that came with a project are found too, listed, and used only once they are trusted.
 * @module
 */

import { expandPath } from '../../config/paths.ts';
import type { SourceEntry } from '../../config/schema.ts';
import { ConfigurationError } from '../../core/errors.ts';
import { CLIENT_TYPES, type ClientType, clientOf } from './clients.ts';
import {
  failed,
  type ImportContext,
  type ImportedSource,
  importFile,
  namedFile,
  type SourceFile,
} from './import-file.ts';
import { countingFiles } from './list-clients.ts';

export type { ImportContext, ImportedSource } from './import-file.ts';

/** Reads everything a source stands for. */
export async function importSource(
  { type, path: written }: SourceEntry,
  context: ImportContext,
): Promise<readonly ImportedSource[]> {
  try {
    if (type === 'auto') return await importAuto(context);
    if (written !== undefined) {
      const path = expandPath(written, context.base, context.world, `the path of source ${type}`);
      return [await importFile(namedFile(type, path, context.world), context)];
    }
    if (type === 'custom' || type === 'mcpb') return [failed({ type, path: '' }, 'error', 'its path is missing.')];
    const files = filesOf(type, context);
    if (files.length > 0) return await importFiles(type, files, context);
    const [path = ''] = clientOf(type).user(context.world);
    return [failed({ type, path, scope: 'user' }, 'missing', `${path} was not found.`)];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return [failed({ type, path: written ?? '' }, 'error', error.message)];
  }
}

/** All clients; one that is not installed is nothing to speak of. A file two of them read is read once. */
async function importAuto(context: ImportContext): Promise<readonly ImportedSource[]> {
  const seen = new Set<string>();
  const results: ImportedSource[] = [];
  for (const type of CLIENT_TYPES) {
    const files = filesOf(type, context).filter(({ path }) => !seen.has(path));
    for (const { path } of files) seen.add(path);
    results.push(...(await importFiles(type, files, context)));
  }
  if (results.length > 0) return results;
  return [failed({ type: 'auto', path: '' }, 'missing', 'no client with a configuration was found.')];
}

const filesOf = (type: ClientType, { world }: ImportContext): readonly SourceFile[] =>
  countingFiles(clientOf(type), world).map(({ path, scope, root }) => ({ type, path, scope, root }));

/** The files of one client, those whose entries win first. */
async function importFiles(
  type: ClientType,
  files: readonly SourceFile[],
  context: ImportContext,
): Promise<readonly ImportedSource[]> {
  const winner = clientOf(type).precedence ?? 'project';
  const rank = ({ scope }: SourceFile) => Number((scope === 'project') !== (winner === 'project'));
  const sorted = [...files].sort((a, b) => rank(a) - rank(b));
  return withoutHidden(folded(await Promise.all(sorted.map((file) => importFile(file, context)))));
}

/** Files that nobody trusts and that are told apart; of more, a project could fill the screen, and what an agent reads. */
const FEW_UNTRUSTED = 2;

/** Many files that nobody trusts are one sentence, without the names that somebody gave them. */
function folded(all: readonly ImportedSource[]): readonly ImportedSource[] {
  const heard = new Set<string>();
  const isNew = (warning: string) => heard.size < heard.add(warning).size;
  const results = all.map((result) => ({ ...result, warnings: result.warnings.filter(isNew) }));
  const count = results.filter(({ source }) => source.status === 'untrusted').length;
  if (count <= FEW_UNTRUSTED) return results;
  const message = `${count} files came with this project and are not trusted, so their servers are not used. Look at them, then run \`anygpt mcp trust\`.`;
  let said = false;
  return results.map((result) => {
    if (result.source.status !== 'untrusted') return result;
    const warnings = said ? [] : [`Source ${result.source.type}: ${message}`];
    said = true;
    return { ...result, source: { ...result.source, message }, warnings };
  });
}

/** Inside one client an entry of the stronger scope hides those of its name in the other. */
function withoutHidden(results: readonly ImportedSource[]): readonly ImportedSource[] {
  const owners = new Map<string, boolean>();
  return results.map((result) => {
    const project = result.source.scope === 'project';
    const hidden = result.entries.filter(({ entry }) => (owners.get(entry.name) ?? project) !== project);
    for (const { entry } of result.entries) if (!owners.has(entry.name)) owners.set(entry.name, project);
    if (hidden.length === 0) return result;
    return {
      ...result,
      source: { ...result.source, serverCount: result.entries.length - hidden.length },
      entries: result.entries.filter((placed) => !hidden.includes(placed)),
      hidden: hidden.filter(({ isProjects }) => !isProjects).map((placed) => ({ ...placed, isHidden: true })),
      skipped: [
        ...result.skipped,
        ...hidden.map(({ origin }) => `${origin.file}: ${origin.path}: another file of ${result.source.type} wins.`),
      ],
    };
  });
}
