/**
 * Removes the secrets from the text of a configuration file. The result is parsed again; if it still has a secret, no
 * text is returned.
 * @module
 */

import { type SecretValues, secretValues } from '../clients/installers/document-secrets.ts';
import type { TextFile } from '../clients/installers/edit-text.ts';
import { parseData } from '../config/parse-data.ts';
import { createRedactor, REDACTED } from '../secrets/redactor.ts';

/** A plain word in every format, unlike our mark. */
const STAND_IN = 'hidden';
/** Harmless remains of a value, such as the first and last line of a PEM key. */
const LEFT_OVER = /hidden|-----[A-Z ]{1,60}-----|\s/g;
const HARMLESS_LENGTH = 5;
const MIN_LINE = 2;

/** The text without secrets; undefined if that cannot be guaranteed, as for a program. */
export async function shownText(file: TextFile): Promise<string | undefined> {
  const secretsIn = async (text: string) => secretValues(await parseData(file.path, text.replace(/^\ufeff/, '')));
  if (file.text.trim() === '') return file.text;
  try {
    const text = withoutSecrets(file.text, await secretsIn(file.text));
    const left = await secretsIn(text.replaceAll(REDACTED, STAND_IN));
    const rest = (value: string) => value.replace(LEFT_OVER, '').length;
    const isClean =
      left.anywhere.every((value) => rest(value) < HARMLESS_LENGTH) &&
      left.named.every(({ value }) => rest(value) === 0);
    return isClean ? text : undefined;
  } catch {
    // A text that cannot be parsed, before or after, cannot be checked.
    return undefined;
  }
}

function withoutSecrets(text: string, { anywhere: secrets, named }: SecretValues): string {
  const redact = createRedactor(secrets);
  const lines = named.reduce(withoutNamed, redact(text)).split('\n');
  const long = secrets.filter((secret) => /\s/.test(secret)).map((secret) => secret.replace(/\s+/g, ' ').trim());
  const single = new Set(secrets.flatMap((secret) => (secret.includes('\n') ? secret.split('\n') : [])).map(trimmed));
  return lines.map((line) => withoutParts(withoutLiterals(line, redact), single, long)).join('\n');
}

/** Matches the text between a name and its value: `"NAME": "`, `NAME = '`, `"--option", "`, `- --option\\n  - `. */
const BETWEEN = `["']?\\s{0,200}(?:[:=,]|\\n\\s{0,200}-(?=\\s))\\s{0,200}["']?`;

/** Hides a value only after its name. */
const withoutNamed = (text: string, { name, value }: SecretValues['named'][number]): string =>
  text.replace(
    new RegExp(`(${literally(name)}${BETWEEN})${literally(value)}(?![\\w-])`, 'g'),
    (_, before: string) => before + REDACTED,
  );

const literally = (text: string): string => text.replace(/[^\w\s]/g, '\\$&');

const trimmed = (line: string): string => line.trim();

/** Hides secrets in quoted texts with escapes: `"caf\u00e9"`, `'it''s'`. */
const withoutLiterals = (line: string, redact: (text: string) => string): string =>
  line
    .replace(/"((?:[^"\\]|\\.)*)"/g, (literal, inner: string) => {
      const meant = unescaped(inner);
      const clean = redact(meant);
      return clean === meant ? literal : JSON.stringify(clean);
    })
    .replace(/'((?:[^']|'')*)'/g, (literal, inner: string) => {
      const meant = inner.replaceAll("''", "'");
      const clean = redact(meant);
      return clean === meant ? literal : `'${clean.replaceAll("'", "''")}'`;
    });

const LETTERS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', e: '\u001b' };

const unescaped = (text: string): string =>
  text.replace(/\\(?:u([\da-f]{4})|U([\da-f]{8})|x([\da-f]{2})|(.))/gi, (_, four, eight, two, letter: string) => {
    const code = Number.parseInt(four ?? eight ?? two ?? '', 16);
    if (Number.isNaN(code)) return LETTERS[letter] ?? letter;
    return code > 0x10ffff ? '' : String.fromCodePoint(code);
  });

/** Hides lines that are part of a longer secret, as in block scalars. */
function withoutParts(line: string, single: ReadonlySet<string>, long: readonly string[]): string {
  const own = line.trim();
  const isPart =
    (own.length >= MIN_LINE && !own.startsWith('-----') && single.has(own)) ||
    (own.length >= HARMLESS_LENGTH && long.some((secret) => secret.includes(own)));
  return isPart ? line.replace(own, () => REDACTED) : line;
}
