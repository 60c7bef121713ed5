/**
 * Parses JSON with comments and trailing commas. Unlike `JSON.parse` it always says where a mistake is, refuses a key that
 * is written twice, and bounds nesting; `__proto__` is a key like any other. Import this file lazily: it loads the parser.
 * @module
 */

import { applyEdits, format, printParseErrorCode, visit } from 'jsonc-parser';
import { LIMITS } from '../core/limits.ts';
import { TextSyntaxError } from './text-syntax-error.ts';

/** What the parser's error codes say in our words. */
const EXPECTED: ReadonlyMap<string, string> = new Map([
  ['PropertyNameExpected', 'expected a key in double quotes or }'],
  ['ColonExpected', 'expected :'],
  ['CloseBraceExpected', 'expected , or }'],
  ['CloseBracketExpected', 'expected , or ]'],
  ['EndOfFileExpected', 'expected the end of the file'],
  ['UnexpectedEndOfComment', 'expected the comment that starts here to end'],
  ['UnexpectedEndOfString', 'expected the string that starts here to end on the same line'],
  ['InvalidCharacter', 'expected no control characters in the string that starts here'],
  ['InvalidUnicode', 'expected four hexadecimal digits after \\u in the string that starts here'],
  ['InvalidEscapeCharacter', 'expected only valid escapes (\\n, \\", \\\\, \\u0041) in the string that starts here'],
]);

/** JSON with every key and item on its own line; comments stay. */
export const formatJsonc = (text: string): string =>
  applyEdits(text, format(text, undefined, { insertSpaces: true, tabSize: 2, eol: '\n' }));

/** An object or list whose end has not been read yet. `key` is the one read last. */
interface Open {
  readonly container: Record<string, unknown> | unknown[];
  key: string;
}

/**
 * Parses JSON, tolerating comments, trailing commas and a byte order mark.
 * @param onRepeat called for a duplicate key, whose last value then counts; without it that is a mistake
 */
export function parseJsonc(text: string, onRepeat?: (key: string, line: number) => void): unknown {
  const open: Open[] = [];
  let root: unknown;
  let isDone = false;
  const fail = (expected: string, offset: number, line: number, column: number): never => {
    const found = offset >= text.length ? 'the file ends' : `found ${JSON.stringify(text[offset])}`;
    throw new TextSyntaxError(`${expected}, but ${found}`, line + 1, column + 1);
  };
  const put = (value: unknown): void => {
    const parent = open.at(-1);
    if (parent === undefined) {
      root = value;
      isDone = true;
    } else if (Array.isArray(parent.container)) parent.container.push(value);
    else if (parent.key !== '__proto__') parent.container[parent.key] = value;
    else
      Object.defineProperty(parent.container, parent.key, {
        value,
        enumerable: true,
        writable: true,
        configurable: true,
      });
  };
  const begin = (container: Open['container'], offset: number, line: number, column: number): void => {
    if (open.length > LIMITS.json.depth) fail(`expected at most ${LIMITS.json.depth} levels`, offset, line, column);
    put(container);
    open.push({ container, key: '' });
  };
  const end = (): void => {
    open.pop();
  };
  const wordsFor = (code: string): string => {
    const inside = open.at(-1)?.container;
    if (code === 'CommaExpected') return `expected , or ${Array.isArray(inside) ? ']' : '}'}`;
    if (code !== 'InvalidSymbol') return EXPECTED.get(code) ?? 'expected a value';
    if (inside === undefined && isDone) return 'expected the end of the file';
    return inside === undefined || Array.isArray(inside)
      ? 'expected a value'
      : 'expected a value or a key in double quotes';
  };
  // The mark counts as a column.
  const body = text.startsWith('\ufeff') ? ` ${text.slice(1)}` : text;
  visit(
    body,
    {
      onObjectBegin: (offset, _, line, column) => begin({}, offset, line, column),
      onArrayBegin: (offset, _, line, column) => begin([], offset, line, column),
      onObjectEnd: end,
      onArrayEnd: end,
      onLiteralValue: put,
      onObjectProperty: (key, offset, _, line, column) => {
        const parent = open.at(-1) as Open;
        parent.key = key;
        if (!Object.hasOwn(parent.container, key)) return;
        if (onRepeat === undefined) fail('expected each key once, this one is written twice', offset, line, column);
        else onRepeat(key, line + 1);
      },
      onError: (code, offset, _, line, column) => fail(wordsFor(printParseErrorCode(code)), offset, line, column),
    },
    { allowTrailingComma: true },
  );
  return root;
}
