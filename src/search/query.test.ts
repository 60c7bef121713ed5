import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseQuery } from './query.ts';

const termsOf = (query: string): string[] => parseQuery(query).terms.map(({ term }) => term);
const spoken = (query: string): string[] =>
  parseQuery(query)
    .terms.filter(({ weight }) => weight === 1)
    .map(({ term }) => term);

describe('parseQuery', () => {
  it('keeps the stems of meaningful words, each once', () => {
    expect(termsOf('Please create an issue and the issues')).toEqual(['creat', 'issu']);
  });

  it.each([
    'fetch pages from https://example.com/very/long?x=1',
    'fetch pages "of some secret place"',
    "fetch pages 'elsewhere'",
    'fetch pages ~/notes/today.md',
    'fetch pages /etc/hosts',
    'fetch pages C:\\temp\\x',
    'fetch pages someone@example.com',
    'fetch pages <place-holder>',
    'fetch pages 2024-05-01',
    'fetch pages “hither”',
  ])('counts the values in %j for little', (query) => {
    expect(spoken(query)).toEqual(['fetch', 'page']);
  });

  it('falls back to the whole text when hardly a word is left', () => {
    expect(spoken('open "quarterly report"')).toEqual(['open', 'quarterli', 'report']);
  });

  it("does not take an apostrophe for a quotation: the user's file isn't one", () => {
    expect(spoken("rename the user's file that isn't old")).toContain('file');
  });

  it('searches for stop words when there is nothing else', () => {
    expect(termsOf('what is this')).not.toEqual([]);
  });

  it('reads mentions as server and tool first and as names second', () => {
    const [mention] = parseQuery('call my_server__do.it now').mentions;
    expect(mention?.readings.map(({ key, server, explicit }) => [server, key, explicit])).toEqual([
      ['my_server', 'doit', true],
      ['my_server__do', 'it', false],
      [undefined, 'myserverdoit', false],
    ]);
  });

  it('takes camel case literally and plain words not at all', () => {
    const { mentions } = parseQuery('use createIssue on GitHub with `search`');
    expect(mentions.map(({ readings: [first] }) => [first?.spelling, first?.strict])).toEqual([
      ['createIssue', true],
      ['GitHub', true],
      ['search', false],
    ]);
  });

  it('bounds the work for any string', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 5_000 }), (query) => {
        const { terms, mentions } = parseQuery(query);
        expect(terms.length).toBeLessThanOrEqual(64);
        expect(mentions.length).toBeLessThanOrEqual(32);
      }),
    );
    expect(termsOf('word '.repeat(10_000))).toEqual(['word']);
    expect(termsOf(Array.from({ length: 900 }, (_, i) => `w${i}q`).join(' ')).length).toBeLessThanOrEqual(64);
  });

  it.each(["'", '"', '<', '@', '/', '1.', '`', 'a:', '\\'])('stays linear on %j repeated', (piece) => {
    const started = performance.now();
    parseQuery(piece.repeat(2_000));
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
