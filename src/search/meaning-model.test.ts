import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toyModel } from '../../test/fixtures/search/toy-model.ts';
import { type Meaning, MeaningModel, toMeaning } from './meaning-model.ts';
import { MEANING_PARTS, type MeaningPart } from './meaning-text.ts';

const model = new MeaningModel(toyModel({ delete: 0, erase: { 0: 4, 1: 1 }, file: 2, weather: 3 }, [0.5, 2, 1, 1, 1]));
const lengthOf = (vector: Iterable<number>): number => Math.hypot(...vector);
const vectorOf = ({ values, scale }: Meaning): number[] => Array.from(values, (value) => value * scale);
const words = (parts: Partial<Record<MeaningPart, string[]>>) =>
  Object.fromEntries(
    MEANING_PARTS.map((part) => [part, (parts[part] ?? []).map((word) => model.ordinalOf(word))]),
  ) as Record<MeaningPart, number[]>;

describe('toMeaning', () => {
  it('keeps a vector but for its length: whole numbers, one long, in the same direction', () => {
    const component = fc.float({ min: -100, max: 100, noNaN: true });
    fc.assert(
      fc.property(fc.array(component, { minLength: 32, maxLength: 32 }), (components) => {
        const length = lengthOf(components);
        fc.pre(length > 1e-3);
        const back = vectorOf(toMeaning(Float32Array.from(components)));
        expect(lengthOf(back)).toBeCloseTo(1, 5);
        const cosine = back.reduce((sum, value, at) => sum + (value * (components[at] as number)) / length, 0);
        expect(cosine).toBeGreaterThan(0.999);
      }),
    );
  });
});

describe('MeaningModel', () => {
  it('gives requests and tools one long vectors', () => {
    expect(lengthOf(model.ofRequest(['erase', 'file', 'file']) ?? [])).toBeCloseTo(1, 5);
    const meaning = model.ofTool(words({ name: ['delete', 'file'], rest: ['weather'] }));
    expect(lengthOf(vectorOf(meaning as Meaning))).toBeCloseTo(1, 5);
  });

  it('passes over words it does not know, and means nothing by nothing else', () => {
    expect(model.ofRequest(['erase', 'xyzzy'])).toEqual(model.ofRequest(['erase']));
    expect(model.ofRequest(['xyzzy', '__proto__', 'constructor', ''])).toBeUndefined();
    expect(model.ofRequest([])).toBeUndefined();
    expect(model.ofTool(words({ name: ['xyzzy'] }))).toBeUndefined();
    expect(model.ofTool(words({}))).toBeUndefined();
  });

  it('knows how alike two words are, and nothing of those it does not know', () => {
    expect(model.likeness('delete', 'delete')).toBeCloseTo(1, 2);
    expect(model.likeness('delete', 'erase')).toBeGreaterThan(0.9);
    expect(model.likeness('delete', 'file')).toBeCloseTo(0, 5);
    expect(model.likeness('delete', 'xyzzy')).toBe(0);
  });

  it('weighs the parts of a tool', () => {
    const [server, name] = [0, 2];
    const vector = vectorOf(model.ofTool(words({ server: ['delete'], name: ['file'] })) as Meaning);
    expect((vector[name] as number) / (vector[server] as number)).toBeCloseTo(4, 0);
  });

  it('does not let a long part drown a short one', () => {
    const vector = vectorOf(
      model.ofTool(words({ lead: ['file'], rest: Array.from({ length: 16 }, () => 'weather') })) as Meaning,
    );
    expect((vector[3] as number) / (vector[2] as number)).toBeCloseTo(4, 0);
  });
});
