import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../core/limits.ts';
import { JsonSurvey, surveyed } from './json-survey.ts';

/** What the survey should count: the items of every array and object, and one for an empty one. */
function valuesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const items = Object.values(value);
  return Math.max(1, items.length) + items.reduce((sum: number, item) => sum + valuesOf(item), 0);
}

const named = (count: number) => `{${Array.from({ length: count }, (_, at) => `"name${at}":1`).join(',')}}`;

describe('JsonSurvey', () => {
  it('counts the values of any JSON, however its bytes are cut', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.array(fc.nat({ max: 200 }), { maxLength: 8 }), (value, cuts) => {
        const bytes = Buffer.from(JSON.stringify(value, null, cuts.length % 3));
        const survey = new JsonSurvey(1_000_000);
        let from = 0;
        for (const length of cuts) {
          expect(survey.push(bytes.subarray(from, from + length))).toBe(true);
          from += length;
        }
        survey.push(bytes.subarray(from));
        expect(survey.values).toBe(valuesOf(value));
        expect(survey.excess).toBeUndefined();
      }),
    );
  });

  it('takes no bracket, comma or colon inside a string for one', () => {
    const text = JSON.stringify({ text: '[[{"a":1,"b":[1,2,3]}]],,,:::\\"\\\\', '{"': '\\' });
    expect(surveyed(Buffer.from(text), 10)).toMatchObject({ values: 2, excess: undefined });
  });

  it('takes no quote for the end of a string because an empty piece comes before it', () => {
    const survey = new JsonSurvey(10);
    for (const piece of ['["\\', '', '",,,,"]']) survey.push(Buffer.from(piece));
    expect(survey.values).toBe(1);
  });

  it('says what is too many: values in all, or names of one object', () => {
    expect(surveyed(Buffer.from(JSON.stringify(Array(1001).fill(0))), 1000).excess).toBe('too-many');
    expect(surveyed(Buffer.from(JSON.stringify(Array(1000).fill(0))), 1000).excess).toBeUndefined();
    expect(surveyed(Buffer.from(named(251)), 1000).excess).toBe('too-many');
    // Names that come again and again, each in an object of its own, are what rows look like.
    expect(surveyed(Buffer.from(`[${Array(300).fill('{"a":1}').join()}]`), 1000).excess).toBeUndefined();
  });

  it('says what nests too deep, also without an end', () => {
    expect(surveyed(Buffer.from('['.repeat(LIMITS.json.depth)), 1000).excess).toBeUndefined();
    expect(surveyed(Buffer.from('['.repeat(LIMITS.json.depth + 1)), 1000).excess).toBe('too-deep');
  });
});
