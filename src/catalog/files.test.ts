import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryLog } from '../../test/fixtures/engine.ts';
import type { ToolDefinition } from '../core/types.ts';
import { CatalogStore } from './catalog-store.ts';
import { decodeIndex, encodeIndex, type IndexEntry } from './index-file.ts';
import type { Listing } from './listing.ts';
import { decodeListing, encodeListing, toLines } from './listing-file.ts';
import { atOnce } from './paced.ts';

const tool: fc.Arbitrary<ToolDefinition> = fc.record({
  name: fc.string({ minLength: 1 }),
  description: fc.string({ unit: 'binary' }),
  inputSchema: fc.dictionary(fc.string(), fc.jsonValue()),
});
const listing: fc.Arbitrary<Listing> = fc.record({
  server: fc.string(),
  fingerprint: fc.string(),
  fetchedAt: fc.nat(),
  tools: fc.array(tool, { maxLength: 50 }),
  items: fc.record({
    resources: fc.array(fc.record({ uri: fc.string() }), { maxLength: 30 }),
    resourceTemplates: fc.array(fc.record({ uriTemplate: fc.string() }), { maxLength: 5 }),
    prompts: fc.array(fc.record({ name: fc.string(), description: fc.string() }), { maxLength: 5 }),
  }),
  skipped: fc.constant([{ name: 'x', reason: 'y' }]),
});
const encode = (one: Listing): Uint8Array => atOnce(encodeListing(one, atOnce(toLines(one))));
const decode = (bytes: Uint8Array, { server, fingerprint }: Listing) =>
  atOnce(decodeListing(bytes, server, fingerprint));

describe('a listing on disk', () => {
  it('comes back as it was', () => {
    fc.assert(
      fc.property(listing, (one) => {
        const back = decode(encode(one), one);
        expect(JSON.stringify(back?.listing.tools)).toBe(JSON.stringify(one.tools));
        expect(JSON.stringify(back?.listing.items)).toBe(JSON.stringify(one.items));
        expect(back?.listing.fetchedAt).toBe(one.fetchedAt);
        expect(back?.digest).toBe(atOnce(toLines(one)).digest);
      }),
    );
  });

  it('cut anywhere, changed anywhere or of another server counts as absent, and never throws', () => {
    fc.assert(
      fc.property(listing, fc.nat(), fc.nat(255), (one, at, byte) => {
        const bytes = encode(one);
        const cut = bytes.slice(0, at % bytes.length);
        expect(decode(cut, one)).toBeUndefined();
        const damaged = bytes.slice();
        damaged[at % bytes.length] = byte;
        expect(() => decode(damaged, one)).not.toThrow();
        expect(decode(bytes, { ...one, server: `${one.server}x` })).toBeUndefined();
        expect(decode(bytes, { ...one, fingerprint: `${one.fingerprint}x` })).toBeUndefined();
      }),
    );
    for (const text of ['', '\n', 'null\n', '[]\n', '{"version":1}\n', '{"version":3}\n'])
      expect(atOnce(decodeListing(Buffer.from(text), 's', 'f'))).toBeUndefined();
  });
});

describe('a ready index on disk', () => {
  const entries: IndexEntry[] = [{ name: '__proto__', fingerprint: 'f', fetchedAt: 1, toolCount: 2, enabledCount: 1 }];

  it('comes back as it was, aligned, and only with its own stamp', () => {
    const bytes = encodeIndex({ entries, snapshot: new Uint8Array([1, 2, 3]), items: new Uint8Array([4, 5]) }, 'stamp');
    const shifted = new Uint8Array(bytes.length + 3);
    shifted.set(bytes, 3);
    const back = decodeIndex(shifted.subarray(3), 'stamp');
    expect(back?.entries).toEqual(entries);
    expect([...(back?.snapshot ?? [])]).toEqual([1, 2, 3]);
    expect([...(back?.items ?? [])]).toEqual([4, 5]);
    expect((back?.items.byteOffset ?? 1) % 8).toBe(0);
    expect((back?.snapshot.byteOffset ?? 1) % 8).toBe(0);
    expect(decodeIndex(bytes, 'other')).toBeUndefined();
  });

  it('of any bytes is absent, and never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void expect(decodeIndex(bytes, 's')).toBe(undefined)),
    );
    const bytes = encodeIndex(
      { entries: [null, 5, {}] as never, snapshot: new Uint8Array(0), items: new Uint8Array(0) },
      's',
    );
    expect(decodeIndex(bytes, 's')).toBeUndefined();
    expect(
      decodeIndex(
        encodeIndex({ entries, snapshot: new Uint8Array(0), items: new Uint8Array(0) }, 's').slice(0, 20),
        's',
      ),
    ).toBeUndefined();
  });
});

describe('a disk that fails', () => {
  it('is reported once a minute, and nothing is thrown', async () => {
    const log = memoryLog();
    const no = async (): Promise<never> => {
      throw new Error('no space left');
    };
    let now = 0;
    const store = new CatalogStore(
      { read: no, write: no, delete: no },
      { owner: '', stamp: '', logger: log, now: () => now },
    );
    const one: Listing = { server: 's', fingerprint: 'f', fetchedAt: 1, tools: [], skipped: [] };
    for (let i = 0; i < 10; i++) {
      expect(await store.readListing('s', 'f')).toBeUndefined();
      expect(await store.readIndex()).toBeUndefined();
      await store.writeListing(one, atOnce(toLines(one)));
      await store.writeIndex({ entries: [], snapshot: new Uint8Array(0), items: new Uint8Array(0) });
      await store.deleteListing('s', 'f');
    }
    expect(log.lines).toHaveLength(1);
    expect(log.lines[0]).toContain('no space left');
    now = 60_000;
    await store.readIndex();
    expect(log.lines).toHaveLength(2);
  });
});
