/**
 * Two texts in, the lines in which they differ out, as a unified diff with one hunk, secrets masked. For people to look
 * at, not for programs to apply.
 * @module
 */
import { maskSecrets } from '../mask-secrets.ts';
import { plainText } from '../plain-text.ts';

const CONTEXT = 2;
const MAX_LINE = 160;
const MAX_LINES = 200;

/**
 * What changes from one text to the other; empty when nothing does.
 * @param secrets values that are never shown
 */
export function textDiff(path: string, before: string, after: string, secrets: readonly string[] = []): string {
  if (before === after) return '';
  const [old, now] = [linesOf(before), linesOf(after)];
  const shorter = Math.min(old.length, now.length);
  let head = 0;
  while (head < shorter && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const from = Math.max(0, head - CONTEXT);
  const show = (sign: string, lines: readonly string[], other: readonly string[]) =>
    lines.map((line) => sign + shown(line, lines.length === 1 ? (other[0] ?? '') : '', secrets));
  const [gone, come] = [old.slice(head, old.length - tail), now.slice(head, now.length - tail)];
  const below = now.slice(now.length - tail, now.length - tail + CONTEXT);
  const above = now.slice(from, head);
  const lines = [...show(' ', above, []), ...show('-', gone, come), ...show('+', come, gone), ...show(' ', below, [])];
  const extent = (removed: number) => `${from + 1},${above.length + removed + below.length}`;
  const cut =
    lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES), ` … ${lines.length - MAX_LINES} more lines`] : lines;
  return [`--- ${path}`, `+++ ${path}`, `@@ -${extent(gone.length)} +${extent(come.length)} @@`, ...cut].join('\n');
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/));

/** A line without secrets; of a very long one the part that differs. */
function shown(line: string, other: string, secrets: readonly string[]): string {
  let text = line;
  if (line.length > MAX_LINE) {
    let start = 0;
    while (start < other.length && line[start] === other[start]) start++;
    const from = Math.max(0, start - 20);
    text = `${from > 0 ? '…' : ''}${line.slice(from, from + MAX_LINE)}${from + MAX_LINE < line.length ? '…' : ''}`;
  }
  for (const secret of secrets) text = text.replaceAll(secret, '***');
  return maskSecrets(plainText(text));
}
