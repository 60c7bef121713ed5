import { describe, expect, it } from 'vitest';
import { makeTool } from '../../test/fixtures/search/make-tool.ts';
import { toyModel } from '../../test/fixtures/search/toy-model.ts';
import type { SearchOptions, ToolMetadata } from '../core/types.ts';
import { MeaningModel } from './meaning-model.ts';
import { SearchEngine } from './search-engine.ts';

/** Knows nothing of versions. */
const MODEL = new MeaningModel(
  toyModel({ get: 0, invoice: 1, customer: 2, list: { 3: 2, 0: 1 }, invoices: 1, newest: 4, page: 5, taxes: 6 }),
);

const engineOf = (tools: readonly ToolMetadata[], options = {}): SearchEngine => {
  const engine = new SearchEngine(options);
  engine.index(tools);
  return engine;
};
const found = (engine: SearchEngine, query: string, options: SearchOptions = {}): string[] =>
  engine.search(query, options).map((hit) => `${hit.server}:${hit.tool}`);

/** The same thing many times over, as versions of an interface are. */
const repeats = (server: string, count: number): ToolMetadata[] =>
  Array.from({ length: count }, (_, index) =>
    makeTool(
      server,
      `get_invoice_v${index + 1}`,
      'Get an invoice of a customer by its number. Returns its lines and taxes.',
      {
        inputSchema: { properties: { invoice_number: {}, customer: {}, currency: {} } },
      },
    ),
  );
const OTHER = makeTool('shop', 'list_invoices', 'List the invoices of a customer, newest first, page by page');

describe.each([
  ['by meaning', { model: MODEL, phrases: false }],
  ['by words alone', { model: false, phrases: false }],
])('repeats, %s', (_, options) => {
  it('of one server step back behind the first two and whatever else was found', () => {
    const hits = found(engineOf([...repeats('shop', 6), OTHER], options), 'get the customer invoice', { limit: 10 });
    expect(hits.indexOf('shop:list_invoices')).toBe(2);
    expect(hits).toHaveLength(7);
  });

  it('of several servers all keep their places', () => {
    const servers = ['acme', 'bolt', 'corp', 'dart'];
    const tools = servers.map((server) => makeTool(server, 'get_invoice', 'Get an invoice of a customer'));
    const hits = found(engineOf([...tools, OTHER], options), 'get the customer invoice');
    expect(hits.slice(0, 4).sort()).toEqual(servers.map((server) => `${server}:get_invoice`));
  });

  it('do not keep another tool out of a short answer', () => {
    const hits = found(engineOf([...repeats('shop', 20), OTHER], options), 'get the customer invoice', { limit: 3 });
    expect(hits).toHaveLength(3);
    const without = engineOf([...repeats('shop', 8), OTHER], options);
    expect(found(without, 'get the customer invoice', { limit: 3 })).toContain('shop:list_invoices');
  });

  it('are not told to be better than what stands before them', () => {
    const engine = engineOf([...repeats('shop', 6), OTHER], options);
    const relevances = engine.search('get the customer invoice', { limit: 10 }).map(({ relevance }) => relevance);
    expect(relevances).toEqual([...relevances].sort((a, b) => b - a));
  });

  it('that were named are all there', () => {
    const engine = engineOf(repeats('shop', 4), options);
    expect(found(engine, 'get_invoice_v4 get_invoice_v3 get_invoice_v2')).toEqual(
      expect.arrayContaining(['shop:get_invoice_v4', 'shop:get_invoice_v3', 'shop:get_invoice_v2']),
    );
  });
});

describe('the list', () => {
  it('breaks ties by server, then by name', () => {
    const tools = ['b', 'a', 'c'].flatMap((server) => [
      makeTool(server, 'zap_two', 'Zap it'),
      makeTool(server, 'zap_one', 'Zap it'),
    ]);
    const hits = found(engineOf(tools, { model: false }), 'please zap', { limit: 10 });
    expect(hits).toEqual(['a:zap_one', 'b:zap_one', 'c:zap_one', 'a:zap_two', 'b:zap_two', 'c:zap_two']);
  });

  it('leaves the weak tail out unless a number was asked for', () => {
    const tools = [
      makeTool('mail', 'send_email', 'Send an email to somebody'),
      ...Array.from({ length: 20 }, (_, index) =>
        makeTool('misc', `thing_${index}`, `Something with a parameter to somebody ${index}`),
      ),
    ];
    const engine = engineOf(tools);
    expect(found(engine, 'send an email to somebody').length).toBeLessThan(6);
    expect(found(engine, 'send an email to somebody', { limit: 12 })).toHaveLength(12);
  });
});
