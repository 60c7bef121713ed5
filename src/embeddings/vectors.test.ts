import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ToolMetadata } from '../core/types.ts';
import { aboveBaseline, backgroundTools, baselineOf } from './background.ts';
import { checkVectors } from './check-vectors.ts';
import { nearest } from './nearest.ts';
import { QueryVectors } from './query-vectors.ts';
import { textKey, toolText } from './tool-text.ts';
import { decodeVectors, encodeVectors } from './vector-file.ts';
import { VectorTable } from './vector-table.ts';

const unit = (...values: number[]): Float32Array => {
  const length = Math.hypot(...values);
  return Float32Array.from(values, (value) => value / length);
};
const tableOf = (rows: Readonly<Record<string, Float32Array>>): VectorTable => {
  const names = Object.keys(rows);
  const table = new VectorTable(
    names,
    names.map((name) => textKey('test', name)),
  );
  for (const [row, vector] of Object.values(rows).entries()) table.set(row, vector);
  return table;
};
const run = <T>(steps: Generator<unknown, T>): T => {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
};
const numbers = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }), {
  minLength: 1,
  maxLength: 40,
});

describe('the check of vectors', () => {
  it('brings vectors to unit length', () => {
    const { vectors, dimensions } = checkVectors([Float32Array.of(3, 4), Float32Array.of(0, -2)], 2);
    expect(dimensions).toBe(2);
    expect(vectors.map((vector) => [...(vector ?? [])].map((value) => Math.round(value * 10) / 10))).toEqual([
      [0.6, 0.8],
      [0, -1],
    ]);
  });

  it('leaves a few bad ones out and refuses an answer that is bad on the whole', () => {
    const good = Float32Array.of(1, 2);
    const zero = new Float32Array(2);
    expect(checkVectors([good, zero, good], 3).vectors[1]).toBeUndefined();
    expect(() => checkVectors([good, zero], 2)).toThrow('1 of 2 bad: a vector of zeros');
    expect(() => checkVectors([zero], 1)).toThrow('a vector of zeros');
    expect(() => checkVectors([Float32Array.of(Number.NaN, 1)], 1)).toThrow('NaN');
    expect(() => checkVectors([Float32Array.of(Number.POSITIVE_INFINITY, 1)], 1)).toThrow('infinity');
    expect(() => checkVectors([[1, 2]], 1)).toThrow('something that is not a vector');
    expect(() => checkVectors([new Float32Array(100_000).fill(1)], 1)).toThrow('too long');
    expect(() => checkVectors([good, Float32Array.of(1, 2, 3), good], 3)).toThrow('different lengths');
    expect(() => checkVectors([good], 2)).toThrow('1 vectors for 2 texts');
    expect(() => checkVectors(null, 1)).toThrow('no list');
    expect(() => checkVectors([good], 1, 3)).toThrow('2 numbers, but search.embedder.dimensions is 3');
  });
});

describe('a table of vectors', () => {
  it('takes memory as vectors come, not for all tools at the first', () => {
    const names = Array.from({ length: 50_000 }, (_, at) => `tool${at}`);
    const table = new VectorTable(names, names);
    expect(table.set(0, unit(...new Array(4096).fill(1)))).toBe(true);
    expect(table.bytesOf(0).buffer.byteLength).toBeLessThanOrEqual(64 * 4096);
    expect(table.has(1)).toBe(false);
    expect(table.set(999, unit(1, ...new Array(4095).fill(0)))).toBe(true);
    expect(table.bytesOf(999).buffer.byteLength).toBeLessThanOrEqual(2_000 * 4096);
    expect(table.cosine(0, unit(...new Array(4096).fill(1)))).toBeCloseTo(1, 3);
    expect(table.filled).toBe(2);
    const few = tableOf({ a: unit(1, 0), b: unit(0, 1) });
    expect(few.bytesOf(1).buffer.byteLength).toBe(4);
  });

  it('gives cosines close to the exact ones', () => {
    fc.assert(
      fc.property(numbers, numbers, (left, right) => {
        const [a, b] = [left.slice(0, right.length), right.slice(0, left.length)].map((list) =>
          Float32Array.from(list),
        );
        if (!a || !b || Math.hypot(...a) < 1e-3 || Math.hypot(...b) < 1e-3) return;
        const [x, y] = [unit(...a), unit(...b)];
        const exact = x.reduce((sum, value, at) => sum + value * (y[at] as number), 0);
        expect(Math.abs(tableOf({ tool: x }).cosine(0, y) - exact)).toBeLessThan(0.03);
      }),
    );
  });

  it('takes neither another length, nor nothing, nor more rows than it has', () => {
    const table = tableOf({ a: unit(1, 0), b: unit(0, 1) });
    expect(table.set(0, unit(1, 2, 3))).toBe(false);
    expect(table.set(0, new Float32Array(0))).toBe(false);
    expect(table.set(0, new Float32Array(2))).toBe(false);
    expect(table.set(7, unit(1, 0))).toBe(false);
    expect(table.filled).toBe(2);
    expect(table.set(0, unit(1, 1))).toBe(true);
    expect(table.filled).toBe(2);
  });

  it('survives the way to bytes and back, whatever the tools are called', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.constantFrom(unit(1, 2), unit(-3, 1))), fc.string(), (rows, stamp) => {
        const table = tableOf(rows);
        const stored = decodeVectors(encodeVectors({ table, stamp, writtenAt: 7 }));
        expect(stored).toMatchObject({ stamp, writtenAt: 7 });
        expect(stored?.table.names).toEqual(table.names);
        expect(stored?.table.keys).toEqual(table.keys);
        for (const row of table.names.keys()) expect(stored?.table.bytesOf(row)).toEqual(table.bytesOf(row));
      }),
    );
  });

  it('leaves rows that have no vector out of the bytes', () => {
    const table = new VectorTable(['a', 'b'], ['1', '2']);
    table.set(1, unit(1, 2));
    expect(decodeVectors(encodeVectors({ table, stamp: '', writtenAt: 0 }))?.table.names).toEqual(['b']);
  });

  it('is not read from bytes that were cut, changed or made up', () => {
    const bytes = encodeVectors({ table: tableOf({ a: unit(1, 2), b: unit(2, 1) }), stamp: 's', writtenAt: 0 });
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, by) => {
        expect(decodeVectors(bytes.subarray(0, at))).toBeUndefined();
        const changed = Uint8Array.from(bytes);
        changed[at] = ((changed[at] as number) + by) % 256;
        const read = decodeVectors(changed);
        // A changed letter in a name may go unnoticed; a changed number in a vector may not.
        if (read)
          for (const row of [0, 1]) expect(read.table.bytesOf(row)).toEqual(decodeVectors(bytes)?.table.bytesOf(row));
      }),
    );
    fc.assert(fc.property(fc.uint8Array(), (made) => decodeVectors(made) === undefined));
  });
});

describe('the nearest tools', () => {
  it('are the best of all tables, best first', () => {
    const rows = (from: number) =>
      Object.fromEntries(Array.from({ length: 700 }, (_, at) => [`tool${from + at}`, unit(1, (from + at) / 100)]));
    const tables = [
      ['one', tableOf(rows(0))],
      ['two', tableOf(rows(700))],
      ['other', tableOf({ longer: unit(1, 0, 0) })],
    ] as const;
    const found = run(nearest(tables, unit(0, 1), 5));
    expect(found).toHaveLength(5);
    expect(found.every(({ server, score }) => server === 'two' && score > 0.99)).toBe(true);
    expect(found.map(({ score }) => score)).toEqual(found.map(({ score }) => score).sort((a, b) => b - a));
    expect(run(nearest([], unit(1), 5))).toEqual([]);
  });
});

describe('the text of a tool', () => {
  const tool = (more: Partial<ToolMetadata>): ToolMetadata => ({
    server: 'my-git_hub',
    name: 'createIssue',
    summary: '',
    enabled: true,
    tags: [],
    ...more,
  });

  it('has server, name in words, what it does, keywords and parameters', () => {
    const text = toolText(
      tool({
        title: 'New issue',
        description: 'Opens an issue.\nIn a repository.',
        keywords: ['bug'],
        inputSchema: { type: 'object', properties: { repoName: {}, body: {} } },
      }),
    );
    expect(text).toBe(
      'my git hub: create Issue\nNew issue\nOpens an issue. In a repository.\nbug\nParameters: repo Name, body',
    );
  });

  it('is short, whatever a server sends', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ maxLength: 5000 }), fc.array(fc.string()), (name, description, keywords) => {
        const properties = Object.fromEntries(keywords.map((key) => [key, {}]));
        const text = toolText(tool({ name, description, keywords, inputSchema: { properties } }));
        expect(text.length).toBeLessThanOrEqual(1000);
      }),
    );
    expect(toolText(tool({ description: 'x'.repeat(100_000) })).length).toBeLessThan(700);
  });

  it('has another key for another embedder', () => {
    expect(textKey('a', 'text')).toMatch(/^[0-9a-f]{32}$/);
    expect(textKey('a', 'text')).not.toBe(textKey('b', 'text'));
  });
});

describe('the background', () => {
  /** A model that finds everything similar, as some do. */
  const skewed = (word: number): Float32Array => {
    const vector = new Float32Array(40).fill(0.3);
    vector[word] = 1;
    return unit(...vector);
  };
  const background = new VectorTable(
    backgroundTools().map(({ name }) => name),
    backgroundTools().map(({ name }) => name),
  );
  for (const row of background.names.keys()) background.set(row, skewed(row));

  it('moves what is as alike as anything to 0, and leaves the same at 1', () => {
    const query = skewed(30);
    const baseline = baselineOf(background, query);
    expect(baseline).toBeGreaterThan(0.5);
    const table = tableOf({ same: skewed(30), other: skewed(35) });
    expect(aboveBaseline(table.cosine(0, query), baseline)).toBeCloseTo(1, 1);
    expect(Math.abs(aboveBaseline(table.cosine(1, query), baseline))).toBeLessThan(0.05);
  });

  it('is not moved by a tool in it that fits the query', () => {
    expect(baselineOf(background, skewed(3))).toBeCloseTo(baselineOf(background, skewed(30)), 2);
  });

  it('is nothing where too little of it is known', () => {
    expect(baselineOf(undefined, unit(1))).toBe(0);
    expect(baselineOf(tableOf({ a: unit(1, 1) }), unit(1, 1))).toBe(0);
    expect(baselineOf(background, unit(1, 1))).toBe(0);
    expect([aboveBaseline(0.4, 0), aboveBaseline(-1, 0.9), aboveBaseline(1, 0.9)]).toEqual([0.4, -1, 1]);
  });
});

describe('the vectors of queries', () => {
  it('are asked for once, again after a failure, and forgotten when many came after', async () => {
    let asked = 0;
    const queries = new QueryVectors(async (query) => {
      asked++;
      if (query === 'bad') throw new Error('no');
      return Float32Array.of(1);
    });
    await Promise.all([queries.get('a'), queries.get('a')]);
    expect(asked).toBe(1);
    await expect(queries.get('bad')).rejects.toThrow('no');
    await expect(queries.get('bad')).rejects.toThrow('no');
    expect(asked).toBe(3);
    for (let count = 0; count < 255; count++) await queries.get(`q${count}`);
    expect(queries.has('a')).toBe(true);
    await queries.get('a');
    await queries.get('one more');
    expect([queries.has('a'), queries.has('q0')]).toEqual([true, false]);
    queries.clear();
    expect(queries.has('a')).toBe(false);
  });
});
