/**
 * Clients that were found in, lines for a person and a document for scripts out.
 * @module
 */
import type { FoundClient, FoundFile } from '../config/found-clients.ts';
import { oneLine } from '../plain-text.ts';
import type { Paint } from './paint.ts';
import { withTilde } from './source-lines.ts';

const MAX_NAMES = 20;

/** How many servers a client has. */
export const countOf = ({ files }: FoundClient): number => files.reduce((sum, { entries }) => sum + entries.length, 0);

/** `3 servers`. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** One client: its name, then each file with the servers in it or what is wrong with it. */
export function clientLines(client: FoundClient, home: string, paint: Paint, number = ''): string[] {
  const fine = client.files.every(({ problem }) => problem === undefined);
  return [
    `${number}${fine ? paint('green', '✓') : paint('red', '✗')} ${paint('bold', client.title)} (${counted(countOf(client), 'server')})`,
    ...client.files.flatMap((file) => fileLines(file, home)),
  ];
}

function fileLines({ path, scope, problem, entries, warnings }: FoundFile, home: string): string[] {
  const whose = scope === 'user' ? '' : scope === 'project' ? ', came with this project' : ', of the administrator';
  const names = entries
    .slice(0, MAX_NAMES)
    .map(({ entry }) => oneLine(entry.name, 100) + (entry.enabled === false ? ' (disabled)' : ''));
  if (entries.length > MAX_NAMES) names.push(`+${entries.length - MAX_NAMES} more`);
  return [
    `    ${withTilde(path, home)}${whose}`,
    ...(problem === undefined ? [`      ${names.join(', ') || 'no servers'}`] : [`      cannot be used: ${problem}`]),
    ...warnings.map((warning) => `      ! ${warning}`),
  ];
}

/** One client for `--json`. */
export const clientDocument = ({ type, title, files }: FoundClient, used: boolean) => ({
  type,
  title,
  used,
  files: files.map(({ path, scope, problem, entries, warnings }) => ({
    path,
    scope,
    status: problem === undefined ? 'ok' : 'error',
    servers: entries.map(({ entry }) => ({ name: entry.name, enabled: entry.enabled !== false })),
    ...(problem !== undefined && { message: problem }),
    ...(warnings.length > 0 && { warnings }),
  })),
});
