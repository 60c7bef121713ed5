import { describe, expect, it } from 'vitest';
import { headerFault, paramHeaders } from './param-headers.ts';

const object = (properties: object) => ({ type: 'object', properties });
const text = (header: unknown, type: unknown = 'string') => ({ type, 'x-mcp-header': header });

describe('paramHeaders', () => {
  it('mirrors the arguments a tool asks for, nested ones too', () => {
    const schema = object({
      region: text('Region'),
      where: object({ id: text('Id', 'integer') }),
      on: text('On', 'boolean'),
    });
    expect(paramHeaders(schema, { region: 'eu', where: { id: 7 }, on: false, rest: 1 })).toEqual({
      'Mcp-Param-Region': 'eu',
      'Mcp-Param-Id': '7',
      'Mcp-Param-On': 'false',
    });
  });

  it.each([
    ['grün', '=?base64?Z3LDvG4=?='],
    ['a\r\nX-Evil: 1', '=?base64?YQ0KWC1FdmlsOiAx?='],
    [' padded ', '=?base64?IHBhZGRlZCA=?='],
    ['', '=?base64??='],
    ['=?base64?eA==?=', '=?base64?PT9iYXNlNjQ/ZUE9PT89?='],
  ])('wraps %j so that it is a header value', (value, sent) => {
    expect(paramHeaders(object({ a: text('A') }), { a: value })).toEqual({ 'Mcp-Param-A': sent });
  });

  it('leaves out what is absent, inherited, or not a plain value', () => {
    const schema = object({ a: text('A'), constructor: text('B'), c: text('C', 'integer'), d: text('D') });
    expect(paramHeaders(schema, { c: 1.5, d: { e: 1 } })).toEqual({});
  });

  it('sends nothing that the tool does not ask for', () => {
    expect(paramHeaders(undefined, { a: 1 })).toBeUndefined();
    expect(paramHeaders(object({ a: { type: 'string' } }), { a: 'x' })).toBeUndefined();
    expect(paramHeaders(object({ a: text('no good') }), { a: 'x' })).toBeUndefined();
  });
});

describe('headerFault', () => {
  it.each([
    [object({ a: text('with space') }), /not a header name/],
    [object({ a: text(5) }), /not a header name/],
    [object({ a: text('') }), /not a header name/],
    [object({ a: text('A', 'number') }), /on a number/],
    [object({ a: text('A', ['string', 'null']) }), /without one simple type/],
    [object({ a: text('A'), b: text('a') }), /used twice/],
    [{ ...object({}), 'x-mcp-header': 'A' }, /no plain argument/],
    [object({ a: { type: 'array', items: text('A') } }), /no plain argument/],
    [{ anyOf: [object({ a: text('A') })] }, /no plain argument/],
  ])('finds what breaks the specification in %j', (schema, fault) => {
    expect(headerFault(schema)).toMatch(fault);
  });

  it('accepts a parameter that is called x-mcp-header, and values that look like schemas', () => {
    expect(headerFault(object({ 'x-mcp-header': { type: 'string' } }))).toBeUndefined();
    expect(headerFault(object({ a: { type: 'string', default: { 'x-mcp-header': 5 } } }))).toBeUndefined();
  });

  it('copes with any size or depth', () => {
    let deep: object = text(5);
    for (let i = 0; i < 5000; i++) deep = object({ a: deep });
    expect(headerFault(deep as Record<string, unknown>)).toBeUndefined();
    const wide = object(Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`p${n}`, { type: 'string' }])));
    expect(headerFault(wide)).toBeUndefined();
  });
});
