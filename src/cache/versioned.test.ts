import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MemoryStore } from '../../test/fixtures/memory-store.ts';
import { type DocumentType, decodeDocument, encodeDocument, readDocument, writeDocument } from './versioned.ts';

const tools: DocumentType<string[]> = { kind: 'tools', version: 2 };

describe('a document', () => {
  test('comes back as it was written', async () => {
    const store = new MemoryStore();
    await writeDocument(store, 'a', tools, ['x', 'y']);
    expect(await readDocument(store, 'a', tools)).toEqual(['x', 'y']);
    expect(await readDocument(store, 'b', tools)).toBeUndefined();
  });

  test.each([
    ['an older version', encodeDocument({ kind: 'tools', version: 1 }, [])],
    ['a newer version', encodeDocument({ kind: 'tools', version: 3 }, [])],
    ['another kind', encodeDocument({ kind: 'servers', version: 2 }, [])],
    ['nothing', new Uint8Array()],
    ['garbage', Buffer.from('garbage')],
    ['half a document', encodeDocument(tools, ['x']).slice(0, -3)],
    ['JSON that is no object', Buffer.from('null')],
    ['a document without data', Buffer.from('{"version":2,"kind":"tools"}')],
    ['more than can be true', new Uint8Array(64 * 1024 * 1024 + 1)],
  ])('that is %s is set aside and counts as absent', async (_what, bytes) => {
    const store = new MemoryStore();
    await store.write('a', bytes);
    expect(await readDocument(store, 'a', tools)).toBeUndefined();
    expect(await store.keys()).toEqual([]);
  });

  test('is looked at once more by the check of its type', () => {
    const strict: DocumentType<string[]> = { ...tools, check: (data): data is string[] => Array.isArray(data) };
    expect(decodeDocument(strict, encodeDocument(strict, ['x']))).toEqual(['x']);
    expect(decodeDocument(strict, encodeDocument<unknown>({ kind: 'tools', version: 2 }, { x: 1 }))).toBeUndefined();
  });

  test('of any JSON survives the trip, and any bytes are read without throwing', () => {
    const type: DocumentType<unknown> = { kind: 'k', version: 1 };
    fc.assert(
      fc.property(fc.jsonValue(), (data) => {
        expect(JSON.stringify(decodeDocument(type, encodeDocument(type, data)))).toBe(JSON.stringify(data));
      }),
    );
    fc.assert(fc.property(fc.uint8Array(), (bytes) => decodeDocument(type, bytes) === undefined));
  });
});
