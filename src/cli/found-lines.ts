/**
 * Describes the clients that `init` found, as lines for people and as a document for scripts.
 * @module
 */

import type { FoundClient, FoundFile, JoinedEntries } from '../config/found-clients.ts';
import { LIMITS } from '../core/limits.ts';
import { counted } from '../text/counted.ts';
import { oneLine } from '../text/plain-text.ts';
import type { Paint } from './paint.ts';
import { withTilde } from './source-lines.ts';

/** How many servers a client has. */
export const countOf = ({ files }: FoundClient): number => files.reduce((sum, { entries }) => sum + entries.length, 0);

/** The name of a client, then each of its files with its servers or its problem. */
export function clientLines(
  client: FoundClient,
  home: string,
  paint: Paint,
  joined: JoinedEntries,
  number = '',
): string[] {
  const fine = client.files.every(({ problem }) => problem === undefined);
  return [
    `${number}${fine ? paint('green', '✓') : paint('red', '✗')} ${paint('bold', client.title)} (${counted(countOf(client), 'server')})`,
    ...client.files.slice(0, LIMITS.shown.some).flatMap((file) => fileLines(file, client, home, joined)),
    ...(client.files.length > LIMITS.shown.some
      ? [`    and ${client.files.length - LIMITS.shown.some} more files; --json lists all`]
      : []),
  ];
}

function fileLines(
  { path, scope, problem, entries, warnings }: FoundFile,
  client: FoundClient,
  home: string,
  joined: JoinedEntries,
): string[] {
  const whose =
    scope === 'user' ? '' : scope === 'project' ? ' (came with this project)' : ' (set by the administrator)';
  const names = entries.slice(0, LIMITS.shown.listed).map((placed) => {
    const { name, enabled } = placed.entry;
    const before = joined.shared.get(placed);
    const called = joined.renamed.get(placed);
    const where = before === undefined || before.client === client ? 'above' : `in ${before.client.title}`;
    const notes = [
      enabled === false && 'disabled',
      called !== undefined && `called ${oneLine(called, 200)} here, because another server has that name`,
      before && `same as ${before.name === name ? '' : `${oneLine(before.name, 100)} `}${where}`,
    ].filter(Boolean);
    return oneLine(name, 100) + (notes.length > 0 ? ` (${notes.join(', ')})` : '');
  });
  if (entries.length > LIMITS.shown.listed) names.push(`+${entries.length - LIMITS.shown.listed} more`);
  return [
    `    ${withTilde(path, home)}${whose}`,
    ...(problem === undefined ? [`      ${names.join(', ') || 'no servers'}`] : [`      cannot be used: ${problem}`]),
    ...warnings.map((warning) => `      ! ${warning}`),
  ];
}

/** One client for `--json`. */
export const clientDocument = ({ type, title, files }: FoundClient, used: boolean, joined: JoinedEntries) => ({
  type,
  title,
  used,
  files: files.map(({ path, scope, problem, entries, warnings }) => ({
    path,
    scope,
    status: problem === undefined ? 'ok' : 'error',
    servers: entries.map((placed) => {
      const before = joined.shared.get(placed);
      const called = joined.renamed.get(placed);
      return {
        name: placed.entry.name,
        enabled: placed.entry.enabled !== false,
        ...(called !== undefined && { calledHere: called }),
        ...(before !== undefined && { sameAs: { client: before.client.type, name: before.name } }),
      };
    }),
    ...(problem !== undefined && { message: problem }),
    ...(warnings.length > 0 && { warnings }),
  })),
});
