/**
 * Imports the files of one entry of `sources`: one result for each file, or one that says there is none. Project files
 * are listed too, and used only once trusted.
 * @module
 */

import { type ProjectFolders, projectFolders } from '../../config/find-config.ts';
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
import { countingFiles, moreText } from './list-clients.ts';

export type { ImportContext, ImportedSource } from './import-file.ts';

/** Imports every file of a source. */
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

/** Imports all clients, skipping those that are not installed. A file that two clients read is read once. */
async function importAuto(context: ImportContext): Promise<readonly ImportedSource[]> {
  const seen = new Set<string>();
  const results: ImportedSource[] = [];
  const folders = projectFolders(context.world);
  for (const type of CLIENT_TYPES) {
    const files = filesOf(type, context, folders).filter(({ path }) => !seen.has(path));
    for (const { path } of files) seen.add(path);
    results.push(...(await importFiles(type, files, context)));
  }
  if (results.length > 0) return results;
  return [failed({ type: 'auto', path: '' }, 'missing', 'no client with a configuration was found.')];
}

const filesOf = (type: ClientType, { world }: ImportContext, folders?: ProjectFolders): readonly SourceFile[] =>
  countingFiles(clientOf(type), world, folders).map(({ path, scope, root, more }) => ({
    type,
    path,
    scope,
    root,
    more,
  }));

/** Imports the files of one client, in order of precedence. */
async function importFiles(
  type: ClientType,
  files: readonly SourceFile[],
  context: ImportContext,
): Promise<readonly ImportedSource[]> {
  const winner = clientOf(type).precedence ?? 'project';
  const rank = ({ scope }: SourceFile) => Number((scope === 'project') !== (winner === 'project'));
  const sorted = [...files].sort((a, b) => rank(a) - rank(b));
  const results = folded(await Promise.all(sorted.map((file) => importFile(file, context))));
  return withoutHidden(results.map((result, at) => withMore(result, sorted[at]?.more)));
}

/** Says that there are more files than are looked at. */
function withMore(imported: ImportedSource, more: number | undefined): ImportedSource {
  if (more === undefined) return imported;
  const { type, path } = imported.source;
  const text = `Source ${type}: ${moreText(path, more)} Remove files that you do not need.`;
  return { ...imported, warnings: [...imported.warnings, text] };
}

/** More untrusted files than this are summarised: a project could otherwise fill the screen and an agent's context. */
const FEW_UNTRUSTED = 2;

/** Summarises many untrusted files in one sentence, without their names. */
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

/** Within one client, an entry of the stronger scope hides entries of the same name in the other. */
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
        ...hidden.map(
          ({ origin }) => `${origin.file}: ${origin.path}: replaced by another file of ${result.source.type}.`,
        ),
      ],
    };
  });
}
