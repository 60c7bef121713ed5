/**
 * Shows the lines in which two texts differ as a unified diff with one hunk, for reading and not for applying. Likely
 * secrets are masked; `shownText` removes known ones before.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import { maskSecrets } from '../secrets/credential-patterns.ts';
import { counted } from '../text/counted.ts';
import { plainText } from '../text/plain-text.ts';
import { sharedEnds } from '../text/shared-ends.ts';
import { shownText } from './shown-text.ts';

const CONTEXT = 2;
/** Characters shown around a difference in a very long line. */
const MARGIN = 1_500;

type Sign = ' ' | '-' | '+';
interface Line {
  readonly sign: Sign;
  readonly text: string;
}

interface FileChange {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  /** The path to show. Default `path`. */
  readonly shownAs?: string | undefined;
  /** Its former name, if the format changes. */
  readonly was?: string | undefined;
  /** The new text is ours and has no secrets. */
  readonly harmless?: boolean | undefined;
}

/**
 * Shows what changes in a configuration file, without its secrets. Text that cannot be shown, and entries that are moved
 * unchanged, appear only as a number of lines.
 * @param moving the sign of the lines that hold moved entries
 */
export async function fileDiff(change: FileChange, moving?: '-' | '+'): Promise<string> {
  const { path, before, after, shownAs = path, was = path, harmless = false } = change;
  const old = await shownText({ path: was, text: before });
  const now = harmless ? after : await shownText({ path, text: after });
  const unknown = [old === undefined && '-', now === undefined && '+', (old ?? now) === undefined && ' '] as const;
  const [from, to] = await inShortLines(path, old ?? before, now ?? after);
  return textDiff(shownAs, from, to, [moving, ...unknown]);
}

/** Texts of JSON with lines that are too long to be shown, both formatted; otherwise as they are. */
async function inShortLines(path: string, before: string, after: string): Promise<readonly [string, string]> {
  const texts = [before, after] as const;
  const isLong = texts.some((text) => linesOf(text).some((line) => line.length > LIMITS.shown.diffLine));
  const isLarge = texts.some((text) => text.length > LIMITS.shown.diffFormatted);
  if (!isLong || isLarge || !/\.json[c5]?$/i.test(path)) return texts;
  const { formatJsonc } = await import('../config/parse-jsonc.ts');
  // Formatted, an option and its secret are on two lines, so they are masked before.
  return [formatJsonc(maskSecrets(before)), formatJsonc(maskSecrets(after))];
}

/**
 * Shows what changes from one text to the other; empty without a difference.
 * @param hidden signs of lines of which only the number is shown
 */
export function textDiff(
  path: string,
  before: string,
  after: string,
  hidden: readonly (Sign | false | undefined)[] = [],
): string {
  if (before === after) return '';
  const [old, now] = [linesOf(before), linesOf(after)];
  const { head, tail } = sharedEnds(old, now);
  const from = Math.max(0, head - CONTEXT);
  const same = (text: string): Line => ({ sign: ' ', text });
  const lines: readonly Line[] = [
    ...now.slice(from, head).map(same),
    ...changed(old.slice(head, old.length - tail), now.slice(head, now.length - tail)),
    ...now.slice(now.length - tail, now.length - tail + CONTEXT).map(same),
  ];
  const count = (left: Sign) => `${from + 1},${lines.filter(({ sign }) => sign !== left).length}`;
  const shown = runsOf(lines).flatMap((run, at, runs) => runLines(run, [runs[at + 1], runs[at - 1]], hidden));
  const cut =
    shown.length > LIMITS.shown.diffLines
      ? [...shown.slice(0, LIMITS.shown.diffLines), ` … ${shown.length - LIMITS.shown.diffLines} more lines`]
      : shown;
  return [`--- ${path}`, `+++ ${path}`, `@@ -${count('+')} +${count('-')} @@`, ...cut].join('\n');
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/));

/** The smallest set of removed and added lines. */
function changed(old: readonly string[], now: readonly string[]): Line[] {
  const gone = (text: string): Line => ({ sign: '-', text });
  const come = (text: string): Line => ({ sign: '+', text });
  if (old.length * now.length > LIMITS.shown.diffCells) return [...old.map(gone), ...now.map(come)];
  const width = now.length + 1;
  const longest = new Uint32Array((old.length + 1) * width);
  const cell = (i: number, j: number): number => longest[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      longest[i * width + j] = old[i] === now[j] ? cell(i + 1, j + 1) + 1 : Math.max(cell(i + 1, j), cell(i, j + 1));
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && old[i] === now[j]) {
      lines.push({ sign: ' ', text: old[i++] ?? '' });
      j++;
    } else if (i < old.length && (j === now.length || cell(i + 1, j) >= cell(i, j + 1)))
      lines.push(gone(old[i++] ?? ''));
    else lines.push(come(now[j++] ?? ''));
  }
  return lines;
}

type Run = readonly Line[];

/** Groups neighbouring lines with the same sign. */
function runsOf(lines: readonly Line[]): Run[] {
  const runs: Line[][] = [];
  for (const line of lines) {
    const last = runs.at(-1);
    if (last?.[0]?.sign === line.sign) last.push(line);
    else runs.push([line]);
  }
  return runs;
}

function runLines(
  run: Run,
  beside: readonly (Run | undefined)[],
  hidden: readonly (Sign | false | undefined)[],
): string[] {
  const sign = run[0]?.sign ?? ' ';
  const isBare = ({ text }: Line) => /^[\s{}[\]",]*$/.test(text);
  if (hidden.includes(sign) && !run.every(isBare)) return [`${sign} … ${counted(run.length, 'line')}`];
  if (sign === ' ' && run.length > 2 * CONTEXT + 1) {
    const between = run.length - 2 * CONTEXT;
    return [
      ...run.slice(0, CONTEXT).map(({ text }) => ` ${shown(text)}`),
      ` … ${between} unchanged lines`,
      ...run.slice(-CONTEXT).map(({ text }) => ` ${shown(text)}`),
    ];
  }
  const other = sign === ' ' ? undefined : beside.find((near) => near !== undefined && near[0]?.sign !== ' ');
  const pair = run.length === 1 ? other?.[0]?.text : undefined;
  return run.map(({ text }) => sign + shown(text, pair));
}

/** A line with likely secrets masked; of a very long line the part that differs. It is cut last, because half a secret is not recognised. */
function shown(line: string, other = ''): string {
  const around = Math.max(0, differenceOf(line, other) - MARGIN);
  const [text, same] = [line, other].map((each) => maskSecrets(plainText(each.slice(around, around + 2 * MARGIN))));
  const whole = text ?? '';
  if (whole.length <= LIMITS.shown.diffLine) return whole;
  const from = Math.max(0, differenceOf(whole, same ?? '') - 20);
  return `${from + around > 0 ? '…' : ''}${whole.slice(from, from + LIMITS.shown.diffLine)}${from + LIMITS.shown.diffLine < whole.length ? '…' : ''}`;
}

function differenceOf(line: string, other: string): number {
  let start = 0;
  while (start < other.length && start < line.length && line[start] === other[start]) start++;
  return start;
}
