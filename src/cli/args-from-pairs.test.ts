import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { argumentsFromPairs, isPair, keysOf, unknownKeys } from './args-from-pairs.ts';

const schema = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    count: { type: 'integer' },
    ratio: { type: 'number' },
    draft: { type: 'boolean' },
    labels: { type: 'array', items: { type: 'string' } },
    sizes: { type: 'array', items: { type: 'integer' } },
    filter: { type: 'object', properties: { state: { enum: ['open', 'closed', 7] }, page: { type: 'integer' } } },
    either: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
    maybe: { type: ['string', 'null'] },
    one: { type: ['string', 'array'], items: { type: 'string' } },
    owner: { $ref: '#/$defs/owner' },
    'a.b': { type: 'integer' },
    level: { const: 3 },
    loop: { $ref: '#/properties/loop' },
    odd: true,
  },
  $defs: { owner: { properties: { id: { type: 'integer' } } } },
};
const args = (...pairs: string[]) => argumentsFromPairs(pairs, schema);

describe('pairs', () => {
  it('are typed by the schema', () => {
    expect(args('title=5', 'count=5', 'ratio=-0.5e1', 'draft=true', 'level=3', 'maybe=null', 'owner={"id":1}')).toEqual(
      {
        title: '5',
        count: 5,
        ratio: -5,
        draft: true,
        level: 3,
        maybe: null,
        owner: { id: 1 },
      },
    );
    expect(args('either=5')).toEqual({ either: 5 });
    expect(args('either=five', 'maybe=x=y', 'title=')).toEqual({ either: 'five', maybe: 'x=y', title: '' });
  });

  it('make lists when they are repeated, written as JSON, or empty', () => {
    expect(args('labels=bug', 'sizes=1', 'sizes=2')).toEqual({ labels: ['bug'], sizes: [1, 2] });
    expect(args('labels=["a","b"]', 'sizes=')).toEqual({ labels: ['a', 'b'], sizes: [] });
    expect(args('one=a')).toEqual({ one: 'a' });
    expect(args('one=a', 'one=b')).toEqual({ one: ['a', 'b'] });
  });

  it('reach into objects, unless a parameter has that very name', () => {
    expect(args('filter.state=7', 'filter.page=2', 'owner.id=1', 'a.b=3')).toEqual({
      filter: { state: 7, page: 2 },
      owner: { id: 1 },
      'a.b': 3,
    });
    expect(argumentsFromPairs(['filter.page=2'], schema, { filter: { state: 'open' } })).toEqual({
      filter: { state: 'open', page: 2 },
    });
  });

  it('are text where the schema says nothing, and JSON after :=', () => {
    expect(args('unknown=5', 'odd=5', 'loop=5', 'un.known=1')).toEqual({
      unknown: '5',
      odd: '5',
      loop: '5',
      'un.known': '1',
    });
    expect(args('unknown:=5', 'title:=[1]')).toEqual({ unknown: 5, title: [1] });
    expect(argumentsFromPairs(['a=1'])).toEqual({ a: '1' });
  });

  it('that do not fit are refused with the name and what is expected', () => {
    expect(() => args('count=many')).toThrow('count must be an integer, not "many"');
    expect(() => args('draft=yes')).toThrow('draft must be a boolean');
    expect(() => args('title=a', 'title=b')).toThrow('title is given 2 times');
    expect(() => args('title:=1', 'title:=2')).toThrow('title is given twice');
    expect(() => args('title:=x')).toThrow('needs JSON');
    expect(() => args('=x')).toThrow('not of the form');
  });

  it('may be called like properties that every object has', () => {
    const built = args('__proto__=x', 'constructor=y', '__proto__.a=1');
    expect(Object.entries(built)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
      ['__proto__.a', '1'],
    ]);
    expect(Object.getPrototypeOf(built)).toBe(Object.prototype);
  });

  it('of any kind give plain arguments or a usage error, under any schema', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.object({ maxDepth: 4 }), (pairs, any) => {
        try {
          const built = argumentsFromPairs(pairs, { properties: any });
          expect(JSON.parse(JSON.stringify(built))).toBeTypeOf('object');
        } catch (error) {
          expect((error as Error).constructor.name).toBe('UsageError');
        }
      }),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(argumentsFromPairs([`title=${text}`], schema)).toEqual({ title: text });
      }),
    );
  });

  it('are told from other words by their equals sign', () => {
    expect(['a=b', 'a=', '=a', 'a', ''].map(isPair)).toEqual([true, true, false, false, false]);
  });
});

describe('a key without a parameter', () => {
  it('is told with the parameter that was probably meant', () => {
    expect(unknownKeys(keysOf(['titel=x', 'ttle:=1', 'filtr.page=1']), schema)).toEqual([
      { key: 'titel', near: 'title' },
      { key: 'ttle', near: 'title' },
      { key: 'filtr', near: 'filter' },
    ]);
  });

  it('is told alone where nothing is like it, and not where there is such a parameter', () => {
    expect(unknownKeys(keysOf(['title=x', 'filter.pge=1', 'a.b=1', 'zzzzzz=1']), schema)).toEqual([
      { key: 'zzzzzz', near: undefined },
    ]);
  });
});
