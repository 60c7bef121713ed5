import { describe, expect, it } from 'vitest';
import { toyModel } from '../../test/fixtures/search/toy-model.ts';
import { toDocument } from './document.ts';
import { MeaningModel } from './meaning-model.ts';
import { type Segment, signCodes } from './segment.ts';
import { buildSegment } from './segment-builder.ts';
import { decodeSnapshot, encodeSnapshot } from './segment-file.ts';
import { resolveSettings } from './settings.ts';

const settings = resolveSettings();
const document = (name: string) =>
  toDocument({ server: 's', name, summary: `Does ${name}`, enabled: true, tags: ['t'] }, '', settings);
const segment = buildSegment(new Map([['s', [document('alpha'), document('beta')]]]));

describe('a snapshot', () => {
  it('holds a whole segment', () => {
    expect(decodeSnapshot(encodeSnapshot(segment, settings), settings)).toEqual(segment);
  });

  it('holds an empty segment', () => {
    const empty = buildSegment(new Map());
    expect(decodeSnapshot(encodeSnapshot(empty, settings), settings)).toEqual(empty);
  });

  it('is refused under other weights, for they are part of what it holds, but not for the choice of synonyms', () => {
    const bytes = encodeSnapshot(segment, settings);
    expect(decodeSnapshot(bytes, resolveSettings({ weights: { name: 5 } }))).toBeUndefined();
    expect(decodeSnapshot(bytes, resolveSettings({ k1: 2 }))).toBeUndefined();
    expect(decodeSnapshot(bytes, resolveSettings({ synonyms: false }))).toBeDefined();
  });

  it('is refused under other phrases, for they are among its words', () => {
    const own = (phrase: string) => resolveSettings({ phrases: new Map([['s:alpha', [phrase]]]) });
    const bytes = encodeSnapshot(segment, own('first letter'));
    expect(decodeSnapshot(bytes, own('first letter'))).toBeDefined();
    expect(decodeSnapshot(bytes, own('last letter'))).toBeUndefined();
    expect(decodeSnapshot(bytes, settings)).toBeUndefined();
    expect(decodeSnapshot(bytes, resolveSettings({ phrases: false }))).toBeUndefined();
  });

  it('holds what tools mean, and the signs that follow from it', () => {
    const read = decodeSnapshot(encodeSnapshot(segment, settings), settings) as Segment;
    expect(read.meanings).toHaveLength(2 * (settings.model?.dimensions ?? 0));
    expect(read.meanings.some((value) => value !== 0)).toBe(true);
    expect(read.meaningScales.every((scale) => scale > 0)).toBe(true);
    expect(read.codes).toEqual(signCodes(segment.meanings));
  });

  it('is refused under other vectors, but not for how much they count', () => {
    const bytes = encodeSnapshot(segment, settings);
    expect(decodeSnapshot(bytes, resolveSettings({ model: false }))).toBeUndefined();
    expect(decodeSnapshot(bytes, resolveSettings({ model: new MeaningModel(toyModel({ a: 0 })) }))).toBeUndefined();
    expect(decodeSnapshot(bytes, resolveSettings({ meaningWeight: 0.1 }))).toBeDefined();
  });

  it.each<[string, Partial<Segment>]>([
    ['a document that is not there', { postingDocuments: segment.postingDocuments.map(() => 9) }],
    ['a server that is not there', { documentServers: segment.documentServers.map(() => 1) }],
    ['offsets that go back', { textOffsets: segment.textOffsets.slice().reverse() }],
    ['offsets past the end', { postingOffsets: segment.postingOffsets.map((offset) => offset * 2) }],
    ['lists of different length', { flags: new Uint8Array(7) }],
    ['meanings of fewer tools', { meaningScales: segment.meaningScales.slice(1) }],
    ['a broken meaning', { meanings: segment.meanings.slice(1) }],
    ['servers that are not names', { servers: [1] as never }],
    ['servers that are not a list', { servers: {} as never }],
  ])('is refused when it speaks of %s, whatever its checksum says', (_, damage) => {
    expect(decodeSnapshot(encodeSnapshot({ ...segment, ...damage }, settings), settings)).toBeUndefined();
  });
});
