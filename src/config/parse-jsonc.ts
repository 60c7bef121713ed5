/**
 * JSON with comments and trailing commas in, its value out. Unlike `JSON.parse` it always says where a mistake is,
 * refuses a key that is written twice, and bounds nesting; `__proto__` is a key like any other.
 * @module
 */

import { LIMITS } from '../core/limits.ts';

/** A mistake in a text, with the place counted from one. The message never quotes more than one character. */
export class TextSyntaxError extends Error {
  override readonly name = 'TextSyntaxError';
  readonly line: number;
  readonly column: number;

  constructor(message: string, line: number, column: number) {
    super(message);
    this.line = line;
    this.column = column;
  }
}

const LITERALS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/**
 * Parses JSON, tolerating comments, trailing commas and a byte order mark.
 * @param onRepeat told of a key that is written twice, whose last value then counts; without it that is a mistake
 */
export function parseJsonc(text: string, onRepeat?: (key: string, line: number) => void): unknown {
  const reader = new Reader(text, onRepeat);
  const value = reader.value(0);
  reader.space();
  if (!reader.atEnd()) reader.fail('expected the end of the file');
  return value;
}

class Reader {
  readonly text: string;
  readonly onRepeat: ((key: string, line: number) => void) | undefined;
  at: number;
  private counted = 0;
  private line = 1;

  constructor(text: string, onRepeat?: (key: string, line: number) => void) {
    this.text = text;
    this.onRepeat = onRepeat;
    this.at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  }

  atEnd(): boolean {
    return this.at >= this.text.length;
  }

  fail(expected: string, at = this.at): never {
    const before = this.text.slice(0, at);
    const line = before.split('\n').length;
    const found = at >= this.text.length ? 'the file ends' : `found ${JSON.stringify(this.text[at])}`;
    throw new TextSyntaxError(`${expected}, ${found}`, line, at - before.lastIndexOf('\n'));
  }

  /** Skips white space and comments. */
  space(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) this.at++;
      else if (code === 0x2f) this.comment();
      else return;
    }
  }

  private comment(): void {
    const next = this.text[this.at + 1];
    if (next !== '/' && next !== '*') this.fail('expected a value or a comment');
    const end = this.text.indexOf(next === '/' ? '\n' : '*/', this.at + 2);
    if (end === -1 && next === '*') this.fail('expected the comment that starts here to end');
    this.at = end === -1 ? this.text.length : end + (next === '/' ? 1 : 2);
  }

  value(depth: number): unknown {
    this.space();
    if (depth > LIMITS.json.depth) this.fail(`expected at most ${LIMITS.json.depth} levels`);
    const first = this.text[this.at];
    if (first === '{') return this.object(depth);
    if (first === '[') return this.array(depth);
    if (first === '"') return this.string();
    return this.scalar();
  }

  private object(depth: number): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    this.at++;
    for (;;) {
      this.space();
      if (this.text[this.at] === '}') break;
      const start = this.at;
      if (this.text[start] !== '"') this.fail('expected a key in double quotes or }');
      const key = this.string();
      if (Object.hasOwn(result, key)) this.repeated(key, start);
      this.space();
      if (this.text[this.at] !== ':') this.fail('expected :');
      this.at++;
      const value = this.value(depth + 1);
      if (key === '__proto__') {
        Object.defineProperty(result, key, { value, enumerable: true, writable: true, configurable: true });
      } else result[key] = value;
      if (!this.comma('}')) break;
    }
    this.at++;
    return result;
  }

  private repeated(key: string, at: number): void {
    if (this.onRepeat === undefined) this.fail('expected each key once, this one is written twice', at);
    this.onRepeat(key, this.lineOf(at));
  }

  /** Counted on from the last place that was asked for: a file may repeat a key as often as it likes. */
  private lineOf(at: number): number {
    for (; this.counted < at; this.counted++) if (this.text[this.counted] === '\n') this.line++;
    return this.line;
  }

  private array(depth: number): unknown[] {
    const result: unknown[] = [];
    this.at++;
    for (;;) {
      this.space();
      if (this.text[this.at] === ']') break;
      result.push(this.value(depth + 1));
      if (!this.comma(']')) break;
    }
    this.at++;
    return result;
  }

  /** True when another member may follow, false when the closing bracket is next. */
  private comma(close: string): boolean {
    this.space();
    if (this.text[this.at] === close) return false;
    if (this.text[this.at] !== ',') this.fail(`expected , or ${close}`);
    this.at++;
    return true;
  }

  private string(): string {
    const start = this.at;
    let escaped = false;
    for (let at = start + 1; at < this.text.length; at++) {
      const code = this.text.charCodeAt(at);
      if (code === 0x22) {
        this.at = at + 1;
        return escaped ? this.unescape(start, at) : this.text.slice(start + 1, at);
      }
      if (code < 0x20) this.fail('expected the closing " on the same line', at);
      if (code === 0x5c) {
        escaped = true;
        at++;
      }
    }
    return this.fail('expected the string that starts here to end', start);
  }

  private unescape(start: number, end: number): string {
    try {
      return JSON.parse(this.text.slice(start, end + 1)) as string;
    } catch {
      return this.fail('expected only valid escapes (\\n, \\", \\\\, \\u0041) in the string that starts here', start);
    }
  }

  private scalar(): unknown {
    const start = this.at;
    let end = start;
    while (end < this.text.length && /[\w.+-]/.test(this.text.charAt(end))) end++;
    const word = this.text.slice(start, end);
    this.at = end;
    if (LITERALS.has(word)) return LITERALS.get(word);
    if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(word)) return Number(word);
    return this.fail('expected a value', start);
  }
}
