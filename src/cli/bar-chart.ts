/**
 * Draws a bar chart that fits a terminal.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { columnsOf, fitTo } from './layout.ts';

interface Bar {
  readonly label: string;
  readonly value: number;
  /** Text after the number. */
  readonly note: string;
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
const [SHORTEST, LONGEST] = [4, 40];

/** One line per bar: label, bar, number, note. All bars share one scale. */
export function barChart(bars: readonly Bar[], width: number): string {
  const numbers = bars.map(({ value }) => value.toLocaleString('en-US'));
  const numberWidth = Math.max(0, ...numbers.map((text) => text.length));
  const forLabel = Math.max(1, Math.min(LIMITS.shown.label, width - numberWidth - SHORTEST - 4));
  const labels = bars.map(({ label }) => fitTo(label, forLabel));
  const labelWidth = Math.max(0, ...labels.map(columnsOf));
  const noteWidth = Math.max(0, ...bars.map(({ note }) => columnsOf(note)));
  const without = width - labelWidth - numberWidth - 4;
  // A narrow terminal shows the bars without their notes.
  const withNotes = without - noteWidth - 2 >= SHORTEST;
  const length = Math.max(SHORTEST, Math.min(LONGEST, withNotes ? without - noteWidth - 2 : without));
  const most = Math.max(1, ...bars.map(({ value }) => value));
  return bars
    .map(({ value, note }, at) => {
      const label = labels[at] ?? '';
      const bar = barOf((value / most) * length);
      const parts = [
        label + ' '.repeat(labelWidth - columnsOf(label)),
        bar + ' '.repeat(Math.max(0, length - bar.length)),
        (numbers[at] ?? '').padStart(numberWidth),
        withNotes ? note : '',
      ];
      return parts.join('  ').trimEnd();
    })
    .join('\n');
}

/** A value above zero always gets a visible bar. */
function barOf(length: number): string {
  const eighths = Math.max(length > 0 ? 1 : 0, Math.round(length * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}
