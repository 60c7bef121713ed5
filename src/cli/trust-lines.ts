/**
 * Writes for a person what a project's file would do: what would run, where it would connect to, what it would be given and
 * what it would send. The most dangerous comes first, and what is too much to be looked through is counted. Of variables
 * whose values may be secret only the names are shown, except of those that change which program runs.
 * @module
 */
import { type FilePreview, type Reading, titleOf } from '../config/project-files.ts';
import { readBy } from '../config/references.ts';
import { serverVariable } from '../config/world.ts';
import { LIMITS } from '../core/limits.ts';
import type { ServerDefinition } from '../core/types.ts';
import { maskSecrets } from '../secrets/credential-patterns.ts';
import { isSecretName } from '../secrets/secret-names.ts';
import { secretParts } from '../secrets/secret-values.ts';
import { byDanger, CHANGES_PROGRAM } from './danger.ts';
import { toWord } from './json-document.ts';

/** A variable or header, and where its value would be read. */
interface Given {
  readonly name: string;
  readonly from?: readonly string[];
  /** Of variables that are written out and are no secret, and of all that change what runs. */
  readonly value?: string;
}

/** What references to the project's own files stand for. */
type Values = FilePreview['values'];
const NONE: Values = new Map();

/** Files that are trusted with the rest are in hand, so what they say is shown. All other references stay as written. */
const filled = (text: string, values: Values): string =>
  [...values].reduce((result, [reference, value]) => result.replaceAll(reference, () => value), text);

/** What a server is given by name: environment variables, or headers. */
export function givenTo({ name: server, connection }: ServerDefinition, values: Values = NONE): readonly Given[] {
  const texts = connection.kind === 'stdio' ? connection.env : connection.headers;
  const given = Object.entries(texts).map(([name, text]): Given => {
    const from = readBy(text);
    if (connection.kind === 'stdio' && (CHANGES_PROGRAM.test(name) || isPlainValue(name, text))) {
      return { name, ...(from.length > 0 && { from }), value: maskSecrets(filled(text, values)) };
    }
    return from.length === 0 ? { name } : { name, from };
  });
  if (connection.kind === 'stdio') {
    return [...given, ...connection.inheritEnv.map((name) => ({ name, from: [name] }))];
  }
  if (connection.auth !== 'env') return given;
  return [...given, { name: 'Authorization', from: [serverVariable(server, 'MCP_TOKEN'), 'MCP_AUTH_TOKEN'] }];
}

/** A value that is written out, in whole or in part, and is no secret: where a token is sent, what is loaded or written. */
const isPlainValue = (name: string, text: string): boolean =>
  text !== '' && !isSecretName(name) && !/^\$\{[^}]*\}$/.test(text) && secretParts(text, name).length === 0;

/** A server for `--json`. */
export function serverDocument(server: ServerDefinition, { types }: Reading, values: Values) {
  const { name, enabled, connection, origin, trusted, idempotent, tools } = server;
  const names = givenTo(server, values);
  const how =
    connection.kind === 'stdio'
      ? {
          command: connection.command,
          args: connection.args,
          ...(connection.cwd && { cwd: connection.cwd }),
          environment: names,
        }
      : { url: connection.url, headers: names };
  return {
    name,
    enabled,
    type: connection.kind,
    ...how,
    ...(trusted && { trusted }),
    ...(idempotent.length > 0 && { idempotent }),
    ...(tools.length > 0 && { tools: tools.length }),
    file: origin.file,
    readBy: types,
  };
}

/** Everything a person should see before saying yes. */
export function previewLines({ readings, code, sends, notes, values }: FilePreview): string[] {
  const lines = [
    ...code.map(
      (file) => `  ${toWord(file)} is a program. It runs, and what it starts is known, only once it is used: read it.`,
    ),
    ...sends.map((sentence) => `  ! ${folded(sentence)}`),
    ...readings.flatMap((reading) => readingLines(reading, readings, values)),
    ...notes.slice(0, LIMITS.shown.listed).map((note) => `  ! ${folded(note)}`),
    ...(notes.length > LIMITS.shown.listed
      ? [`  ! and ${notes.length - LIMITS.shown.listed} more notes; --json has all of them.`]
      : []),
  ];
  const isEmpty = code.length + sends.length + notes.length + readings.flatMap(({ servers }) => servers).length === 0;
  return isEmpty ? ['  no servers'] : lines.flatMap(bounded);
}

/** A line that is cut says so on a line of its own: what matters may be behind the cut. */
const bounded = (line: string): string[] =>
  line.length <= LIMITS.text.long
    ? [line]
    : [
        `${line.slice(0, LIMITS.text.long)}…`,
        `    ! ${line.length - LIMITS.text.long} more characters of this are not shown here; --json has all of it.`,
      ];

const folded = (text: string): string => text.replace(/\s+/g, ' ');

function readingLines({ types, servers }: Reading, all: readonly Reading[], values: Values): string[] {
  const readers = types.map(titleOf).join(', ');
  // Programs that agree need not be told apart.
  const head = all.length < 2 ? [] : [`  as ${readers} read${types.length === 1 ? 's' : ''} it:`];
  if (servers.length === 0) return all.length < 2 ? [] : [...head, '  no servers'];
  const sorted = byDanger(servers);
  return [
    ...head,
    ...sorted.slice(0, LIMITS.shown.listed).flatMap((server) => serverLines(server, values)),
    ...summaryLines(sorted),
  ];
}

/** What could not be listed, in a few lines. */
function summaryLines(servers: readonly ServerDefinition[]): string[] {
  if (servers.length <= LIMITS.shown.listed) return [];
  const programs = servers.flatMap(({ connection }) => (connection.kind === 'stdio' ? [connection.command] : []));
  const addresses = servers.flatMap(({ connection }) => (connection.kind === 'stdio' ? [] : [hostOf(connection.url)]));
  const read = servers.flatMap((server) => givenTo(server).flatMap(({ from = [] }) => from));
  const rest = servers.length - LIMITS.shown.listed;
  return [
    `  and ${rest} more servers, ${servers.length} in all. These ${LIMITS.shown.listed} are not all there is to see: --json lists every one.`,
    ...counted('programs', programs),
    ...counted('addresses', addresses),
    ...counted('variables and files that are read', read),
  ];
}

/** The rarest first: what stands once among many is what one would miss. */
function counted(what: string, values: readonly string[]): string[] {
  if (values.length === 0) return [];
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const sorted = [...counts].sort(([, a], [, b]) => a - b);
  const named = sorted
    .slice(0, LIMITS.shown.some)
    .map(([value, count]) => toWord(value) + (count > 1 ? ` (${count} times)` : ''));
  const rest = sorted.length > LIMITS.shown.some ? `, and ${sorted.length - LIMITS.shown.some} more` : '';
  return [`    ${sorted.length} ${what}: ${named.join(', ')}${rest}`];
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);

function serverLines(server: ServerDefinition, values: Values): string[] {
  const { name, enabled, connection, trusted, idempotent, tools } = server;
  const given = givenTo(server, values).map(
    ({ name: variable, from, value }) =>
      toWord(variable) +
      (value === undefined ? '' : `=${toWord(value)}`) +
      (from ? ` (from ${from.map(toWord).join(', ')})` : ''),
  );
  const [what, kind] =
    connection.kind === 'stdio'
      ? [[connection.command, ...connection.args].map(toWord).join(' '), 'environment']
      : [toWord(connection.url), 'headers'];
  const cwd = connection.kind === 'stdio' ? connection.cwd : undefined;
  const texts = connection.kind === 'stdio' ? [connection.command, ...connection.args, cwd ?? ''] : [connection.url];
  const read = [...new Set(texts.flatMap(readBy))];
  return [
    `  ${toWord(name)}${enabled ? '' : ' (disabled)'}`,
    `    ${what}`,
    ...(cwd === undefined ? [] : [`    in ${toWord(cwd)}`]),
    ...(given.length > 0 ? [`    ${kind}: ${given.join(', ')}`] : []),
    ...(read.length > 0 ? [`    reads: ${read.map(toWord).join(', ')}`] : []),
    ...(trusted ? ['    its own hints count: calls that it says are safe may be repeated'] : []),
    ...(idempotent.length > 0 ? [`    may be repeated after a failure: ${idempotent.map(toWord).join(', ')}`] : []),
    ...(tools.length > 0 ? [`    describes ${tools.length} of its tools beforehand`] : []),
  ];
}
