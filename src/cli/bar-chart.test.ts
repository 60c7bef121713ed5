import { describe, expect, it } from 'vitest';
import { barChart } from './bar-chart.ts';
import { columnsOf } from './layout.ts';
import { toPointInTime } from './written-times.ts';

const bars = [
  { label: 'github', value: 18_200, note: '43 tools' },
  { label: 'jira', value: 9_100, note: '12 tools' },
  { label: 'tiny', value: 1, note: '1 tool' },
  { label: 'none', value: 0, note: '0 tools' },
];

describe('a bar chart', () => {
  it('draws lengths in proportion, and shows what is there however little', () => {
    expect(barChart(bars, 38).split('\n')).toEqual([
      'github  ████████████  18,200  43 tools',
      'jira    ██████         9,100  12 tools',
      'tiny    ▏                  1  1 tool',
      'none                       0  0 tools',
    ]);
  });

  it('fits the width, without notes where there is no room', () => {
    const wide = [...bars, { label: '表'.repeat(40), value: 5000, note: 'ノート' }];
    for (const width of [20, 30, 50, 80, 200]) {
      const lines = barChart(wide, width).split('\n');
      expect(Math.max(...lines.map(columnsOf)), String(width)).toBeLessThanOrEqual(width);
      if (width < 40) expect(lines.join()).not.toContain('tools');
    }
    expect(barChart([], 80)).toBe('');
  });
});

describe('a point in time', () => {
  const now = Date.parse('2026-01-31T12:00:00Z');
  it('is so long ago, or a date', () => {
    expect(toPointInTime('90m', '--since', now)).toBe(now - 90 * 60_000);
    expect(toPointInTime('7d', '--since', now)).toBe(now - 7 * 24 * 3600_000);
    expect(toPointInTime('999999w', '--since', now)).toBe(0);
    expect(toPointInTime('2026-01-30', '--since', now)).toBe(Date.parse('2026-01-30'));
    for (const text of ['', '7', '7y', 'yesterday', '2026-13-41', '-1d'])
      expect(() => toPointInTime(text, '--since', now), text).toThrow('--since takes a time such as');
  });
});
