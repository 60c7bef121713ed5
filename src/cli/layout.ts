/**
 * Text in, lines that fit a terminal out.
 * @module
 */
import { plainText } from '../text/plain-text.ts';
import type { Io } from './io.ts';

const NARROWEST = 20;

/** Columns of the terminal; without one lines are as long as they are, for other programs to read. */
export const widthOf = ({ stdout }: Pick<Io, 'stdout'>): number => columnsIn(stdout);

/** The same of any of its streams. */
export const columnsIn = ({ isTTY, columns }: Io['stdout']): number =>
  isTTY ? Math.max(NARROWEST, columns || 80) : Number.POSITIVE_INFINITY;

// East Asian scripts, full-width forms and emoji take two columns; marks that join their letter take none.
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const MARK = /[\p{M}\u200d]/u;

/** Columns a text takes. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += MARK.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return columns;
}

/** Plain text, broken between words at the width, every line indented; its own line breaks stay. */
export function block(text: string, width: number, indent: string): string {
  const lines = plainText(text).replace(/\r\n?/g, '\n').replace(/\t/g, '  ').split('\n');
  return lines.flatMap((line) => wrapped(line.trimEnd(), width - indent.length, indent)).join('\n');
}

function wrapped(line: string, room: number, indent: string): string[] {
  if (line === '') return [''];
  if (line.length * 2 <= room || columnsOf(line) <= room) return [indent + line];
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(/(?<= )(?=[^ ])/)) {
    if (current !== '' && columnsOf(current + word.trimEnd()) > room) {
      lines.push(indent + current.trimEnd());
      current = '';
    }
    current += word;
  }
  return [...lines, indent + current.trimEnd()];
}

/** A line cut to the width, for lines that are written over. */
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

/** The text if it fits, else as much of it as does. */
export const fitTo = (text: string, width: number): string => (columnsOf(text) <= width ? text : cutTo(text, width));
