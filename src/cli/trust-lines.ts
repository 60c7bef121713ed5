/**
 * A look into a file that came with a project in, lines for a person out: what would run, where it would connect to, and
 * which variables it would be given. Values of variables are never shown.
 * @module
 */
import type { FilePreview } from '../config/project-files.ts';
import { readBy } from '../config/references.ts';
import type { ServerDefinition } from '../types.ts';
import { toWord } from './json-document.ts';

/** A variable or header, and where its value would be read. */
interface Given {
  readonly name: string;
  readonly from?: readonly string[];
}

/** What a server is given by name: environment variables, or headers. */
export function givenTo({ connection }: ServerDefinition): readonly Given[] {
  const texts = connection.kind === 'stdio' ? connection.env : connection.headers;
  const given = Object.entries(texts).map(([name, text]): Given => {
    const from = readBy(text);
    return from.length === 0 ? { name } : { name, from };
  });
  return connection.kind === 'stdio' ? [...given, ...connection.inheritEnv.map((name) => ({ name }))] : given;
}

/** A server for `--json`. */
export function serverDocument(server: ServerDefinition) {
  const { name, enabled, connection, origin } = server;
  const names = givenTo(server);
  const how =
    connection.kind === 'stdio'
      ? {
          command: connection.command,
          args: connection.args,
          ...(connection.cwd && { cwd: connection.cwd }),
          environment: names,
        }
      : { url: connection.url, headers: names };
  return { name, enabled, type: connection.kind, ...how, file: origin.file };
}

/** Everything a person should see before saying yes. */
export const previewLines = ({ servers, code, notes }: FilePreview): string[] => [
  ...servers.flatMap(serverLines),
  ...code.map(
    (file) => `  ${toWord(file)} is a program. It runs, and what it starts is known, only once it is used: read it.`,
  ),
  ...notes.map((note) => `  ! ${note.replace(/\s+/g, ' ')}`),
  ...(servers.length + code.length + notes.length === 0 ? ['  no servers'] : []),
];

function serverLines(server: ServerDefinition): string[] {
  const { name, enabled, connection } = server;
  const given = givenTo(server).map(
    (each) => toWord(each.name) + (each.from ? ` (from ${each.from.map(toWord).join(', ')})` : ''),
  );
  const [what, kind] =
    connection.kind === 'stdio'
      ? [[connection.command, ...connection.args].map(toWord).join(' '), 'environment']
      : [toWord(connection.url), 'headers'];
  const read =
    connection.kind === 'stdio' ? [connection.command, ...connection.args].flatMap(readBy) : readBy(connection.url);
  return [
    `  ${toWord(name)}${enabled ? '' : ' (disabled)'}`,
    `    ${what}`,
    ...(connection.kind === 'stdio' && connection.cwd !== undefined ? [`    in ${toWord(connection.cwd)}`] : []),
    ...(given.length > 0 ? [`    ${kind}: ${given.join(', ')}`] : []),
    ...(read.length > 0 ? [`    reads: ${[...new Set(read)].map(toWord).join(', ')}`] : []),
  ];
}
