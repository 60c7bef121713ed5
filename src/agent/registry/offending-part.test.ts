import { describe, expect, it } from 'vitest';
import { schemaPart } from './offending-part.ts';

describe('the part of a schema about a value', () => {
  const SCHEMA = {
    type: 'object',
    properties: {
      name: { type: 'string' },
      lines: { type: 'array', items: { $ref: '#/$defs/line' } },
      pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] },
      who: { anyOf: [{ type: 'null' }, { type: 'object', properties: { id: { type: 'integer' } } }] },
      labels: { type: 'object', additionalProperties: { type: 'boolean' } },
    },
    $defs: { line: { type: 'object', properties: { price: { type: 'number' } } }, loop: { $ref: '#/$defs/loop' } },
  };

  it.each<[PropertyKey[], unknown]>([
    [['name'], { type: 'string' }],
    [['lines', 0, 'price'], { type: 'number' }],
    [['pair', 1], { type: 'number' }],
    [['who', 'id'], { type: 'integer' }],
    [['labels', 'any'], { type: 'boolean' }],
    [['name', 'nothing', 'below'], { type: 'string' }],
    [['lines', 'x'], { type: 'array', items: { $ref: '#/$defs/line' } }],
  ])('at %j', (path, part) => {
    expect(schemaPart(SCHEMA, path)).toEqual(part);
  });

  it('is the whole schema, shortened, if it does not describe the value', () => {
    expect(schemaPart(SCHEMA, [])).toMatchObject({ type: 'object', properties: { name: { type: 'string' } } });
    expect(schemaPart({ type: 'object' }, ['constructor'])).toEqual({ type: 'object' });
    expect(schemaPart({ properties: { a: { $ref: '#/$defs/loop' } }, $defs: SCHEMA.$defs }, ['a', 'b'])).toBeDefined();
  });
});
