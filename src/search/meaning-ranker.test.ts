import { describe, expect, it } from 'vitest';
import type { SearchDocument } from './document.ts';
import { Lexicon } from './lexicon.ts';
import { LiveIndex } from './live-index.ts';
import { toMeaning } from './meaning-model.ts';
import { Likeness } from './meaning-ranker.ts';
import { buildSegment } from './segment-builder.ts';
import { ALL_PARTS } from './settings.ts';

const DIMENSIONS = 128;

/** Numbers that look random and are the same every time (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = randomOf(7);
const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
const randomVector = (): Float32Array => Float32Array.from({ length: DIMENSIONS }, normal);
const unit = (vector: Float32Array): Float32Array => {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
};
/** A vector near another: the larger `spread`, the less near. */
const near = (vector: Float32Array, spread: number): Float32Array => vector.map((value) => value + spread * normal());

const lexicon = new Lexicon({ parts: ALL_PARTS, model: undefined });
const documentOf = (name: string, vector: Float32Array | undefined): SearchDocument => ({
  name,
  summary: '',
  signature: '',
  tags: [],
  flags: 1,
  lexicon,
  terms: [],
  impacts: [],
  meaning: vector && toMeaning(vector),
});

/** Tools gather around topics, as real ones do. */
const topics = Array.from({ length: 60 }, randomVector);
const vectors = Array.from({ length: 5_000 }, (_, index) => near(topics[index % topics.length] as Float32Array, 0.8));
const documents = vectors.map((vector, index) => documentOf(String(index).padStart(5, '0'), vector));
const halves = [documents.slice(0, 2_500), documents.slice(2_500)] as const;
const live = (alive: readonly number[]) =>
  new LiveIndex([
    {
      segment: buildSegment(
        new Map([
          ['first', halves[0]],
          ['second', halves[1]],
        ]),
      ),
      alive: Uint8Array.from(alive),
    },
  ]);
const everything = live([1, 1]);
const likenessTo = (index: LiveIndex, request: Float32Array, accepts = (_: number, __: number): boolean => true) =>
  new Likeness({ index, accepts, perServer: Number.POSITIVE_INFINITY }, request);

describe('Likeness', () => {
  it('has the truly nearest tool on its shortlist nearly always, and the list is short', () => {
    let kept = 0;
    const queries = 200;
    for (let number = 0; number < queries; number++) {
      const likeness = likenessTo(everything, unit(near(vectors[number * 7] as Float32Array, 0.8)));
      const shortlist = likeness.candidates();
      expect(shortlist.length).toBeLessThanOrEqual(400);
      let [best, highest] = [-1, -2];
      for (let document = 0; document < vectors.length; document++) {
        const cosine = likeness.of(0, document);
        if (cosine > highest) [best, highest] = [document, cosine];
      }
      if (shortlist.some(({ document }) => document === best)) kept++;
    }
    expect(kept / queries).toBeGreaterThanOrEqual(0.98);
  });

  it('computes the cosine from whole numbers to within a hundredth', () => {
    const request = unit(randomVector());
    const likeness = likenessTo(everything, request);
    for (let document = 0; document < 50; document++) {
      const vector = unit(vectors[document] as Float32Array);
      const cosine = vector.reduce((sum, value, at) => sum + value * (request[at] as number), 0);
      expect(Math.abs(likeness.of(0, document) - cosine)).toBeLessThan(0.01);
    }
  });

  it('passes over tools of servers that are gone, and those that are not accepted', () => {
    const request = unit(vectors[10] as Float32Array);
    const gone = likenessTo(live([0, 1]), request).candidates();
    expect(gone.length).toBeGreaterThan(0);
    expect(gone.every(({ document }) => document >= 2_500)).toBe(true);
    const even = likenessTo(everything, request, (_, document) => document % 2 === 0).candidates();
    expect(even.some(({ document }) => document === 10)).toBe(true);
    expect(even.every(({ document }) => document % 2 === 0)).toBe(true);
    expect(likenessTo(live([0, 0]), request).candidates()).toEqual([]);
  });

  it('passes over tools of which no word is known', () => {
    const mixed = new LiveIndex([
      {
        segment: buildSegment(new Map([['s', [documentOf('a', undefined), documentOf('b', topics[0])]]])),
        alive: Uint8Array.of(1),
      },
      { segment: buildSegment(new Map([['t', [documentOf('c', undefined)]]])), alive: Uint8Array.of(1) },
    ]);
    const likeness = likenessTo(mixed, unit(topics[0] as Float32Array));
    expect(likeness.candidates()).toEqual([{ segment: 0, document: 1 }]);
    expect([likeness.of(0, 0), likeness.of(1, 0)]).toEqual([0, 0]);
    expect(likeness.of(0, 1)).toBeCloseTo(1, 2);
  });

  it('finds tools that all mean the same, however many there are', () => {
    const same = Array.from({ length: 1_000 }, (_, index) => documentOf(String(index).padStart(4, '0'), topics[0]));
    const index = new LiveIndex([{ segment: buildSegment(new Map([['s', same]])), alive: Uint8Array.of(1) }]);
    const likeness = likenessTo(index, unit(near(topics[0] as Float32Array, 0.5)));
    expect(likeness.candidates().length).toBeGreaterThan(0);
  });
});
