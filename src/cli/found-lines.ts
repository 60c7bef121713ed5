/**
 * Clients that were found in, lines for a person and a document for scripts out.
 * @module
 */
import type { FoundClient, FoundFile, JoinedEntries } from '../config/found-clients.ts';
import { LIMITS } from '../core/limits.ts';
import { oneLine } from '../text/plain-text.ts';
import type { Paint } from './paint.ts';
import { withTilde } from './source-lines.ts';

/** How many servers a client has. */
export const countOf = ({ files }: FoundClient): number => files.reduce((sum, { entries }) => sum + entries.length, 0);

/** `3 servers`. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** One client: its name, then each file with the servers in it or what is wrong with it. */
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
      ? [`    and ${client.files.length - LIMITS.shown.some} more files; --json has all of them`]
      : []),
  ];
}

function fileLines(
  { path, scope, problem, entries, warnings }: FoundFile,
  client: FoundClient,
  home: string,
  joined: JoinedEntries,
): string[] {
  const whose = scope === 'user' ? '' : scope === 'project' ? ', came with this project' : ', of the administrator';
  const names = entries.slice(0, LIMITS.shown.listed).map((placed) => {
    const { name, enabled } = placed.entry;
    const before = joined.shared.get(placed);
    const called = joined.renamed.get(placed);
    const where = before?.client === client ? '' : ` of ${before?.client.title}`;
    const notes = [
      enabled === false && 'disabled',
      called !== undefined && `another server has that name, so it is called ${oneLine(called, 200)} here`,
      before &&
        (before.name === name ? `the one${where || ' above'}` : `the same as ${oneLine(before.name, 100)}${where}`),
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
