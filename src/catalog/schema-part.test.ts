import { describe, expect, it, test } from 'vitest';
import { findPart, referredPart } from './schema-part.ts';

const ROOT = {
  properties: {
    filter: { type: 'array', items: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/condition' }] } },
    'a.b': { type: 'boolean' },
    'x/y~z': { type: 'number' },
  },
  $defs: {
    condition: { properties: { op: { enum: ['is'] }, next: { $ref: '#/$defs/condition' } } },
    'with space': { type: 'string' },
  },
};

describe('findPart', () => {
  test.each([
    ['', '', ROOT],
    ['#', '', ROOT],
    ['filter', '/properties/filter', ROOT.properties.filter],
    ['filter.op', '/$defs/condition/properties/op', { enum: ['is'] }],
    ['filter[].next.next.op', '/$defs/condition/properties/op', { enum: ['is'] }],
    ['condition', '/$defs/condition', ROOT.$defs.condition],
    ['a.b', '/properties/a.b', { type: 'boolean' }],
    ['x/y~z', '/properties/x~1y~0z', { type: 'number' }],
    ['#/properties/x~1y~0z', '/properties/x~1y~0z', { type: 'number' }],
    ['/$defs/condition/properties/op/enum/0', '/$defs/condition/properties/op/enum/0', 'is'],
    ['#/$defs/with%20space', '/$defs/with space', { type: 'string' }],
  ])('%j is %s', (path, pointer, value) => {
    expect(findPart(ROOT, path)).toEqual({ pointer, value });
  });

  it('finds nothing where nothing is', () => {
    const paths = ['filter.none', 'none', '...', '[]', '#/none', '/properties/none', '#/%', '/toString', 'constructor'];
    for (const path of paths) expect(findPart(ROOT, path)).toBeUndefined();
  });

  it('finds parameters that stand where the schema should be', () => {
    expect(findPart({ days: { type: 'integer' } }, 'days')).toEqual({ pointer: '/days', value: { type: 'integer' } });
  });
});

describe('referredPart', () => {
  it('is the target of a reference, with the texts beside it', () => {
    expect(referredPart(ROOT, { $ref: '#/$defs/with space', description: 'd' })).toEqual({
      pointer: '/$defs/with space',
      value: { type: 'string', description: 'd' },
    });
    expect(referredPart(ROOT, { $ref: 'https://example.com/x' })).toBeUndefined();
    expect(referredPart(ROOT, { $ref: '#/$defs/condition', properties: {} })).toBeUndefined();
    expect(referredPart(ROOT, {})).toBeUndefined();
  });
});
