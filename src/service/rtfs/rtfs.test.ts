import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCapability } from '../../../test/fixtures/rtfs/read-capability.ts';
import { readRtfs } from '../../../test/fixtures/rtfs/read-rtfs.ts';
import type { CapabilityManifest } from '../manifest.ts';
import { keyword, type RtfsValue } from './rtfs-value.ts';
import { capabilityText } from './write-capability.ts';
import { rtfsText } from './write-rtfs.ts';

/** The example of 004 §11.4. */
const TEXT = `(capability :mcp.github.list_issues
  :version "1.0.0"
  :description "List issues in a GitHub repository"
  :input-schema [:map
    [:owner :string]
    [:repo :string]
    [:state {:optional true} :string]]
  :output-schema [:vector [:map
    [:id :int]
    [:title :string]
    [:state :string]]]
  :provider {:type :mcp
             :server-url "https://api.github.com/mcp"
             :tool-name "list_issues"}
  :domains ["github" "github.issues"]
  :categories ["crud.read"])
`;
const text = { type: 'string' };
const MANIFEST: CapabilityManifest = {
  id: 'mcp.github.list_issues',
  version: '1.0.0',
  description: 'List issues in a GitHub repository',
  inputSchema: { type: 'object', properties: { owner: text, repo: text, state: text }, required: ['owner', 'repo'] },
  outputSchema: {
    type: 'array',
    items: {
      type: 'object',
      properties: { id: { type: 'integer' }, title: text, state: text },
      required: ['id', 'title', 'state'],
    },
  },
  provider: { type: 'mcp', server: 'github', serverUrl: 'https://api.github.com/mcp', toolName: 'list_issues' },
  domains: ['github', 'github.issues'],
  categories: ['crud.read'],
};

describe('capability documents', () => {
  it('are written as in 004', () => {
    expect(capabilityText(MANIFEST)).toBe(TEXT);
  });

  it('are read back', () => {
    expect(readCapability(TEXT)).toEqual(MANIFEST);
  });

  it('say in comments what the types cannot', () => {
    const inputSchema = { type: 'object', properties: { name: { type: ['string', 'null'] } } };
    const written = capabilityText({ ...MANIFEST, inputSchema });
    expect(written).toMatch(/^; input\.name: any: .*null\n.*\(capability/s);
    expect(readCapability(written).inputSchema).toEqual({ type: 'object', properties: { name: {} } });
  });

  it('read back the same for any strings', () => {
    const any = fc.string({ unit: 'binary' });
    const scalar = fc.constantFrom('string', 'integer', 'number', 'boolean').map((type) => ({ type }));
    const { schema } = fc.letrec((tie) => ({
      schema: fc.oneof(
        { depthSize: 'small' },
        scalar,
        tie('schema').map((items) => ({ type: 'array', items })),
        fc
          .uniqueArray(fc.tuple(any, tie('schema'), fc.boolean()), { selector: ([name]) => name, maxLength: 4 })
          .map((fields) => {
            const required = fields.flatMap(([name, , isRequired]) => (isRequired ? [name] : []));
            return {
              type: 'object',
              properties: Object.fromEntries(fields.map(([name, one]) => [name, one])),
              ...(required.length > 0 && { required }),
            };
          }),
      ),
    }));
    const manifest = fc
      .record({
        server: fc.string({ unit: 'binary', minLength: 1 }),
        tool: any,
        version: any,
        description: any,
        serverUrl: fc.option(any, { nil: undefined }),
        inputSchema: schema,
        outputSchema: fc.option(schema, { nil: undefined }),
        domains: fc.array(any),
        categories: fc.array(any),
      })
      .map(({ server, tool, serverUrl, inputSchema, outputSchema, ...rest }) => ({
        ...rest,
        id: `mcp.${server}.${tool}`,
        inputSchema: inputSchema as Record<string, unknown>,
        ...(outputSchema !== undefined && { outputSchema: outputSchema as Record<string, unknown> }),
        provider: { type: 'mcp' as const, server, toolName: tool, ...(serverUrl !== undefined && { serverUrl }) },
      }));
    fc.assert(
      fc.property(manifest, (one) => {
        const written = capabilityText(one);
        expect(readCapability(written)).toEqual(one);
        expect(capabilityText(readCapability(written))).toBe(written);
      }),
    );
  });

  it('show a reviewer every hidden character', () => {
    const written = capabilityText({ ...MANIFEST, description: 'a\u202eb\u200bc\u0007\ud800' });
    expect(written).toContain('"a\\u202eb\\u200bc\\u0007\\ud800"');
  });

  it.each([
    ['', 'holds no single'],
    ['(other :x)', 'does not begin'],
    ['(capability)', 'has no id'],
    ['(capability :mcp.a.b :version "1")', 'has no text as :tool-name'],
    [TEXT.replace('"list_issues"', '"other"'), 'does not end with the tool'],
    [`${TEXT}${TEXT}`, 'holds no single'],
    ['(capability [', 'ends too early, in line 1'],
    ['(capability "x', 'A string has no end'],
    [`${'['.repeat(500)}`, 'nested too deep'],
    ['(capability {:a})', 'a key without a value'],
  ])('%j is refused with a reason', (document, reason) => {
    expect(() => readCapability(document)).toThrow(reason);
  });
});

describe('values', () => {
  it('read back the same', () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9_./-]{0,8}$/);
    const { value } = fc.letrec<{ value: RtfsValue }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.string({ unit: 'binary' }),
        fc.double({ noNaN: true, noDefaultInfinity: true }).filter((one) => !Object.is(one, -0)),
        fc.boolean(),
        fc.constant(null),
        name.map(keyword),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.array(tie('value'), { maxLength: 4 }).map((items) => ({ kind: 'list' as const, items })),
        fc
          .array(fc.tuple(tie('value'), tie('value')), { maxLength: 3 })
          .map((entries) => ({ kind: 'map' as const, entries })),
      ),
    }));
    fc.assert(
      fc.property(value, (one) => {
        expect(readRtfs(rtfsText(one))).toEqual([one]);
      }),
    );
  });

  it('may stand among commas and comments', () => {
    expect(readRtfs('; first\n[1, -2.5e3 ; second\n :a nil true]')).toEqual([[1, -2500, keyword('a'), null, true]]);
  });

  it('are refused or read, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'()[]{}":;,\\a1 \n') }), (source) => {
        try {
          readRtfs(source);
        } catch (error) {
          expect(error).toMatchObject({ code: 'VALIDATION_ERROR' });
        }
      }),
    );
    expect(() => readRtfs('x'.repeat(5_000_000))).toThrow('too large');
    expect(readRtfs(`"${'\\"'.repeat(1_000_000)}"`)).toEqual(['"'.repeat(1_000_000)]);
  });
});
