import { describe, expect, it } from 'vitest';
import { toDocument } from './document.ts';
import { LiveIndex, serverOf } from './live-index.ts';
import { parseQuery } from './query.ts';
import { buildSegment } from './segment-builder.ts';
import { resolveSettings } from './settings.ts';
import { words } from './words-ranker.ts';

const settings = resolveSettings({ model: false, phrases: false });
const segmentOf = (server: string, count: number) => {
  const documents = Array.from({ length: count }, (_, number) => {
    const name = `tool_${String(number).padStart(4, '0')}`;
    const description = 'Works on an account.';
    return toDocument({ server, name, description, summary: '', tags: [], enabled: true }, '', settings);
  });
  return { segment: buildSegment(new Map([[server, documents]])), alive: Uint8Array.of(1) };
};
const candidatesOf = (index: LiveIndex) =>
  words
    .score({ index, query: parseQuery('account'), settings, perServer: Number.POSITIVE_INFINITY, accepts: () => true })
    ?.candidates() ?? [];

describe('the ranker of words', () => {
  it('brings forward 200 tools at most, however many a word fits alike', () => {
    const index = new LiveIndex([segmentOf('one', 500)]);
    const best = candidatesOf(index);
    expect(best.map(({ document }) => document)).toEqual(Array.from({ length: 200 }, (_, number) => number));
  });

  it('takes the same of equals in whatever order their servers came', () => {
    const [one, two] = [segmentOf('one', 150), segmentOf('two', 150)];
    const bestOf = (index: LiveIndex): string[] =>
      candidatesOf(index)
        .map((position) => `${serverOf(index, position)}:${position.document}`)
        .sort();
    const best = bestOf(new LiveIndex([one, two]));
    expect(best).toEqual(bestOf(new LiveIndex([two, one])));
    expect(best.filter((name) => name.startsWith('one:'))).toHaveLength(150);
  });
});
