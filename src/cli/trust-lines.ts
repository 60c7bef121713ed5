/**
 * Describes what a project's file would do: what would run, where it would connect, and what it would get and send. The
 * most dangerous comes first; what is too long is counted. Values of variables that may be secret are hidden, except of
 * those that change which program runs.
 * @module
 */

import { type FilePreview, type Reading, titleOf } from '../config/project-files.ts';
import { readBy } from '../config/references.ts';
import { LIMITS } from '../core/limits.ts';
import { CHANGES_PROGRAM } from '../core/program-variables.ts';
import { addressWords, isLocal, namedTextsOf, transportParts } from '../core/transport-parts.ts';
import type { ServerDefinition } from '../core/types.ts';
import { maskSecrets } from '../secrets/credential-patterns.ts';
import { isSecretName } from '../secrets/secret-names.ts';
import { secretParts } from '../secrets/secret-values.ts';
import { byDanger, runsNext } from './danger.ts';
import { toWord } from './json-document.ts';
import { block } from './layout.ts';
import { withTilde, withTildes } from './source-lines.ts';

/** A variable or header, and where its value would be read. */
interface Given {
  readonly name: string;
  readonly from?: readonly string[];
  /** Set for values that are not secret, and for all variables that change which program runs. */
  readonly value?: string;
}

/** The values of references to the project's own files. */
type Values = FilePreview['values'];
const NONE: Values = new Map();

/** Replaces references to files that are trusted together with this one. All others stay as written. */
const filled = (text: string, values: Values): string =>
  [...values].reduce((result, [reference, value]) => result.replaceAll(reference, () => value), text);

/** The environment variables or headers of a server. */
function givenTo({ name: server, connection }: ServerDefinition, values: Values = NONE): readonly Given[] {
  const given = Object.entries(namedTextsOf(connection)).map(([name, text]): Given => {
    const from = readBy(text);
    if (isLocal(connection) && (CHANGES_PROGRAM.test(name) || isPlainValue(name, text))) {
      return { name, ...(from.length > 0 && { from }), value: maskSecrets(filled(text, values)) };
    }
    return from.length === 0 ? { name } : { name, from };
  });
  return [...given, ...transportParts(connection.type).passedOn(connection, server)];
}

/** Whether a value is written out, at least in part, and not secret. */
const isPlainValue = (name: string, text: string): boolean =>
  text !== '' && !isSecretName(name) && !/^\$\{[^}]*\}$/.test(text) && secretParts(text, name).length === 0;

/** A server for `--json`. */
export function serverDocument(server: ServerDefinition, { types }: Reading, values: Values) {
  const { name, enabled, connection, origin, trusted, idempotent, tools } = server;
  const names = givenTo(server, values);
  const how = isLocal(connection)
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
    type: connection.type,
    ...how,
    ...(trusted && { trusted }),
    ...(idempotent.length > 0 && { idempotent }),
    ...(tools.length > 0 && { tools: tools.length }),
    file: origin.file,
    readBy: types,
  };
}

/** Everything to review before trusting a file, wrapped to the terminal. */
export const previewText = (look: FilePreview, width: number, home: string | undefined): string[] =>
  previewLines(look, home).map((line) => hanging(line, width));

/** What trusting files would change about the user's own servers. */
export const effectLines = (effects: readonly string[], width: number, home: string | undefined): string[] =>
  effects.map((effect) => hanging(`  ! ${folded(withTildes(effect, home))}`, width));

/** Wraps a line with its indent. Continuation lines are indented more, so that they cannot pass for separate lines. */
function hanging(line: string, width: number): string {
  const indent = /^ */.exec(line)?.[0] ?? '';
  const [first = '', ...rest] = block(line.trimStart(), width - DEEPER.length, indent).split('\n');
  return [first, ...rest.map((more) => DEEPER + more)].join('\n');
}
const DEEPER = '      ';

function previewLines({ readings, code, sends, notes, values }: FilePreview, home: string | undefined): string[] {
  const lines = [
    ...code.flatMap((file) =>
      bounded(`  ${toWord(file)} is a program. What it starts is known only when it runs, so read it first.`),
    ),
    ...sends.flatMap((sentence) => bounded(`  ! ${folded(sentence)}`)),
    ...readings.flatMap((reading) => readingLines(reading, readings, values, home)),
    ...notes.slice(0, LIMITS.shown.listed).flatMap((note) => bounded(`  ! ${folded(note)}`)),
    ...(notes.length > LIMITS.shown.listed
      ? [`  ! and ${notes.length - LIMITS.shown.listed} more notes; --json lists all.`]
      : []),
  ];
  const isEmpty = code.length + sends.length + notes.length + readings.flatMap(({ servers }) => servers).length === 0;
  return isEmpty ? ['  no servers'] : lines;
}

/** Cuts the middle out of a long line and says so. The end stays: what is dangerous is often put there. */
const bounded = (line: string): string[] => {
  const half = LIMITS.text.long / 2;
  return line.length <= LIMITS.text.long
    ? [line]
    : [
        `${line.slice(0, half)}…`,
        `    ! ${line.length - 2 * half} more characters are not shown; --json shows all.`,
        `    …${line.slice(-half)}`,
      ];
};

/** The words of a command line or address. No word hides those behind it: a long one shows its beginning and its end. */
function commandLine(words: readonly string[]): string {
  const whole = words.map(toWord);
  if (whole.join(' ').length <= LIMITS.text.long) return whole.join(' ');
  const longWords = whole.filter(({ length }) => length > LIMITS.names.shown).length;
  const half = Math.max(LIMITS.names.shown, Math.floor(LIMITS.text.long / Math.max(1, longWords))) / 2;
  const shown = whole.map((word) => withoutMiddle(word, Math.floor(half)));
  const { some } = LIMITS.shown;
  const hidden = shown.slice(some, -some);
  if (hidden.length === 0) return shown.join(' ');
  // An option that runs its value is shown wherever it stands.
  const risky = hidden.flatMap((word, at) =>
    runsNext(words[some + at] ?? '') ? [`${word} ${shown[some + at + 1] ?? ''}`] : [],
  );
  const named = risky.length === 0 ? '' : `, among them ${risky.slice(0, LIMITS.shown.some).join(', ')}`;
  const left = `… ${hidden.length} more arguments${named}; --json shows all …`;
  return [...shown.slice(0, some), left, ...shown.slice(-some)].join(' ');
}

function withoutMiddle(word: string, half: number): string {
  const left = word.length - 2 * half;
  return left <= 0 ? word : `${word.slice(0, half)}… ${left} more characters, which --json shows …${word.slice(-half)}`;
}

const folded = (text: string): string => text.replace(/\s+/g, ' ');

function readingLines(
  { types, servers }: Reading,
  all: readonly Reading[],
  values: Values,
  home: string | undefined,
): string[] {
  const readers = types.map(titleOf).join(', ');
  // Clients that read the file the same way are not listed apart.
  const head = all.length < 2 ? [] : [`  as ${readers} read${types.length === 1 ? 's' : ''} it:`];
  if (servers.length === 0) return all.length < 2 ? [] : [...head, '  no servers'];
  const sorted = byDanger(servers);
  return [
    ...head,
    ...sorted.slice(0, LIMITS.shown.listed).flatMap((server) => serverLines(server, values, home)),
    ...summaryLines(sorted).flatMap(bounded),
  ];
}

/** Summarises the servers that are not listed. */
function summaryLines(servers: readonly ServerDefinition[]): string[] {
  if (servers.length <= LIMITS.shown.listed) return [];
  const programs = servers.flatMap(({ connection }) => (isLocal(connection) ? [connection.command] : []));
  const addresses = servers.flatMap(({ connection }) => (isLocal(connection) ? [] : [hostOf(connection.url)]));
  const read = servers.flatMap((server) => givenTo(server).flatMap(({ from = [] }) => from));
  const rest = servers.length - LIMITS.shown.listed;
  return [
    `  and ${rest} more servers, ${servers.length} in all. --json lists every one.`,
    ...counted('programs', programs),
    ...counted('addresses', addresses),
    ...counted('variables and files that are read', read),
  ];
}

/** The rarest first: they are the easiest to miss. */
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

function serverLines(server: ServerDefinition, values: Values, home: string | undefined): string[] {
  const { name, enabled, connection, trusted, idempotent, tools } = server;
  const given = givenTo(server, values).map(
    ({ name: variable, from, value }) =>
      toWord(variable) +
      (value === undefined ? '' : `=${toWord(value)}`) +
      (from ? ` (from ${from.map(toWord).join(', ')})` : ''),
  );
  const words = addressWords(connection);
  const { nouns, folder } = transportParts(connection.type);
  const cwd = folder(connection);
  const read = [...new Set([...words, cwd ?? ''].flatMap(readBy))];
  const more = [
    ...(cwd === undefined ? [] : [`    in ${toWord(withTilde(cwd, home))}`]),
    ...(given.length > 0 ? [`    ${nouns.allNamed}: ${given.join(', ')}`] : []),
    ...(read.length > 0 ? [`    reads: ${read.map(toWord).join(', ')}`] : []),
    ...(trusted ? ['    its hints are trusted: calls it marks as safe may be repeated'] : []),
    ...(idempotent.length > 0
      ? [`    calls that may be repeated after a failure: ${idempotent.map(toWord).join(', ')}`]
      : []),
    ...(tools.length > 0 ? [`    tools described in the file: ${tools.length}`] : []),
  ];
  return [
    ...bounded(`  ${toWord(name)}${enabled ? '' : ' (disabled)'}`),
    `    ${commandLine(words)}`,
    ...more.flatMap(bounded),
  ];
}
