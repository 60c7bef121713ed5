import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { jsonOf, textOf } from '../../test/fixtures/gateway/kit.ts';
import type { CallToolResult, ServerMetadata, ToolMetadata } from '../core/types.ts';
import { answer, compact, failure, serverListAnswer, toolListAnswer } from './answers.ts';

const tool = (name: string, more: Partial<ToolMetadata> = {}): ToolMetadata => ({
  server: 's',
  name,
  summary: `What ${name} does`,
  enabled: true,
  tags: [],
  ...more,
});
const server = (name: string, more: Partial<ServerMetadata> = {}): ServerMetadata => ({
  name,
  description: `What ${name} is for`,
  toolCount: 3,
  enabledCount: 3,
  status: 'disconnected',
  config: { type: 'sse', url: 'http://x', headers: {}, auth: undefined },
  ...more,
});
const tokensOf = (result: CallToolResult): number => countTokens(textOf(result), { disallowedSpecial: new Set() });

describe('answer', () => {
  it('is one text block of minified JSON without structured content', () => {
    expect(answer({ a: 1, b: [true] })).toEqual({ content: [{ type: 'text', text: '{"a":1,"b":[true]}' }] });
  });

  it('leaves out what is empty, keeps booleans, numbers and the order', () => {
    const value = {
      z: 0,
      y: false,
      a: null,
      b: '',
      c: [],
      d: {},
      e: undefined,
      f: { g: '' },
      h: [{ i: '', j: 1 }],
      k: 'x',
    };
    expect(JSON.stringify(compact(value))).toBe('{"z":0,"y":false,"h":[{"j":1}],"k":"x"}');
  });

  it('takes any names for keys', () => {
    const value = JSON.parse('{"__proto__":{"polluted":1},"constructor":"c"}');
    expect(JSON.stringify(compact(value))).toBe('{"__proto__":{"polluted":1},"constructor":"c"}');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe('failure', () => {
  it('is marked as an error and has the shape of the contract', () => {
    const result = failure({ code: 'TOOL_DISABLED', message: 'no', retryable: false });
    expect(result.isError).toBe(true);
    expect(jsonOf(result)).toEqual({
      success: false,
      error: { code: 'TOOL_DISABLED', message: 'no', retryable: false },
    });
  });
});

describe('toolListAnswer', () => {
  it('shows summaries, switches and tags while they fit', () => {
    expect(jsonOf(toolListAnswer('s', [tool('a', { tags: ['t'] }), tool('b', { enabled: false })]))).toEqual({
      server: 's',
      tools: [
        { name: 'a', summary: 'What a does', enabled: true, tags: ['t'] },
        { name: 'b', summary: 'What b does', enabled: false },
      ],
    });
  });

  it('shortens summaries first, at whole characters', () => {
    const tools = Array.from({ length: 30 }, (_, i) =>
      tool(`tool_${i}`, { summary: `${'x'.repeat(38)}😀${'lang '.repeat(40)}` }),
    );
    const shown = jsonOf(toolListAnswer('s', tools));
    expect(shown.tools).toHaveLength(30);
    expect(shown.tools[0].summary).toBe(`${'x'.repeat(38)}…`);
  });

  it('then gives names only, still saying what is disabled', () => {
    const tools = Array.from({ length: 120 }, (_, i) =>
      tool(`tool_${i}`, { summary: 'words '.repeat(30), enabled: i > 0 }),
    );
    const shown = jsonOf(toolListAnswer('s', tools));
    expect(shown.tools).toHaveLength(120);
    expect(shown.tools.slice(0, 2)).toEqual([{ name: 'tool_0', enabled: false }, { name: 'tool_1' }]);
  });

  it('then as many names as fit, and how to find the others', () => {
    const tools = Array.from({ length: 5000 }, (_, i) => tool(`a_rather_long_tool_name_${i}`));
    const shown = jsonOf(toolListAnswer('github', tools));
    expect(shown.tools.length).toBeGreaterThan(50);
    expect(shown.more).toBe(`+${5000 - shown.tools.length} more; narrow down with search_tools, server "github"`);
  });
});

describe('serverListAnswer', () => {
  it('shows status, reason and staleness', () => {
    const down = server('down', {
      status: 'error',
      reason: 'exited with 1',
      stale: true,
      toolCount: 0,
      enabledCount: 0,
    });
    expect(jsonOf(serverListAnswer([server('up', { status: 'connected' }), down], ['a note']))).toEqual({
      servers: [
        { name: 'up', description: 'What up is for', toolCount: 3, status: 'connected' },
        {
          name: 'down',
          description: 'What down is for',
          toolCount: 0,
          status: 'error',
          reason: 'exited with 1',
          stale: true,
        },
      ],
      notes: ['a note'],
    });
  });

  it('names the client of a server that failed, or whose name another client’s server has too', () => {
    const client = 'claude-desktop';
    const servers = [
      server('memory', { client }),
      server('cursor/memory', { client: 'cursor' }),
      server('files', { client }),
      server('down', { client, status: 'error' }),
    ];
    const { servers: shown } = jsonOf(serverListAnswer(servers, [])) as { servers: Record<string, unknown>[] };
    expect(shown.map((one) => one.client)).toEqual([client, undefined, undefined, client]);
  });

  it('drops descriptions before servers, and says how many it left out', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, i) => server(`s${i}`, { description: 'words '.repeat(20) }));
    expect(jsonOf(serverListAnswer(many(30), [])).servers[0].description).toHaveLength(40);
    const names = jsonOf(serverListAnswer(many(70), []));
    expect(names.servers).toHaveLength(70);
    expect(names.servers[0].description).toBeUndefined();
    const some = jsonOf(serverListAnswer(many(1000), []));
    expect(some.more).toBe(`+${1000 - some.servers.length} more; find their tools with search_tools`);
  });
});

describe('lists stay under 2,000 real tokens', () => {
  const text = (maxLength: number) =>
    fc.oneof(
      fc.string({ maxLength }),
      fc.string({ unit: 'grapheme', maxLength }),
      fc.string({ unit: fc.constantFrom(...'検索はデータベース内の文件를 검색합니다'), maxLength }),
      fc.string({ unit: fc.constantFrom(...'0123456789abcdef-'), maxLength }),
    );
  // One kind per list, repeated: the longest answers come from long lists.
  const list = fc.record({
    names: fc.array(text(40), { minLength: 1, maxLength: 12 }),
    about: text(120),
    times: fc.integer({ min: 1, max: 60 }),
  });
  const namesOf = ({ names, times }: { names: string[]; times: number }) =>
    Array.from({ length: times }, (_, i) => names.map((name) => `${name}${i}`)).flat();

  it('list_tools does, whatever tools are called', () => {
    fc.assert(
      fc.property(list, (given) => {
        const tools = namesOf(given).map((name) => tool(name, { summary: given.about, tags: ['t'] }));
        return tokensOf(toolListAnswer('s', tools)) <= 2000;
      }),
      { numRuns: 60 },
    );
  });

  it('list_mcp_servers does, whatever servers are called', () => {
    fc.assert(
      fc.property(list, (given) => {
        const servers = namesOf(given).map((name) => server(name, { description: given.about, reason: given.about }));
        return tokensOf(serverListAnswer(servers, ['note'])) <= 2000;
      }),
      { numRuns: 60 },
    );
  });
});
