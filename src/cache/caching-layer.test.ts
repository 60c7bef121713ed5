import { describe, expect, test } from 'vitest';
import type { ServerMetadata, ToolMetadata } from '../core/types.ts';
import { CachingLayer } from './caching-layer.ts';
import { TtlCache } from './ttl-cache.ts';

const tool = (server: string, name: string): ToolMetadata => ({ server, name, summary: '', enabled: true, tags: [] });
const server = (name: string): ServerMetadata => ({
  name,
  description: '',
  toolCount: 1,
  enabledCount: 1,
  status: 'disconnected',
  config: { type: 'http', url: 'http://localhost', headers: {}, auth: undefined },
});

function newLayer(options: { maxServers?: number; maxDetails?: number } = {}) {
  const clock = { now: 1_000_000 };
  return { clock, layer: new CachingLayer({ ...options, now: () => clock.now }) };
}

describe('the caching layer', () => {
  test('keeps lists for their time to live, in seconds', () => {
    const { clock, layer } = newLayer();
    layer.cacheServerList([server('a')], 10);
    layer.cacheToolSummaries('a', [tool('a', 'x')], 5);
    clock.now += 4_999;
    expect(layer.getServerList()).toHaveLength(1);
    expect(layer.getToolSummaries('a')).toEqual([tool('a', 'x')]);
    clock.now += 1;
    expect(layer.getToolSummaries('a')).toBeNull();
    clock.now += 5_000;
    expect(layer.getServerList()).toBeNull();
    expect(layer.getToolSummaries('never')).toBeNull();
  });

  test('keeps details as long as the list they came from, and without a list until told otherwise', () => {
    const { clock, layer } = newLayer();
    layer.cacheToolDetails('loose', 'x', tool('loose', 'x'));
    layer.cacheToolSummaries('a', [tool('a', 'x')], 5);
    clock.now += 3_000;
    layer.cacheToolDetails('a', 'x', tool('a', 'x'));
    clock.now += 1_999;
    expect(layer.getToolDetails('a', 'x')).toEqual(tool('a', 'x'));
    clock.now += 1;
    expect(layer.getToolDetails('a', 'x')).toBeNull();
    clock.now += 10 ** 9;
    expect(layer.getToolDetails('loose', 'x')).not.toBeNull();
  });

  test('forgets old details when a new list comes', () => {
    const { layer } = newLayer();
    layer.cacheToolDetails('a', 'x', tool('a', 'x'));
    layer.cacheToolDetails('b', 'x', tool('b', 'x'));
    layer.cacheToolSummaries('a', [], 5);
    expect(layer.getToolDetails('a', 'x')).toBeNull();
    expect(layer.getToolDetails('b', 'x')).not.toBeNull();
  });

  test('invalidates one server, or everything', () => {
    const { layer } = newLayer();
    const fill = () => {
      layer.cacheServerList([server('a')], 10);
      for (const name of ['a', '__proto__']) {
        layer.cacheToolSummaries(name, [], 10);
        layer.cacheToolDetails(name, 'constructor', tool(name, 'constructor'));
      }
    };
    fill();
    layer.invalidate('a');
    expect([layer.getServerList(), layer.getToolSummaries('a'), layer.getToolDetails('a', 'constructor')]).toEqual([
      null,
      null,
      null,
    ]);
    expect(layer.getToolSummaries('__proto__')).toEqual([]);
    expect(layer.getToolDetails('__proto__', 'constructor')).not.toBeNull();
    for (const all of [() => layer.invalidate(), () => layer.invalidateAll()]) {
      fill();
      all();
      expect(layer.getToolSummaries('__proto__')).toBeNull();
      expect(layer.getToolDetails('a', 'constructor')).toBeNull();
    }
  });

  test('does not confuse names that look alike when joined', () => {
    const { layer } = newLayer();
    layer.cacheToolDetails('a:b', 'c', tool('a:b', 'c'));
    expect(layer.getToolDetails('a', 'b:c')).toBeNull();
  });

  test('is bounded: the least recently used goes first', () => {
    const { layer } = newLayer({ maxServers: 2, maxDetails: 2 });
    layer.cacheToolSummaries('a', [], 10);
    layer.cacheToolSummaries('b', [], 10);
    layer.getToolSummaries('a');
    layer.cacheToolSummaries('c', [], 10);
    expect(layer.getToolSummaries('b')).toBeNull();
    expect(layer.getToolSummaries('a')).not.toBeNull();
  });

  test('counts hits and misses', () => {
    const { layer } = newLayer();
    expect(layer.stats()).toEqual({ hits: 0, misses: 0, hitRate: 0 });
    layer.cacheServerList([], 10);
    for (let i = 0; i < 3; i++) layer.getServerList();
    layer.getToolDetails('a', 'x');
    expect(layer.stats()).toEqual({ hits: 3, misses: 1, hitRate: 0.75 });
  });

  test('works with the real clock', () => {
    const layer = new CachingLayer();
    layer.cacheServerList([], 10);
    expect(layer.getServerList()).toEqual([]);
  });
});

test('an expired entry leaves the cache when it is asked for', () => {
  let now = 0;
  const cache = new TtlCache<number>({ maxEntries: 2, now: () => now });
  cache.set('b', 2);
  cache.set('a', 1, 10);
  expect(cache.expiresAt('a')).toBe(10);
  now = 10;
  expect(cache.get('a')).toBeUndefined();
  // Its place is free: nothing is dropped for the next entry.
  cache.set('c', 3);
  expect([cache.get('b'), cache.get('c')]).toEqual([2, 3]);
  expect(new TtlCache<number>({ maxEntries: 1 }).get('x')).toBeUndefined();
});
