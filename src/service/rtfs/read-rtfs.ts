/**
 * Reads RTFS text into values: lists, vectors, maps, keywords, symbols, strings, numbers, booleans, nil and comments.
 * Throws a `ValidationError` that names the line.
 * @module
 */
import { ValidationError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { RtfsValue } from './rtfs-value.ts';

/** Returns all values of a text. */
export function readRtfs(text: string): RtfsValue[] {
  return new RtfsReader(text).readAll();
}

const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };
/** White space, commas and comments to the end of the line. */
const BLANK = /[\s,]*(?:;[^\n]*[\s,]*)*/y;
const STRING = /"([^"\\]*(?:\\[\s\S][^"\\]*)*)"/y;
const WORD = /[^\s,;()[\]{}"]+/y;
const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

class RtfsReader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
    if (text.length > LIMITS.convert.document) this.#fail('The document is too large');
  }

  readAll(): RtfsValue[] {
    const values: RtfsValue[] = [];
    this.#match(BLANK);
    while (this.#at < this.#text.length) {
      values.push(this.#value());
      this.#match(BLANK);
    }
    return values;
  }

  #value(): RtfsValue {
    const char = this.#text[this.#at] ?? '';
    if (char in CLOSING) return this.#group(char);
    if (char === '"') return this.#string();
    const [word] = this.#match(WORD) ?? this.#fail(char === '' ? 'The text ends too early' : `Unexpected ${char}`);
    if (word === 'nil') return null;
    if (word === 'true' || word === 'false') return word === 'true';
    if (NUMBER.test(word)) return Number(word);
    if (!word.startsWith(':')) return { kind: 'symbol', name: word };
    return word.length > 1 ? { kind: 'keyword', name: word.slice(1) } : this.#fail('A keyword has no name');
  }

  #group(opening: string): RtfsValue {
    if (++this.#depth > LIMITS.json.depth) this.#fail('The values are nested too deep');
    this.#at++;
    const items: RtfsValue[] = [];
    for (;;) {
      this.#match(BLANK);
      if (this.#text[this.#at] === CLOSING[opening]) break;
      items.push(this.#value());
    }
    this.#at++;
    this.#depth--;
    if (opening === '[') return items;
    if (opening === '(') return { kind: 'list', items };
    if (items.length % 2 !== 0) this.#fail('A map has a key without a value');
    const entries = items.flatMap((key, at) => (at % 2 === 0 ? [[key, items[at + 1] ?? null] as const] : []));
    return { kind: 'map', entries };
  }

  #string(): string {
    const [, inside = ''] = this.#match(STRING) ?? this.#fail('A string has no end');
    return inside.replace(/\\(u[0-9a-fA-F]{4}|[\s\S])/g, (_all, code: string) =>
      code.length === 5 ? String.fromCharCode(Number.parseInt(code.slice(1), 16)) : (ESCAPES[code] ?? code),
    );
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match) this.#at += match[0].length;
    return match;
  }

  #fail(what: string): never {
    const line = this.#text.slice(0, this.#at).split('\n').length;
    throw new ValidationError(`${what}, in line ${line} of the RTFS text.`);
  }
}
