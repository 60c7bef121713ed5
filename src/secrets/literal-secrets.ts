/**
 * Finds the literal secrets in a text that a person wants in a configuration. In doubt a value counts as secret: moving
 * it out changes nothing for the server.
 * @module
 */
import type { Span } from './mask-spans.ts';
import { endsWithSecretNoun, isSecretKey, isSecretName } from './secret-names.ts';
import { isOrdinary, looksRandom, secretParts } from './secret-values.ts';

const REFERENCE = /\$\{[^{}]*\}/g;
/** `--token=`, `Authorization: ` and `Bearer ` stay readable. */
const PREFIX =
  /^(?:(-{0,2}[\w.-]{1,100})[ \t]*[=:](?!\/\/)[ \t]*(?=\S)|(?:bearer|basic|token|apikey|api-key|key)[ \t]+)/i;
const SCHEME = /^(?:bearer|basic|token|apikey|api-key|key)[ \t]/i;
const USER_AND_PASSWORD = /:\/\/(?:[^\s/?#:@]*:)?([^\s/?#@]+)@/g;
const PARAMETER = /[?&#;]([^=&#;\s]{1,100})=([^&#;\s]+)/g;

/** A call in a program, as for `node -e`: whoever adds a server has to see what it runs. */
const CALL = /[\w$]\(.*\)/s;
/** The words of a command line that is one text, as for `sh -c`. */
const WORD = /[^\s"']+/g;
/** An option whose value is the next word. */
const OPTION = /^--?([\w.-]{1,100})=?$/;

/** Returns the spans that are secret, in order and apart. `given`: the text is the value of a header. */
export function literalSecrets(text: string, name: string, given = false): Span[] {
  const found: Span[] = [];
  let [from, own] = [0, name];
  // Each prefix that is taken off leaves a value with a name of its own.
  for (;;) {
    const rest = text.slice(from);
    for (const part of secretParts(rest, own, given && from === 0).filter((part) => !CALL.test(part)))
      for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) found.push([at, at + part.length]);
    if (isStrictlyNamed(rest, own)) found.push([from, text.length]);
    const [prefix, key] = PREFIX.exec(rest) ?? [];
    // A secret value may have an equals sign itself.
    if (prefix === undefined || (key !== undefined && (looksRandom(key) || isSecretName(own)))) break;
    from += prefix.length;
    own = key ?? own;
  }
  for (const { 0: all, 1: password = '', index } of text.matchAll(USER_AND_PASSWORD))
    found.push([index + all.length - 1 - password.length, index + all.length - 1]);
  for (const { 0: all, 1: key = '', 2: value = '', index } of text.matchAll(PARAMETER))
    if (isSecretName(key) && !isOrdinary(value)) found.push([index + all.length - value.length, index + all.length]);
  if (/\s/.test(text)) {
    let option = '';
    for (const { 0: word, index } of text.matchAll(WORD)) {
      for (const [start, end] of literalSecrets(word, option)) found.push([index + start, index + end]);
      option = OPTION.exec(word)?.[1] ?? '';
    }
  }
  const value = found.map(([start, end]): Span => (end > from ? [Math.max(start, from), end] : [start, end]));
  return withoutReferences(text, joined(value));
}

/** Tells whether all of a text is the value of something like `--password`, however short it is. */
const isStrictlyNamed = (text: string, name: string): boolean =>
  isSecretKey(name) &&
  endsWithSecretNoun(name) &&
  !/^(?:-|[~.]{0,2}[\\/])|^[\w+.-]{1,30}:\/\//.test(text) &&
  !SCHEME.test(text) &&
  text !== '' &&
  !isOrdinary(text);

function joined(spans: readonly Span[]): Span[] {
  const all: [number, number][] = [];
  for (const [from, to] of [...spans].sort((a, b) => a[0] - b[0])) {
    const last = all.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else all.push([from, to]);
  }
  return all;
}

/** Cuts references out of the spans: what they stand for is not in the text. */
function withoutReferences(text: string, spans: readonly Span[]): Span[] {
  const references = [...text.matchAll(REFERENCE)].map(({ 0: all, index }): Span => [index, index + all.length]);
  const apart = spans.flatMap(([from, to]) => {
    const pieces: Span[] = [];
    let at = from;
    for (const [start, end] of references) {
      if (end <= at || start >= to) continue;
      pieces.push([at, start]);
      at = end;
    }
    return [...pieces, [at, to] as Span];
  });
  return apart.filter(([from, to]) => /[^\s:@/=&-]/.test(text.slice(from, to)));
}
