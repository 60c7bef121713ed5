import { describe, expect, it } from 'vitest';
import { CATALOGUE } from '../../test/fixtures/search/catalogue.ts';
import { makeTool } from '../../test/fixtures/search/make-tool.ts';
import { PARAPHRASES } from '../../test/fixtures/search/paraphrases.ts';
import type { ToolMetadata } from '../core/types.ts';
import { SearchEngine } from './search-engine.ts';

const ABOUT = 'Bookkeeping for small firms';
const TOOL = makeTool('ledger', 'delete_invoice', 'Remove an invoice for good', {
  title: 'Delete invoice',
  tags: ['accounting'],
  keywords: ['bill'],
  annotations: { destructiveHint: true },
  inputSchema: { properties: { number: { description: 'Printed in the upper corner' }, mode: { enum: ['hard'] } } },
});
const OTHERS = [
  makeTool('ledger', 'list_invoices', 'List invoices'),
  makeTool('ledger', 'secret_invoice', 'Delete the invoice for good', { enabled: false }),
  makeTool('mail', 'delete_draft', 'Delete a draft'),
];

const engine = new SearchEngine();
engine.setServer('ledger', [TOOL, ...OTHERS.slice(0, 2)], ABOUT);
engine.setServer('mail', OTHERS.slice(2));
const explain = (query: string, options = {}) => engine.explain(query, TOOL, ABOUT, options);
const wordOf = (query: string, word: string) => explain(query)?.words.find((each) => each.word === word);

describe('explain', () => {
  it('says which words a tool has, in which fields, and which it has not', () => {
    const explanation = explain('delete the invoice in zurich');
    expect(explanation).toMatchObject({ server: 'ledger', tool: 'delete_invoice', named: false, missed: ['zurich'] });
    expect(explanation?.words).toContainEqual(
      expect.objectContaining({
        word: 'invoic',
        found: 'invoic',
        how: 'same',
        fields: ['name', 'description', 'title'],
      }),
    );
  });

  it.each([
    ['accounting', 'account', 'tags'],
    ['bill', 'bill', 'keywords'],
    ['number', 'number', 'parameterNames'],
    ['upper', 'upper', 'parameterDescriptions'],
    ['hard', 'hard', 'values'],
    ['destructive', 'destruct', 'hints'],
    ['bookkeeping', 'bookkeep', 'about'],
    ['ledger', 'ledger', 'server'],
  ])('knows that %j comes from its %s', (query, word, field) => {
    expect(wordOf(query, word)?.fields).toContain(field);
  });

  it.each([
    ['erase it', 'eras', 'synonym'],
    ['invoi', 'invoi', 'completed'],
    ['inwoice', 'inwoic', 'typo'],
  ])('knows how %j was read', (query, word, how) => {
    expect(wordOf(query, word)).toMatchObject({ how });
  });

  it('gives points that add up to what words count for', () => {
    const all = new SearchEngine();
    all.index(CATALOGUE);
    for (const [query, name] of PARAPHRASES) {
      const tool = CATALOGUE.find((each) => `${each.server}:${each.name}` === name) as ToolMetadata;
      const { words = [], score } = all.explain(query, tool) ?? {};
      const points = words.reduce((sum, each) => sum + each.points, 0);
      expect(Math.abs(points - (score?.words ?? 0))).toBeLessThan(0.01);
    }
  });

  it('does so for queries of many unknown words, too', () => {
    const query = 'invoise delate remuve numbar lisst drafd ledgr bil acounting';
    const { words = [], score } = explain(query) ?? {};
    expect(Math.abs(words.reduce((sum, each) => sum + each.points, 0) - (score?.words ?? 0))).toBeLessThan(0.01);
  });

  it('names words that are alike in meaning, the most alike first', () => {
    const { alike = [], score } = explain('erase that receipt') ?? {};
    expect(score?.meaning).toBeGreaterThan(0.2);
    expect(alike.length).toBeGreaterThan(0);
    expect(alike.length).toBeLessThanOrEqual(5);
    const likenesses = alike.map(({ likeness }) => likeness);
    expect(likenesses).toEqual([...likenesses].sort((a, b) => b - a));
    for (const { word, found } of alike) expect(word).not.toBe(found);
  });

  it('shows what use did', () => {
    const learnt = [{ server: 'ledger', tool: 'delete_invoice', score: 0.6 }];
    const { score } = explain('delete the invoice', { learnt }) ?? {};
    expect(score?.use).toBe(0.6);
    expect(score?.total).toBeGreaterThan(explain('delete the invoice')?.score.total ?? 1);
  });

  it('tells the relevance that the search shows', () => {
    for (const query of ['delete the invoice', 'delete_invoice', 'erase a bill', 'list invoices']) {
      for (const hit of engine.search(query)) {
        const tool = [TOOL, ...OTHERS].find(({ name }) => name === hit.tool) as ToolMetadata;
        expect([query, engine.explain(query, tool, '')?.relevance]).toEqual([query, hit.relevance]);
      }
    }
    expect(explain('delete_invoice')).toMatchObject({ named: true, relevance: 1 });
  });

  it('explains a disabled tool as if it were not', () => {
    expect(engine.explain('secret_invoice', OTHERS[1] as ToolMetadata)).toMatchObject({ named: true, relevance: 1 });
  });

  it('tells of a tool that a filter keeps out that it has no relevance', () => {
    expect(explain('delete invoice server:mail')).toMatchObject({ relevance: 0, named: false });
  });

  it('has nothing to say of a tool that is not there', () => {
    expect(engine.explain('delete', makeTool('ledger', 'nobody'))).toBeUndefined();
    expect(engine.explain('delete', makeTool('__proto__', 'delete_invoice'))).toBeUndefined();
  });

  it('says which language a request is in, and what its words are in English', () => {
    const explanation = explain('lösche die Rechnung');
    expect(explanation?.translated).toEqual({
      language: 'de',
      words: [
        { word: 'losche', english: ['delete'] },
        { word: 'rechnung', english: ['invoice'] },
      ],
    });
    expect(explanation?.words.map(({ word }) => word)).toEqual(expect.arrayContaining(['delet', 'invoic']));
    expect(explain('delete the invoice')).not.toHaveProperty('translated');
  });
});
