import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { typeExprToSchema } from '../../../test/fixtures/rtfs/type-expr-to-schema.ts';
import { checkValue } from '../../execution/validation/check-value.ts';
import { checkSchema } from '../../execution/validation/schema-check.ts';
import { rtfsText } from '../rtfs/write-rtfs.ts';
import { schemaToTypeExpr } from './type-expr.ts';
import { schemaToTypeScript } from './typescript-types.ts';
import { schemaToZod, zodModule } from './zod-source.ts';

const rtfs = (schema: unknown): string => rtfsText(schemaToTypeExpr(schema).expr);
const typescript = (schema: unknown): string => schemaToTypeScript(schema, 'T').text.trim();

function zodOf(schema: unknown): z.ZodType {
  const code = zodModule([schemaToZod(schema, 'Z', { typed: false })], { typed: false });
  const body = code.replace(/^import .*\n/, '').replaceAll('export const', 'const');
  return new Function('z', `${body}; return Z;`)(z) as z.ZodType;
}

/** The schema of 004 §5.2. */
const ISSUES = {
  type: 'object',
  properties: {
    owner: { type: 'string' },
    repo: { type: 'string' },
    state: { type: 'string', enum: ['open', 'closed', 'all'] },
  },
  required: ['owner', 'repo'],
};
const TREE = {
  type: 'object',
  properties: { node: { $ref: '#/$defs/node' } },
  $defs: {
    node: {
      type: 'object',
      properties: { name: { type: 'string' }, next: { $ref: '#/$defs/node' } },
      required: ['name'],
    },
  },
};

describe('RTFS', () => {
  test.each<[unknown, string]>([
    [{ type: 'string' }, ':string'],
    [{ type: 'integer' }, ':int'],
    [{ type: 'number' }, ':float'],
    [{ type: 'boolean' }, ':bool'],
    [{ type: 'array', items: { type: 'string' } }, '[:vector :string]'],
    [{ type: 'array' }, '[:vector :any]'],
    [{ type: 'object' }, '[:map]'],
    [{ type: 'null' }, ':any'],
    [{ type: ['string', 'null'] }, ':any'],
    [{ type: 'string', nullable: true }, ':any'],
    [{ enum: ['a', 'b'] }, ':string'],
    [{ anyOf: [{ const: 'a' }, { type: 'string', minLength: 3 }] }, ':string'],
    [{ type: 'object', additionalProperties: { type: 'integer' } }, '[:map\n  [:* :int]]'],
    [
      { type: 'object', properties: { 'a b': {}, '*': {} } },
      '[:map\n  ["a b" {:optional true} :any]\n  ["*" {:optional true} :any]]',
    ],
  ])('%j is %s', (schema, expr) => {
    expect(rtfs(schema)).toBe(expr);
  });

  it('writes the example of 004', () => {
    expect(rtfs(ISSUES)).toBe('[:map\n  [:owner :string]\n  [:repo :string]\n  [:state {:optional true} :string]]');
  });

  it('notes what is any, and where', () => {
    expect(schemaToTypeExpr({ properties: { a: { type: ['string', 'null'] } } }).notes).toEqual([
      { path: 'a', text: 'any: null' },
      { path: 'a', text: 'any: one of :string, :any' },
    ]);
    expect(schemaToTypeExpr({ properties: { a: { $ref: 'https://example.org/x' } } }).notes).toHaveLength(1);
  });

  it('ends where a schema refers to itself', () => {
    expect(rtfs(TREE)).toContain('[:next {:optional true} :any]');
  });

  it('gives back the schema that it stands for', () => {
    const { properties, required } = ISSUES;
    const plain = { type: 'object', properties: { ...properties, state: { type: 'string' } }, required };
    expect(typeExprToSchema(schemaToTypeExpr(ISSUES).expr)).toEqual(plain);
  });
});

describe('TypeScript', () => {
  test.each<[unknown, string]>([
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ enum: ['a', 1, null] }, '"a" | 1 | null'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, '("a" | "b")[]'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, '{ [key: string]: number }'],
    [
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false, minItems: 1 },
      '[string, number?]',
    ],
    [{ allOf: [{ properties: { a: { type: 'string' } } }, { required: ['a'] }], type: 'object' }, '{\n  a: string;\n}'],
    [false, 'never'],
    [true, 'unknown'],
  ])('%j is %s', (schema, type) => {
    expect(typescript(schema)).toBe(`export type T = ${type};`);
  });

  it('names what recurs', () => {
    expect(typescript(TREE)).toBe(
      'export type TNode = {\n  name: string;\n  next?: TNode;\n};\nexport type T = {\n  node?: TNode;\n};',
    );
  });

  it('lets no text end a comment or a string', () => {
    const text = typescript({ properties: { 'a"b': { description: '*/ evil(); /*', const: '"; evil(); "' } } });
    expect(text).toContain('/** *\\/ evil(); /* */');
    expect(text).toContain('"a\\"b"?: "\\"; evil(); \\""');
  });
});

/** Schemas of every kind that a tool may have, and values that are near to them. */
const name = fc.constantFrom('a', 'b', 'kind', 'toString', '__proto__', 'x y');
const scalar = fc.oneof(
  fc.constantFrom('', 'a', 'ab', 'kind'),
  fc.integer({ min: -3, max: 9 }),
  fc.boolean(),
  fc.constant(null),
  fc.constant(1.5),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    { weight: 3, arbitrary: scalar },
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      name.filter((one) => one !== '__proto__'),
      tie('value'),
      { maxKeys: 3, noNullPrototype: true },
    ),
  ),
}));
const { schema } = fc.letrec((tie) => {
  const one = tie('schema');
  const list = fc.array(one, { minLength: 1, maxLength: 3 });
  const keyword = (key: string, values: fc.Arbitrary<unknown>) => values.map((made): [string, unknown] => [key, made]);
  const size = fc.nat(3);
  const type = fc.constantFrom('string', 'integer', 'number', 'boolean', 'object', 'array', 'null');
  const keywords = fc.oneof(
    keyword('type', type),
    keyword('type', fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
    keyword('enum', fc.array(value, { minLength: 1, maxLength: 3 })),
    keyword('const', value),
    keyword('required', fc.array(name, { maxLength: 2 })),
    ...[
      'minLength',
      'maxLength',
      'minItems',
      'maxItems',
      'minProperties',
      'maxProperties',
      'minimum',
      'exclusiveMaximum',
    ].map((key) => keyword(key, size)),
    keyword('uniqueItems', fc.boolean()),
    keyword('pattern', fc.constantFrom('^a', '^[a-z]{1,3}$')),
    ...['properties', 'patternProperties'].map((key) =>
      keyword(
        key,
        fc.dictionary(
          key === 'properties' ? name.filter((it) => it !== '__proto__') : fc.constantFrom('^a', '^k'),
          one,
          { maxKeys: 3, noNullPrototype: true },
        ),
      ),
    ),
    ...['items', 'additionalProperties', 'propertyNames', 'not', 'contains', 'if', 'then', 'else'].map((key) =>
      keyword(key, one),
    ),
    keyword('additionalProperties', fc.boolean()),
    ...['anyOf', 'oneOf', 'allOf', 'prefixItems'].map((key) => keyword(key, list)),
    keyword('$ref', fc.constantFrom('#/$defs/a', '#/$defs/b')),
    keyword(
      'dependentRequired',
      fc.dictionary(name, fc.array(name, { maxLength: 2 }), { maxKeys: 1, noNullPrototype: true }),
    ),
  );
  return {
    schema: fc.oneof({ depthSize: 'small', maxDepth: 4 }, fc.boolean(), {
      weight: 8,
      arbitrary: fc.array(keywords, { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
    }),
  };
});

describe('zod', () => {
  it('accepts and rejects what the validator does', () => {
    fc.assert(
      fc.property(schema, schema, schema, fc.array(value, { minLength: 5, maxLength: 5 }), (root, a, b, values) => {
        const whole = typeof root === 'object' && root !== null ? { ...root, $defs: { a, b } } : root;
        const checked = checkSchema(whole);
        const made = zodOf(whole);
        if (checked.verdict === 'unusable') return;
        for (const one of values) {
          const found = checkValue(checked.root, one);
          if (found === 'exhausted') continue;
          expect(made.safeParse(one).success, JSON.stringify([whole, one])).toBe(found.length === 0);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('counts the items of a tuple that are given', () => {
    const made = zodOf({ type: 'array', prefixItems: [{}], minItems: 1 });
    expect([[], [1], [1, 2]].map((one) => made.safeParse(one).success)).toEqual([false, true, true]);
  });

  it('keeps what it does not know and fills in nothing', () => {
    const made = zodOf({ type: 'object', properties: { a: { type: 'string', default: 'x' } } });
    expect(made.parse({ b: 1 })).toEqual({ b: 1 });
  });

  it('leaves a pattern out that may take very long, with a note', () => {
    const { text, notes } = schemaToZod({ type: 'string', pattern: '^(a+)+$' }, 'Z');
    expect(text).not.toContain('RegExp');
    expect(notes).toEqual([{ path: '', text: 'the pattern ^(a+)+$ is not checked' }]);
  });
});

describe('any schema', () => {
  const nested = (levels: number, wrap: (inner: unknown) => unknown): unknown =>
    Array.from({ length: levels }).reduce<unknown>((inner) => wrap(inner), { type: 'string' });
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`p${at}`, { type: 'string' }]));
  const bomb = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [
      `d${at}`,
      { type: 'object', properties: { x: { $ref: `#/$defs/d${at + 1}` }, y: { $ref: `#/$defs/d${at + 1}` } } },
    ]),
  );
  const cyclic: Record<string, unknown> = { type: 'object' };
  cyclic.properties = { self: cyclic };
  test.each<[string, unknown]>([
    ['no schema', null],
    ['a text', 'x'],
    ['malformed keywords', { type: 7, properties: [], required: 'a', enum: {}, items: 'x', anyOf: 3, minimum: '1' }],
    ['a reference to nothing', { $ref: '#/nowhere' }],
    ['a reference to itself', { $ref: '#' }],
    [
      'a ring of references',
      { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { anyOf: [{ $ref: '#/$defs/a' }] } } },
    ],
    ['an anchor', { $ref: '#it', $defs: { x: { $anchor: 'it', type: 'string' } } }],
    ['a deep one', nested(5_000, (inner) => ({ properties: { x: inner } }))],
    ['deep alternatives', nested(500, (inner) => ({ anyOf: [inner, { type: 'null' }] }))],
    ['a wide one', { type: 'object', properties: wide }],
    ['references that stand for very much', { $ref: '#/$defs/d0', $defs: bomb }],
    ['an object inside itself', cyclic],
    [
      'names of the prototype',
      JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{}}}'),
    ],
    ['long texts', { description: 'x'.repeat(1e6), properties: { ['y'.repeat(1e6)]: {} }, const: 'z'.repeat(1e6) }],
    ['a long enumeration', { enum: Array.from({ length: 50_000 }, (_, at) => at) }],
  ])('is converted: %s', (_what, odd) => {
    for (const text of [rtfs(odd), typescript(odd), schemaToZod(odd, 'Z').text]) expect(text.length).toBeLessThan(2e6);
    zodOf(odd).safeParse({ x: { x: 1 } });
  });

  it('is converted, whatever stands in it', () => {
    fc.assert(
      fc.property(fc.oneof(schema, fc.object()), (odd) => {
        rtfs(odd);
        typescript(odd);
        schemaToZod(odd, 'Z');
      }),
    );
  });
});

it('TypeScript and zod compile in strict mode', () => {
  const all = [ISSUES, TREE, ...fc.sample(schema, { numRuns: 150, seed: 7 })];
  const folder = mkdtempSync(join(tmpdir(), 'anygpt-convert-'));
  try {
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'types.ts'), all.map((one, at) => schemaToTypeScript(one, `T${at}`).text).join('\n'));
    writeFileSync(join(folder, 'zod.ts'), zodModule(all.map((one, at) => schemaToZod(one, `Z${at}`))));
    const tsc = [
      resolve('node_modules/typescript/bin/tsc'),
      '--ignoreConfig',
      '--strict',
      '--noEmit',
      '--skipLibCheck',
    ];
    const flags = ['--module', 'nodenext', '--target', 'es2022', '--exactOptionalPropertyTypes', 'types.ts', 'zod.ts'];
    const { stdout, status } = spawnSync(process.execPath, [...tsc, ...flags], { cwd: folder, encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, '']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 120_000);
