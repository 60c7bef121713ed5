/**
 * Numbers in, bars that fit a terminal out.
 * @module
 */
import { columnsOf, cutTo } from './layout.ts';

/** One bar. */
export interface Bar {
  readonly label: string;
  readonly value: number;
  /** What stands behind the number. */
  readonly note: string;
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
const MAX_LABEL = 24;
const [SHORTEST, LONGEST] = [4, 40];

/** Whether the locale can show more than ASCII; one that says nothing can. */
export function showsUnicode(env: Readonly<Record<string, string | undefined>>): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  const [, charset] = /\.([^@]*)/.exec(locale) ?? [];
  if (charset !== undefined) return /^utf-?8$/i.test(charset);
  return locale !== 'C' && locale !== 'POSIX';
}

/** One line per bar: label, bar, number, note. All numbers share one scale. */
export function barChart(bars: readonly Bar[], options: { readonly width: number; readonly unicode: boolean }): string {
  const { width, unicode } = options;
  const numbers = bars.map(({ value }) => value.toLocaleString('en-US'));
  const labels = bars.map(({ label }) => cutTo(label, MAX_LABEL + 1));
  const labelWidth = Math.max(0, ...labels.map(columnsOf));
  const numberWidth = Math.max(0, ...numbers.map((text) => text.length));
  const noteWidth = Math.max(0, ...bars.map(({ note }) => columnsOf(note)));
  const room = width - labelWidth - numberWidth - noteWidth - 6;
  const length = Math.max(SHORTEST, Math.min(LONGEST, room));
  const most = Math.max(1, ...bars.map(({ value }) => value));
  return bars
    .map(({ value, note }, at) => {
      const label = labels[at] ?? '';
      const bar = barOf((value / most) * length, unicode);
      const parts = [
        label + ' '.repeat(labelWidth - columnsOf(label)),
        bar + ' '.repeat(Math.max(0, length - bar.length)),
        (numbers[at] ?? '').padStart(numberWidth),
        // On a narrow terminal the bar is worth more than the words behind it.
        room < SHORTEST ? '' : note,
      ];
      return parts.join('  ').trimEnd();
    })
    .join('\n');
}

/** What is there shows, however little it is. */
function barOf(length: number, unicode: boolean): string {
  if (!unicode) return '#'.repeat(Math.max(length > 0 ? 1 : 0, Math.round(length)));
  const eighths = Math.max(length > 0 ? 1 : 0, Math.round(length * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}
