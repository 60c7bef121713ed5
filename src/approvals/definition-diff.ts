/**
 * Shows what changed in a tool definition: one JSON pointer per changed place, with the old and the new value below it.
 * Texts are shown as JSON with every invisible character as an escape, so that two texts that differ also look different.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';
import { plainName, replaceUnseen } from '../text/plain-text.ts';
import { canonicalJson } from './pin.ts';

/** Returns the lines of the diff; without an old definition, every value of the new one. Bounded for any definition. */
export function diffDefinitions(old: unknown, now: unknown): string[] {
  const lines: string[] = [];
  let left = 0;
  let values = 0;

  const report = (place: string, was: unknown, is: unknown): void => {
    const [before, after] = shownPair(was, is);
    const shown = [
      place,
      ...(before === undefined ? [] : [`  - ${before}`]),
      ...(after === undefined ? [] : [`  + ${after}`]),
    ];
    if (lines.length + shown.length <= LIMITS.approvals.diffLines) lines.push(...shown);
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
  compare(old, now, '', 0);
  if (values > LIMITS.approvals.values) lines.push('… the rest is too large to be compared');
  if (left > 0) lines.push(`… ${left} more ${left === 1 ? 'change' : 'changes'}`);
  return lines;
}

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
function shownPair(was: unknown, is: unknown): [string | undefined, string | undefined] {
  const [before, after] = [jsonOf(was), jsonOf(is)];
  if (before === undefined || after === undefined)
    return [before && escaped(shortened(before)), after && escaped(shortened(after))];
  const { head, tail } = sharedEnds(before, after);
  const parts = [partOf(before, head, tail), partOf(after, head, tail)] as const;
  const looksSame = plainName(parts[0]) === plainName(parts[1]);
  return [parts[0], parts[1]].map((part) => (looksSame ? asciiOnly(part) : escaped(part))) as [string, string];
}

const jsonOf = (value: unknown): string | undefined =>
  value === undefined ? undefined : (canonicalJson(value) ?? '(too large to be shown)');

/** How many characters two texts share at their beginnings and ends, no character cut in half. */
function sharedEnds(a: string, b: string): { readonly head: number; readonly tail: number } {
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < shorter - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  return { head, tail };
}

/** The changed part of a text with a little of what is around it. */
function partOf(text: string, head: number, tail: number): string {
  const from = whole(text, Math.max(0, head - LIMITS.approvals.diffContext));
  const to = whole(text, Math.min(text.length, text.length - tail + LIMITS.approvals.diffContext));
  return `${from > 0 ? '…' : ''}${shortened(text.slice(from, to))}${to < text.length ? '…' : ''}`;
}

/** Leaves out the middle of a text that is too long, and says how much. */
function shortened(text: string): string {
  if (text.length <= LIMITS.approvals.diffText) return text;
  const [from, to] = [
    whole(text, LIMITS.approvals.diffText / 2),
    whole(text, text.length - LIMITS.approvals.diffText / 2),
  ];
  return `${text.slice(0, from)} … ${to - from} characters … ${text.slice(to)}`;
}

/** A place in a text that is not inside a character. */
const whole = (text: string, at: number): number => (/[\udc00-\udfff]/.test(text[at] ?? '') ? Math.max(0, at - 1) : at);
