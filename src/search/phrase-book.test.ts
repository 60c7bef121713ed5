import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeTool } from '../../test/fixtures/search/make-tool.ts';
import { parsePhraseBook, phraseKey, phrasesOf } from './phrase-book.ts';
import { SearchEngine } from './search-engine.ts';

const described = (description?: string) => phraseKey({ name: 'get_thing', description });

describe('phraseKey', () => {
  it('stays with a tool whose description goes on differently, is set differently or has another server', () => {
    const key = described('Gets one thing by its number, with all of its parts.');
    expect(described('Gets one thing by its number, with all the rest')).toBe(key);
    expect(described('gets **one** thing\n by its number; with ALL.')).toBe(key);
    expect(key).toMatch(/^[0-9a-f]{16}$/);
  });

  it('leaves a tool that has another name or begins to say something else', () => {
    const key = described('Gets one thing by its number, with all of its parts.');
    expect(described('Gets two things by their number')).not.toBe(key);
    expect(described()).not.toBe(key);
    expect(phraseKey({ name: 'fetch_thing', description: 'Gets one thing by its number, with all' })).not.toBe(key);
  });

  it('takes any name and description', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.option(fc.string({ unit: 'binary' })), (name, description) => {
        expect(phraseKey({ name, description: description ?? undefined })).toMatch(/^[0-9a-f]{16}$/);
      }),
    );
  });
});

describe('phrasesOf', () => {
  const tool = { server: 'shop', name: 'list_orders', description: 'Lists orders' };

  it('prefers what a person wrote for this very tool', () => {
    const shipped: [string, string[]] = [phraseKey(tool), ['what did we sell']];
    expect(phrasesOf(tool, new Map([shipped]))).toEqual(['what did we sell']);
    expect(phrasesOf(tool, new Map([shipped, ['shop:list_orders', ['sales']]]))).toEqual(['sales']);
    expect(phrasesOf({ ...tool, server: 'other' }, new Map([['shop:list_orders', ['sales']]]))).toEqual([]);
    expect(phrasesOf(tool, undefined)).toEqual([]);
  });
});

describe('parsePhraseBook', () => {
  const parse = (data: unknown) => parsePhraseBook(JSON.stringify(data));

  it('reads phrases, and not more of them than is good', () => {
    const many = Array.from({ length: 40 }, (_, index) => `${index} ${'x'.repeat(1_000)}`);
    const book = parse({ version: 1, tools: { a: ['one', 2, null, 'two'], ['__proto__']: ['three'], b: many } });
    expect(book?.get('a')).toEqual(['one', 'two']);
    expect(book?.get('b')).toHaveLength(16);
    expect(book?.get('b')?.every((phrase) => phrase.length <= 256)).toBe(true);
  });

  it.each<[string, unknown]>([
    ['another version', { version: 2, tools: {} }],
    ['no version', { tools: {} }],
    ['no tools', { version: 1 }],
    ['tools that are nothing', { version: 1, tools: null }],
    ['phrases that are no list', { version: 1, tools: { a: 'one' } }],
    ['a list', [1]],
    ['nothing', null],
  ])('refuses a book with %s', (_, data) => {
    expect(parse(data)).toBeUndefined();
  });

  it('refuses what is cut short', () => {
    const text = JSON.stringify({ version: 1, tools: { a: ['one', 'two'] } });
    for (let length = 0; length < text.length; length++) expect(parsePhraseBook(text.slice(0, length))).toBeUndefined();
  });
});

describe('phrases in a search', () => {
  const orders = makeTool('shop', 'list_orders', 'Lists the orders of a shop');
  const found = (phrases: ReadonlyMap<string, readonly string[]> | false, tools = [orders]): string[] => {
    const engine = new SearchEngine({ model: false, phrases });
    engine.index([...tools, makeTool('shop', 'ping', 'Says pong')]);
    return engine.search('yesterdays takings').map(({ tool }) => tool);
  };
  const book = new Map([[phraseKey(orders), ['yesterdays takings']]]);

  it('find the tool they were written for', () => {
    expect(found(book)).toEqual(['list_orders']);
    expect(found(false)).toEqual([]);
  });

  it('never stray to another tool of the same name', () => {
    expect(found(book, [makeTool('army', 'list_orders', 'Commands that were given')])).toEqual([]);
  });
});
