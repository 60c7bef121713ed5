import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toyModel } from '../../test/fixtures/search/toy-model.ts';
import { createDictionary } from './dictionary.ts';
import { MeaningModel } from './meaning-model.ts';
import { decodeModel, encodeModel, type ModelLayout, readLayout } from './model-file.ts';

const data = toyModel({ delete: 0, erase: { 0: 4, 1: 1 }, 検索: 2, été: 3, odd: 4 }, [0.5, 2, 1, 1, 0.25]);
const bytes = encodeModel(data);

describe('a model file', () => {
  it('holds a whole model', () => {
    expect(decodeModel(bytes)).toEqual(data);
    expect(decodeModel(encodeModel(toyModel({})))).toEqual(toyModel({}));
  });

  it.each([1, 2, 3])('is read from bytes that start %i off', (shift) => {
    const shifted = new Uint8Array(bytes.length + shift).subarray(shift);
    shifted.set(bytes);
    expect(decodeModel(shifted)).toEqual(data);
    expect(decodeModel(Buffer.concat([Buffer.alloc(shift), bytes]).subarray(shift))).toEqual(data);
  });

  it('is read without being copied', () => {
    expect(decodeModel(bytes)?.vectors.buffer).toBe(bytes.buffer);
  });

  it('is refused when it is cut short or goes on', () => {
    for (let length = 0; length < bytes.length; length++) expect(decodeModel(bytes.slice(0, length))).toBeUndefined();
    expect(decodeModel(Uint8Array.from([...bytes, 0, 0, 0, 0]))).toBeUndefined();
  });

  it('is refused when it begins with something else', () => {
    const other = bytes.slice();
    other[0] = (other[0] as number) ^ 1;
    expect(decodeModel(other)).toBeUndefined();
    // Written on a machine that counts bytes the other way round.
    expect(decodeModel(Uint8Array.from([...bytes.slice(0, 4).reverse(), ...bytes.slice(4)]))).toBeUndefined();
  });

  it.each<[string, string | object]>([
    ['no JSON', '{"id":'],
    ['no record', 'null'],
    ['no name', { id: 7 }],
    ['no weights', { partWeights: 'heavy' }],
    ['weights that are no numbers', { partWeights: [null] }],
    ['no numbers', { words: 'many' }],
    ['fewer words than none', { words: -1 }],
    ['dimensions that the index cannot use', { dimensions: 30 }],
  ])('is refused when its head has %s', (_, head) => {
    const text = typeof head === 'string' ? head : JSON.stringify({ ...readHead(bytes), ...head });
    expect(decodeModel(withHead(bytes, text))).toBeUndefined();
  });

  it('is refused when any of its numbers is another, or its words are out of order', () => {
    const layout = readLayout(bytes, bytes.length) as ModelLayout;
    const changed = (at: number): Uint8Array => bytes.map((byte, place) => (place === at ? byte ^ 0x40 : byte));
    for (let at = layout.offsets; at < layout.units; at++) expect(decodeModel(changed(at))).toBeUndefined();
    for (let at = layout.vectors; at < bytes.length; at++) expect(decodeModel(changed(at))).toBeUndefined();
    // `erase` as `%rase` stands before `delete`.
    expect(decodeModel(changed(layout.units + 2 * 'delete'.length))).toBeUndefined();
    const dictionary = createDictionary(['a', 'b', 'b']);
    expect(decodeModel(encodeModel({ ...toyModel({ a: 0, b: 1, c: 2 }), dictionary }))).toBeUndefined();
  });

  it('never throws, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (place, change) => {
        const damaged = bytes.slice();
        damaged[place] = (damaged[place] as number) ^ change;
        const read = decodeModel(damaged);
        if (read !== undefined) new MeaningModel(read).ofRequest(['delete', 'zzz']);
      }),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (noise) => {
        expect(decodeModel(noise)).toBeUndefined();
      }),
    );
  });
});

const headLength = (file: Uint8Array): number => new DataView(file.buffer).getUint32(4, true);
const pad = (length: number): number => (length + 3) & ~3;

function readHead(file: Uint8Array): object {
  return JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + headLength(file))));
}

/** The file with another head. */
function withHead(file: Uint8Array, text: string): Uint8Array {
  const head = new TextEncoder().encode(text);
  const body = file.subarray(8 + pad(headLength(file)));
  const other = new Uint8Array(8 + pad(head.length) + body.length);
  other.set(file.subarray(0, 4));
  new DataView(other.buffer).setUint32(4, head.length, true);
  other.set(head, 8);
  other.set(body, 8 + pad(head.length));
  return other;
}
