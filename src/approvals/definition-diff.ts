/**
 * Shows what changed in a tool definition: one JSON pointer per changed place, with the old and the new value below it.
 * Texts are shown as JSON with every invisible character as an escape, so that two texts that differ also look different.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';
import { plainName, replaceUnseen } from '../text/plain-text.ts';
import { sharedEnds } from '../text/shared-ends.ts';
import { canonicalJson } from './pin.ts';

/** The lines of a diff. */
export interface DefinitionDiff {
  readonly lines: readonly string[];
  /** Whether the lines leave something out. */
  readonly isCut: boolean;
}

/**
 * Compares two definitions; without an old one, shows every value of the new one in a line.
 * @param isWhole leaves nothing out of a definition that can be approved; else the diff is bounded
 */
export function diffDefinitions(old: unknown, now: unknown, isWhole = false): DefinitionDiff {
  const lines: string[] = [];
  const [mostLines, longest] = isWhole
    ? [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    : [LIMITS.approvals.diffLines, LIMITS.approvals.diffText];
  let isCut = false;
  let left = 0;
  let values = 0;

  const report = (place: string, was: unknown, is: unknown): void => {
    const pair = shownPair(was, is, longest);
    const [before, after] = pair.texts;
    const changes = [
      ...(before === undefined ? [] : [`  - ${before}`]),
      ...(after === undefined ? [] : [`  + ${after}`]),
    ];
    const shown = old === undefined ? [`${place}: ${after}`] : [place, ...changes];
    isCut ||= pair.isCut;
    if (lines.length + shown.length <= mostLines) lines.push(...shown);
    else left += 1;
  };
  const compare = (was: unknown, is: unknown, place: string, depth: number): void => {
    values += 1;
    if (values > LIMITS.approvals.values || depth > LIMITS.json.depth) return;
    const [a, b] = [membersOf(was), membersOf(is)];
    // A value that is added or removed is shown by its members, each in full.
    if ((a && b) || (a && is === undefined && a.size > 0) || (b && was === undefined && b.size > 0)) {
      for (const key of new Set([...(a?.keys() ?? []), ...(b?.keys() ?? [])]))
        compare(a?.get(key), b?.get(key), `${place}/${pointerPart(key)}`, depth + 1);
      if (a && b && Array.isArray(was) !== Array.isArray(is)) report(place, was, is);
    } else if (!isSame(was, is)) report(place, was, is);
  };
  compare(old, old === undefined ? readably(now) : now, '', 0);
  if (values > LIMITS.approvals.values) lines.push('… the rest is too large to be compared');
  if (left > 0) lines.push(`… ${left} more ${left === 1 ? 'value' : 'values'}`);
  return { lines, isCut: isCut || left > 0 || values > LIMITS.approvals.values };
}

/** A definition with what people look for first in front. */
const readably = (definition: unknown): unknown =>
  isObject(definition)
    ? Object.fromEntries([
        ...FIRST.filter((key) => Object.hasOwn(definition, key)).map((key) => [key, definition[key]]),
        ...Object.entries(definition).filter(([key]) => !FIRST.includes(key)),
      ])
    : definition;

const FIRST: readonly string[] = [
  'name',
  'title',
  'description',
  'instructions',
  'inputSchema',
  'arguments',
  'annotations',
];

/** Writes a key as a step of a JSON pointer, with invisible characters as escapes. */
export const pointerPart = (key: string): string =>
  escaped(key.replaceAll('~', '~0').replaceAll('/', '~1')).slice(0, LIMITS.names.shown);

/** Writes a text as JSON with invisible characters as escapes. */
export const quoted = (text: string): string => escaped(JSON.stringify(text));

const escaped = (text: string): string => replaceUnseen(text, numbered).replace(/[^\S\t\n\r ]/g, numbered);
const numbered = (sign: string): string => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`;
const asciiOnly = (text: string): string => text.replace(/[^\x20-\x7e]/gu, numbered);

/** The members of an object, or the items of an array that holds more than plain values. */
function membersOf(value: unknown): Map<string, unknown> | undefined {
  if (isObject(value)) return new Map(Object.entries(value).filter(([, one]) => one !== undefined));
  if (!Array.isArray(value) || !value.some((item) => typeof item === 'object' && item !== null)) return undefined;
  return new Map(value.map((item, index) => [String(index), item]));
}

const isSame = (a: unknown, b: unknown): boolean =>
  a === b || (typeof a === 'object' && typeof b === 'object' && canonicalJson(a) === canonicalJson(b));

/** Both values as texts. Where they would look the same, every character that is not ASCII is an escape. */
function shownPair(was: unknown, is: unknown, longest: number) {
  const [before, after] = [jsonOf(was), jsonOf(is)];
  const isCut = [before, after].some((text) => text !== undefined && text.length > longest);
  if (before === undefined || after === undefined)
    return { texts: [before, after].map((text) => text && escaped(shortened(text, longest))), isCut };
  const { head, tail } = sharedEnds(before, after);
  const changed = [before, after].map((text) => partOf(text, head, tail));
  const parts = changed.map(({ from, text, to }) => `${from}${shortened(text, longest)}${to}`);
  const looksSame = plainName(parts[0] as string) === plainName(parts[1] as string);
  return {
    texts: parts.map((part) => (looksSame ? asciiOnly(part) : escaped(part))),
    isCut: changed.some(({ text }) => text.length > longest),
  };
}

const jsonOf = (value: unknown): string | undefined =>
  value === undefined ? undefined : (canonicalJson(value) ?? '(too large to be shown)');

/** The changed part of a text with a little of what is around it. */
function partOf(text: string, head: number, tail: number) {
  const from = whole(text, Math.max(0, head - LIMITS.approvals.diffContext));
  const to = whole(text, Math.min(text.length, text.length - tail + LIMITS.approvals.diffContext));
  return { from: from > 0 ? '…' : '', text: text.slice(from, to), to: to < text.length ? '…' : '' };
}

/** Leaves out the middle of a text that is too long, and says how much. */
function shortened(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const [from, to] = [whole(text, longest / 2), whole(text, text.length - longest / 2)];
  return `${text.slice(0, from)} … ${to - from} characters … ${text.slice(to)}`;
}

/** A place in a text that is not inside a character. */
const whole = (text: string, at: number): number => (/[\udc00-\udfff]/.test(text[at] ?? '') ? Math.max(0, at - 1) : at);
