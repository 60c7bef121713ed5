import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ToolDefinition } from '../core/types.ts';
import { canonicalJson, pinOf } from './pin.ts';

const TOOL: ToolDefinition = {
  name: 'send',
  title: 'Send',
  description: 'Sends a message.',
  inputSchema: { type: 'object', properties: { to: { type: 'string' }, body: { type: 'string' } }, required: ['to'] },
  outputSchema: { type: 'object' },
  annotations: { readOnlyHint: false },
  _meta: { ui: 'card' },
};

/** The same value with the keys of every object in another order. */
const turned = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== 'object' || value === null) return value;
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, one] of Object.entries(value).reverse()) copy[key] = turned(one);
  return copy;
};

describe('pinOf', () => {
  it('does not depend on the order of keys or the white space of the JSON', () => {
    const spaced = JSON.parse(JSON.stringify(turned(TOOL), null, 4)) as ToolDefinition;
    expect(pinOf(spaced)).toBe(pinOf(TOOL));
    expect(pinOf(TOOL)).toMatch(/^[0-9a-f]{64}$/);
  });

  it('changes with every member, by one character', () => {
    const changed: readonly Partial<ToolDefinition>[] = [
      { name: 'Send' },
      { title: 'Send ' },
      { description: 'Sends a message!' },
      { description: 'Sends a message.\u200b' },
      { inputSchema: { ...TOOL.inputSchema, required: ['body'] } },
      { inputSchema: { ...TOOL.inputSchema, required: [] } },
      { outputSchema: { type: 'array' } },
      { outputSchema: undefined },
      { annotations: { readOnlyHint: true } },
      { _meta: { ui: 'list' } },
      { icons: [{ src: 'https://example.com/i.png' }] },
    ];
    const pins = changed.map((one) => pinOf({ ...TOOL, ...one }));
    expect(new Set([...pins, pinOf(TOOL)]).size).toBe(changed.length + 1);
  });

  it('is equal exactly for equal JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue({ maxDepth: 4 }), (a, b) => {
        expect(canonicalJson(turned(a))).toBe(canonicalJson(a));
        expect(JSON.parse(canonicalJson(a) ?? '')).toEqual(JSON.parse(JSON.stringify(a)));
        const isSame =
          JSON.stringify(JSON.parse(canonicalJson(a) ?? '')) === JSON.stringify(JSON.parse(canonicalJson(b) ?? ''));
        expect(canonicalJson(a) === canonicalJson(b)).toBe(isSame);
      }),
    );
  });

  it('tells lone halves of a character and names such as __proto__ apart', () => {
    const texts = ['{"a":"\\ud800"}', '{"a":"\\ud801"}', '{"__proto__":1}', '{"__proto__":2}', '{}', '{"a":null}'];
    expect(new Set(texts.map((text) => canonicalJson(JSON.parse(text)))).size).toBe(texts.length);
  });

  it('gives no pin to a definition that is too large, too deep, cyclic or not JSON', () => {
    const ring: Record<string, unknown> = {};
    ring.self = ring;
    let deep: unknown = 1;
    for (let level = 0; level < 300; level++) deep = [deep];
    const large = 'x'.repeat(5_000_000);
    for (const odd of [ring, deep, large, { [large]: 1 }, new Array(200_000).fill(1), 1n, Number.NaN, () => 1])
      expect(canonicalJson(odd)).toBeUndefined();
    expect(pinOf({ ...TOOL, extra: ring })).toBeUndefined();
    expect(pinOf({ ...TOOL, extra: undefined })).toBe(pinOf(TOOL));
  });
});
