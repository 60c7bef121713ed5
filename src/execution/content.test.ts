import { describe, expect, test } from 'vitest';
import type { CallToolResult } from '../core/types.ts';
import { contentTypesOf, fitContent } from './content.ts';

describe('fitContent', () => {
  test('a result of known content stays the same object, strange fields and all', () => {
    const result: CallToolResult = {
      content: [
        { type: 'text', text: 'a', annotations: { audience: ['user'] }, extra: 1 },
        { type: 'image', data: 'AA==', mimeType: 'image/png' },
        { type: 'audio', data: 'AA==', mimeType: 'audio/wav' },
        { type: 'resource', resource: { uri: 'a:b', text: 'x' } },
        { type: 'resource_link', uri: 'a:b', name: 'n' },
      ],
      structuredContent: { a: 1 },
      _meta: { trace: 1 },
      isError: true,
    };
    expect(fitContent(result)).toBe(result);
    const bare = { structuredContent: 1 };
    expect(fitContent(bare)).toBe(bare);
  });

  test('an unknown content type becomes text that says so and holds it', () => {
    const hologram = { type: 'hologram', depth: 3 };
    const fitted = fitContent({ content: [{ type: 'text', text: 'a' }, hologram], isError: false });
    expect(fitted).toEqual({
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: expect.any(String) },
      ],
      isError: false,
    });
    const text = String(fitted.content?.[1]?.text);
    expect(text).toContain('"hologram"');
    expect(JSON.parse(text.slice(text.indexOf('\n')))).toEqual(hologram);
  });

  test('what is no block at all is held the same way', () => {
    const fitted = fitContent({ content: [null] } as unknown as CallToolResult);
    expect(fitted.content?.[0]?.text).toMatch(/null$/);
  });

  test('an older revision knows fewer types', () => {
    const audio = { content: [{ type: 'audio', data: '', mimeType: 'audio/wav' }] };
    expect(fitContent(audio, contentTypesOf('2025-03-26'))).toBe(audio);
    expect(fitContent(audio, contentTypesOf('2024-11-05')).content?.[0]?.type).toBe('text');
    expect(contentTypesOf('2026-07-28').has('resource_link')).toBe(true);
  });

  test("a downstream's name stamp is removed, and an empty _meta with it", () => {
    const stamp = { 'io.modelcontextprotocol/serverInfo': { name: 'x', version: '1' } };
    const stamped = { content: [], _meta: stamp };
    expect(fitContent(stamped)).toEqual({ content: [] });
    expect(fitContent({ content: [], _meta: { ...stamp, other: 1 } })).toEqual({ content: [], _meta: { other: 1 } });
  });
});
