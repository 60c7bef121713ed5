import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../core/types.ts';
import { requiredSets } from './schema-merge.ts';
import { parametersOf } from './schema-parameters.ts';

const names = (schema: JsonSchema): string[] =>
  parametersOf(schema).map(({ name, required }) => `${name}${required ? '' : '?'}`);

describe('parametersOf', () => {
  it('gives those that must be given first', () => {
    expect(names({ properties: { a: {}, b: {} }, required: ['b'] })).toEqual(['b', 'a?']);
    expect(parametersOf(undefined)).toEqual([]);
  });

  it('follows references and takes the parts of allOf together', () => {
    const schema = {
      $ref: '#/$defs/all',
      $defs: {
        all: { allOf: [{ $ref: '#/$defs/one' }, { properties: { b: {} }, required: ['b'] }], properties: { c: {} } },
        one: { properties: { a: { $ref: '#/$defs/text' } }, required: ['a'] },
        text: { type: 'string' },
      },
    };
    expect(names(schema)).toEqual(['a', 'b', 'c?']);
    expect(parametersOf(schema)[0]?.schema).toEqual({ type: 'string' });
  });

  it('shows the parameters of all alternatives; required is what each requires', () => {
    const schema = {
      type: 'object',
      oneOf: [
        { properties: { kind: { const: 'a' }, x: {} }, required: ['kind', 'x'] },
        { properties: { kind: { const: 'b' }, y: {} }, required: ['kind'] },
      ],
    };
    expect(names(schema)).toEqual(['kind', 'x?', 'y?']);
  });

  it('reads parameters that stand where the schema should be', () => {
    expect(names({ days: { type: 'integer' }, city: { type: 'string' } })).toEqual(['days?', 'city?']);
    expect(names({ type: 'object' })).toEqual([]);
    expect(names({ days: 'integer' })).toEqual([]);
  });

  it('takes any names, and anything in the places of a schema', () => {
    expect(names(JSON.parse('{"properties":{"__proto__":{},"constructor":null},"required":["__proto__"]}'))).toEqual([
      '__proto__',
      'constructor?',
    ]);
    for (const odd of [[], 'x', null, 7]) expect(names({ properties: odd, required: odd, anyOf: odd })).toEqual([]);
  });
});

describe('requiredSets', () => {
  it('are the names of which one set must be given', () => {
    expect(requiredSets({ anyOf: [{ required: ['id'] }, { required: ['owner', 'name'] }] })).toEqual([
      ['id'],
      ['owner', 'name'],
    ]);
    expect(requiredSets({ anyOf: [{ required: ['id'] }, { properties: {} }] })).toEqual([]);
    expect(requiredSets({})).toEqual([]);
  });
});
