import { describe, expect, it } from 'vitest';
import type { ToolMetadata } from '../core/types.ts';
import { SearchEngine } from './search-engine.ts';
import { PARTS, type Part, resolveSettings } from './settings.ts';

const tool = (server: string, name: string, description: string): ToolMetadata => ({
  server,
  name,
  summary: description,
  description,
  enabled: true,
  tags: [],
});

/** By words alone, so that nothing but the part decides. */
const engineOf = (without: readonly Part[]): SearchEngine => {
  const engine = new SearchEngine({ model: false, phrases: false, without });
  engine.setServer(
    'shop',
    [
      tool('shop', 'refundPayment', 'Give back what was paid'),
      tool('shop', 'list_orders', 'Show the orders of a customer'),
      tool('shop', 'list_orders_v2', 'Show the orders of a customer'),
      tool('shop', 'list_orders_v3', 'Show the orders of a customer'),
      tool('shop', 'report', 'Orders, a list: every list of orders that list orders'),
      tool('shop', 'search_cn', '搜索客户的订单'),
    ],
    'Marketplace for growers',
  );
  return engine;
};

const found = (without: readonly Part[], query: string): string[] =>
  engineOf(without)
    .search(query, { limit: 10 })
    .map(({ tool: name }) => name);

describe('a part of the search', () => {
  it.each<[Part, string, string]>([
    ['about', 'marketplace', 'list_orders'],
    ['compounds', 'refundpayment of elephants', 'refundPayment'],
    ['pieces', 'payment', 'refundPayment'],
    ['stems', 'customers', 'list_orders'],
    ['cjk', '客户', 'search_cn'],
    ['prefixes', 'market', 'list_orders'],
    ['typos', 'cutsomer', 'list_orders'],
    ['languages', 'Bestellungen anzeigen', 'list_orders'],
  ])('can be left out: without %s, %j does not find what it finds otherwise', (part, query, name) => {
    expect(found([], query)).toContain(name);
    // Where one guess is gone another may take its place.
    const others: Part[] =
      part === 'stems' || part === 'compounds' ? ['prefixes', 'typos'] : part === 'cjk' ? ['languages'] : [];
    expect(found(others.concat(part), query)).not.toContain(name);
  });

  it('can be left out: a value counts like any word without literals', () => {
    const query = 'customer orders "paid back"';
    const score = (without: Part[]): number =>
      engineOf(['languages', ...without]).explain(query, tool('shop', 'refundPayment', 'Give back what was paid'))
        ?.score.words ?? 0;
    expect(score(['literals'])).toBeGreaterThan(2 * score([]));
  });

  it('can be left out: what only tells counts like what asks without stories', () => {
    const query = 'Our payment came back on Monday. Show me the customer';
    const score = (without: Part[]): number =>
      engineOf(without).explain(query, tool('shop', 'refundPayment', 'Give back what was paid'))?.score.words ?? 0;
    expect(score(['stories'])).toBeGreaterThan(score([]));
  });

  it('can be left out: a name is words like any others without names', () => {
    const first = (without: Part[]) => engineOf(without).search('list_orders', { limit: 1 })[0];
    expect(first([])).toMatchObject({ tool: 'list_orders', relevance: 1 });
    expect(first(['names'])?.relevance).toBeLessThan(1);
  });

  it('can be left out: versions of one tool all keep their places without repeats', () => {
    const versions = (without: Part[]): number =>
      found(without, 'orders of a customer')
        .slice(0, 3)
        .filter((name) => name.startsWith('list_orders')).length;
    expect(versions([])).toBe(2);
    expect(versions(['repeats'])).toBe(3);
  });

  it('is on unless somebody leaves it out', () => {
    expect(resolveSettings().parts).toEqual(Object.fromEntries(PARTS.map((part) => [part, true])));
    expect(resolveSettings({ without: ['typos'] }).parts).toMatchObject({ typos: false, prefixes: true });
  });

  it('is part of what a snapshot was made with', () => {
    const bytes = engineOf(['stems']).toSnapshot();
    const options = { model: false, phrases: false } as const;
    expect(SearchEngine.fromSnapshot(bytes, options)).toBeUndefined();
    expect(SearchEngine.fromSnapshot(bytes, { ...options, without: ['stems'] })?.size).toBe(6);
  });

  it('explains itself: what is left out is no reason', () => {
    const orders = tool('shop', 'list_orders', 'Show the orders of a customer');
    const words = (without: Part[]) =>
      engineOf(without).explain('marketplace cutsomer', orders, 'Marketplace for growers');
    expect(words([])?.words.map(({ how }) => how)).toEqual(['typo', 'same']);
    expect(words(['about', 'typos'])).toMatchObject({ words: [], missed: ['marketplac', 'cutsom'] });
  });
});
