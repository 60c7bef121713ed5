import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { TOY_DIMENSIONS, toyModel } from '../../test/fixtures/search/toy-model.ts';
import { MeaningModel, type ModelData } from './meaning-model.ts';
import { encodeModel } from './model-file.ts';
import { openModel } from './open-model.ts';

const folder = mkdtempSync(join(tmpdir(), 'open-model-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const data = toyModel({ delete: 0, erase: { 0: 4, 1: 1 }, read: 2, 検索: 3 }, [0.5, 2, 1, 1, 0.25]);
const bytes = encodeModel(data);
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

  it('is none when it is missing, a folder, cut short, too long or something else', () => {
    expect(openModel(join(folder, 'not-there.bin'))).toBeUndefined();
    expect(openModel(folder)).toBeUndefined();
    for (let length = 0; length < bytes.length; length += 13)
      expect(openModel(fileOf(bytes.slice(0, length)))).toBeUndefined();
    expect(openModel(fileOf(Uint8Array.from([...bytes, 0, 0, 0, 0])))).toBeUndefined();
    expect(openModel(fileOf(bytes.map((byte, at) => (at === 8 ? byte ^ 1 : byte))))).toBeUndefined();
  });
});
