/**
 * Wraps and cuts text to the width of a terminal.
 * @module
 */
import { plainText } from '../text/plain-text.ts';
import type { Io } from './io.ts';

const NARROWEST = 20;

/** Columns of the terminal; infinite for a pipe or a file, so that lines stay whole. */
export const widthOf = ({ stdout }: Pick<Io, 'stdout'>): number => columnsIn(stdout);

/** Columns of any stream; infinite for a pipe or a file. */
export const columnsIn = ({ isTTY, columns }: Io['stdout']): number =>
  isTTY ? Math.max(NARROWEST, columns || 80) : Number.POSITIVE_INFINITY;

// East Asian scripts, full-width forms and emoji take two columns; combining marks take none.
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const MARK = /[\p{M}\u200d]/u;

/** The width of a text in columns. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += MARK.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return columns;
}

/**
 * Plain text wrapped at the width, with every line indented; existing line breaks stay, and so do indents and list marks.
 * What is copied stays on one line: a command in quotes, and a path that no line can hold, which only the terminal breaks.
 */
export function block(text: string, width: number, indent: string): string {
  const lines = plainText(text).replace(/\r\n?/g, '\n').replace(/\t/g, '  ').split('\n');
  return lines.flatMap((line) => wrapped(line.trimEnd(), width - indent.length, indent)).join('\n');
}

function wrapped(line: string, room: number, indent: string): string[] {
  if (line === '') return [''];
  if (line.length * 2 <= room || columnsOf(line) <= room) return [indent + line];
  const lines: string[] = [];
  const hanging = ' '.repeat(/^ *(?:- )?/.exec(line)?.[0].length ?? 0);
  let current = '';
  for (const word of wordsOf(line, room - hanging.length)) {
    const fits = columnsOf(current + word.trimEnd()) <= room;
    const isFull = columnsOf(current.trimEnd()) > room;
    // On a line of its own a longer word would be broken as well.
    const wouldFit = columnsOf(hanging + word.trimEnd()) <= room;
    if (current.length > hanging.length && !fits && (isFull || wouldFit)) {
      lines.push(indent + current.trimEnd());
      current = hanging;
    }
    current += word;
  }
  return [...lines, indent + current.trimEnd()];
}

/** Matches an indent, a word with a quoted command of ours, or a word; each with the spaces behind it. */
const WORD = /^ +|[^ `"]*(?:`anygpt [^`]*`|"anygpt [^"]*")[^ ]* *|[^ ]+ */g;

const wordsOf = (line: string, room: number): string[] =>
  (line.match(WORD) ?? []).flatMap((word) =>
    columnsOf(word.trimEnd()) <= room ? [word] : word.split(/(?<= )(?=[^ ])/),
  );

/** `Sources (2):` above a list; without a colon above an empty one. */
export const heading = (title: string, count: number, what = ''): string =>
  `${title} (${count}${what})${count === 0 ? '' : ':'}`;

/** A line cut to the width, for progress lines. */
export function cutTo(text: string, width: number): string {
  let columns = 0;
  let kept = '';
  for (const character of text) {
    columns += columnsOf(character);
    if (columns >= width) return `${kept}…`;
    kept += character;
  }
  return kept;
}

/** The text, cut if it does not fit. */
export const fitTo = (text: string, width: number): string => (columnsOf(text) <= width ? text : cutTo(text, width));
