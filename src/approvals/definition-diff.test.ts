import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ToolDefinition } from '../core/types.ts';
import { diffDefinitions } from './definition-diff.ts';
import { pinOf } from './pin.ts';

const TOOL: ToolDefinition = {
  name: 'send',
  description: 'Sends a message.',
  inputSchema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
};
const diff = (more: Partial<ToolDefinition>) => diffDefinitions(TOOL, { ...TOOL, ...more }).lines;

describe('diffDefinitions', () => {
  it('shows each changed place with its old and new value', () => {
    expect(
      diff({
        description: 'Sends a letter.',
        annotations: { readOnlyHint: true },
        inputSchema: { type: 'object', properties: { 'a/b': { anyOf: [{ type: 'string' }] } }, required: ['to', 'cc'] },
      }),
    ).toEqual([
      '/description',
      '  - "Sends a message."',
      '  + "Sends a letter."',
      '/inputSchema/properties/to/type',
      '  - "string"',
      '/inputSchema/properties/a~1b/anyOf/0/type',
      '  + "string"',
      '/inputSchema/required',
      '  - ["to"]',
      '  + ["to","cc"]',
      '/annotations/readOnlyHint',
      '  + true',
    ]);
  });

  it('shows everything of a definition that is new, and nothing of one that only has its keys in another order', () => {
    const { name, ...rest } = TOOL;
    expect(diffDefinitions(undefined, { _meta: { a: 1 }, ...rest, name })).toEqual({
      lines: [
        '/name: "send"',
        '/description: "Sends a message."',
        '/inputSchema/type: "object"',
        '/inputSchema/properties/to/type: "string"',
        '/inputSchema/required: ["to"]',
        '/_meta/a: 1',
      ],
      isCut: false,
    });
    expect(diffDefinitions(TOOL, { ...rest, name }).lines).toEqual([]);
  });

  it('shows what cannot be seen: invisible, blank and look-alike characters, line ends and escapes', () => {
    const shown = (description: string) => diff({ description }).at(-1);
    expect(shown('Sends a message.\u200b')).toBe('  + "Sends a message.\\u{200b}"');
    expect(shown('Sends a\u00a0message.')).toBe('  + "Sends a\\u{a0}message."');
    expect(shown('Sends а message.')).toBe('  + "Sends \\u{430} message."');
    expect(shown('Sends a \u{e0041}\u202emessage.')).toBe('  + "Sends a \\u{e0041}\\u{202e}message."');
    expect(shown('Sends a\nmessage.')).toBe('  + "Sends a\\nmessage."');
    expect(shown('Sends a message.\\u{200b}')).toBe('  + "Sends a message.\\\\u{200b}"');
    expect(shown('Sends a \u001b[31mmessage.')).toBe('  + "Sends a \\u001b[31mmessage."');
  });

  it('shows the changed part of a long text, and leaves out the middle of a long change', () => {
    const long = { ...TOOL, description: `${'a'.repeat(5_000)}one${'b'.repeat(5_000)}` };
    const [, was, is] = diffDefinitions(long, { ...long, description: long.description.replace('one', 'two') }).lines;
    expect(was).toBe(`  - …${'a'.repeat(60)}one${'b'.repeat(60)}…`);
    expect(is).toBe(`  + …${'a'.repeat(60)}two${'b'.repeat(60)}…`);
    expect(diff({ description: `${'x'.repeat(12_000)}` }).at(-1)).toMatch(/^ {2}\+ .*x … \d+ characters … x/);
  });

  it('says that it leaves something out, and leaves nothing out if all is wanted', () => {
    const long = { ...TOOL, description: `${'x'.repeat(5_000)}evil${'x'.repeat(5_000)}` };
    for (const old of [undefined, TOOL]) {
      const [cut, whole] = [diffDefinitions(old, long), diffDefinitions(old, long, true)];
      expect([cut.isCut, cut.lines.join().includes('evil')]).toEqual([true, false]);
      expect([whole.isCut, whole.lines.join().includes('evil')]).toEqual([false, true]);
    }
    const properties = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`p${at}`, { type: 'string' }]));
    const many = { ...TOOL, inputSchema: { type: 'object', properties } };
    expect([diffDefinitions(undefined, many).isCut, diffDefinitions(undefined, many, true).isCut]).toEqual([
      true,
      false,
    ]);
    expect(diffDefinitions(undefined, many, true).lines).toContain('/inputSchema/properties/p4999/type: "string"');
  });

  it('is bounded for a huge definition', () => {
    const properties = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`p${at}`, { type: 'string' }]));
    const lines = diff({ inputSchema: { type: 'object', properties } });
    expect(lines.length).toBeLessThanOrEqual(501);
    expect(lines.at(-1)).toMatch(/^… \d+ more values$/);
  });

  it('has lines exactly when the pins differ, and every line is printable', () => {
    const definitions = fc.record({
      name: fc.constant('t'),
      description: fc.string({ unit: 'binary', maxLength: 6 }),
      inputSchema: fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
    }) as fc.Arbitrary<ToolDefinition>;
    fc.assert(
      fc.property(definitions, definitions, (old, now) => {
        const { lines } = diffDefinitions(old, now);
        expect(lines.length > 0).toBe(pinOf(old) !== pinOf(now));
        for (const line of lines) expect(line).toMatch(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u);
        for (const [at, line] of lines.entries())
          if (line.startsWith('  - ') && lines[at + 1]?.startsWith('  + '))
            expect(line.slice(4)).not.toBe(lines[at + 1]?.slice(4));
      }),
    );
  });
});
