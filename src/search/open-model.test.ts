import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { TOY_DIMENSIONS, toyModel } from '../../test/fixtures/search/toy-model.ts';
import { MeaningModel, type ModelData } from './meaning-model.ts';
import { encodeModel, type ModelLayout, readLayout } from './model-file.ts';
import { openModel, readWholeModel } from './open-model.ts';

const folder = mkdtempSync(join(tmpdir(), 'open-model-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const data = toyModel({ delete: 0, erase: { 0: 4, 1: 1 }, read: 2, 検索: 3 }, [0.5, 2, 1, 1, 0.25]);
const bytes = encodeModel(data);
const layout = readLayout(bytes, bytes.length) as ModelLayout;
const changed = (place: number, bits: number): Uint8Array =>
  bytes.map((byte, at) => (at === place ? byte ^ bits : byte));
let files = 0;

const fileOf = (content: Uint8Array): string => {
  const file = join(folder, `${files++}.bin`);
  writeFileSync(file, content);
  return file;
};
const open = (file = fileOf(bytes)): ModelData => openModel(file) as ModelData;

describe('an opened model file', () => {
  it('has the words at once, and the same vectors one by one as all together', () => {
    const { vectorOf, vectors, ...words } = open();
    const { vectors: expected, ...rest } = data;
    expect(words).toEqual(rest);
    expect(vectors).toEqual(expected);
    const other = open();
    for (let ordinal = 0; ordinal < 4; ordinal++) {
      const row = expected.subarray(ordinal * TOY_DIMENSIONS, (ordinal + 1) * TOY_DIMENSIONS);
      expect(other.vectorOf?.(ordinal)).toEqual(row);
    }
  });

  it('means the same as one that was read whole, however much is asked', () => {
    const [opened, whole] = [new MeaningModel(open()), new MeaningModel(data)];
    for (let round = 0; round < 200; round++) {
      const words = [['delete'], ['erase', 'read'], ['検索', 'unknown'], ['nothing']][round % 4] as string[];
      expect(opened.ofRequest(words)).toEqual(whole.ofRequest(words));
    }
  });

  it('reads everything once there is more to do, and needs the file no longer', () => {
    const file = fileOf(bytes);
    const model = open(file);
    let alone = 0;
    while (model.vectorOf?.(0) !== undefined) alone++;
    expect(alone).toBeGreaterThan(64);
    expect(alone).toBeLessThan(1_000);
    expect(model.vectors).toEqual(data.vectors);
    truncateSync(file, 0);
    expect(model.vectors).toEqual(data.vectors);
    expect(model.vectorOf?.(0)).toBeUndefined();
  });

  it('knows no meaning of words that can no longer be read', () => {
    const file = fileOf(bytes);
    const model = open(file);
    truncateSync(file, bytes.length - data.vectors.length);
    expect(model.vectorOf?.(1)).toEqual(new Int8Array(TOY_DIMENSIONS));
    expect(new MeaningModel(model).ofRequest(['delete'])).toBeUndefined();
    expect(model.vectors).toEqual(new Int8Array(data.vectors.length));
  });

  it('knows no meaning of words when its numbers turn out to be damaged', () => {
    const model = open(fileOf(changed(layout.vectors + 5, 1)));
    expect(model.vectors).toEqual(new Int8Array(data.vectors.length));
    expect(new MeaningModel(model).ofRequest(['delete', 'read'])).toBeUndefined();
    // 0x7f80…: infinitely far.
    const far = bytes.slice();
    far.set([0, 0, 0x80, 0x7f], layout.scales);
    expect(new MeaningModel(open(fileOf(far))).ofRequest(['delete'])).toBeUndefined();
    expect(new MeaningModel(open(fileOf(far))).ofRequest(['read'])).toBeDefined();
  });

  it.each([
    ['opened', openModel],
    ['read whole', readWholeModel],
  ])('is none, %s, when it is missing, a folder, cut short, too long or something else', (_, openIt) => {
    expect(openIt(join(folder, 'not-there.bin'))).toBeUndefined();
    expect(openIt(folder)).toBeUndefined();
    for (let length = 0; length < bytes.length; length += 13)
      expect(openIt(fileOf(bytes.slice(0, length)))).toBeUndefined();
    expect(openIt(fileOf(Uint8Array.from([...bytes, 0, 0, 0, 0])))).toBeUndefined();
    expect(openIt(fileOf(changed(8, 1)))).toBeUndefined();
    // The end of the last word.
    expect(openIt(fileOf(changed(layout.scales - 4, 1)))).toBeUndefined();
  });

  it('is, read whole, the model that was written, and none when a single bit is wrong', () => {
    expect(readWholeModel(fileOf(bytes))).toEqual(data);
    for (const at of [layout.scales, layout.units - 1, layout.vectors, bytes.length - 1])
      expect(readWholeModel(fileOf(changed(at, 1)))).toBeUndefined();
  });
});
