import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { engineWith, jsonOf, textOf } from '../../test/fixtures/gateway/kit.ts';
import type { CallToolResult } from '../core/types.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import { startTestServer, type TestServer } from '../testing/index.ts';
import { createMetaToolRunner } from './meta-tool-runner.ts';
import type { RunTool } from './run-tool.ts';

let server: TestServer;
let engine: EngineCore;
let runTool: RunTool;
const run = (name: string, args?: unknown): Promise<CallToolResult> =>
  runTool(name, args, { caller: {}, signal: new AbortController().signal });
const lastArguments = () => server.calls.at(-1)?.arguments;

const SCHEMA = {
  type: 'object',
  properties: {
    repo: { type: 'string' },
    title: { type: 'string' },
    labels: { type: 'array', items: { type: 'string' } },
  },
  required: ['repo', 'title'],
};

beforeAll(async () => {
  server = await startTestServer({
    tools: {
      create_issue: { description: 'Create an issue in a repository', inputSchema: SCHEMA, call: () => 'created' },
      delete_repo: { description: 'Delete a repository', call: () => 'deleted' },
      rich: {
        call: () => ({
          content: [
            { type: 'image', data: 'aGk=', mimeType: 'image/png' },
            { type: 'text', text: '' },
          ],
          structuredContent: { empty: '', list: [] },
          isError: true,
          _meta: { 'x/y': 1 },
        }),
      },
    },
  });
  engine = engineWith({
    servers: [
      { name: 'github', description: 'GitHub', connection: server.connection },
      { name: '__proto__', connection: server.connection },
    ],
    toolRules: [{ pattern: ['*delete*'], enabled: false, tags: ['dangerous'] }],
  });
  runTool = createMetaToolRunner(engine);
});
afterAll(async () => {
  await engine.close();
  await server.close();
});

describe('search_tools', () => {
  it('answers with server, tool, summary, relevance and arguments', async () => {
    const { results } = jsonOf(await run('search_tools', { query: 'create an issue', server: 'github' }));
    expect(results[0]).toEqual({
      server: 'github',
      tool: 'create_issue',
      summary: 'Create an issue in a repository',
      relevance: expect.any(Number),
      args: expect.stringContaining('repo, title'),
    });
  });

  it('says how many disabled tools were withheld, without naming them', async () => {
    const result = await run('search_tools', { query: 'delete a repository', server: 'github' });
    expect(textOf(result)).not.toContain('delete_repo');
    expect(jsonOf(result).notes.join()).toMatch(/1/);
  });

  it('takes a limit as number or text, and never more than 100', async () => {
    const count = async (limit: unknown) =>
      jsonOf(await run('search_tools', { query: 'create issue', limit, server: null })).results.length;
    expect(await count(1)).toBe(1);
    expect(await count('1')).toBe(1);
    expect(await count(1.9)).toBe(1);
    expect(await count(1e9)).toBeGreaterThan(0);
    expect(await count(null)).toBeGreaterThan(0);
  });

  it('refuses what it cannot use, and says what it wants', async () => {
    for (const args of [
      {},
      { query: 7 },
      { query: 'x', server: 7 },
      { query: 'x', limit: 0 },
      { query: 'x', limit: 'ten' },
    ])
      expect(jsonOf(await run('search_tools', args)).error).toMatchObject({
        code: 'TOOL_VALIDATION_ERROR',
        message: expect.stringMatching(/^search_tools: "\w+" must be/),
      });
    expect(jsonOf(await run('search_tools', { query: 'x', server: 'githup' })).error).toMatchObject({
      code: 'SERVER_NOT_FOUND',
      suggestions: ['github'],
    });
  });
});

describe('get_tool_details', () => {
  it('gives description, parameters and examples', async () => {
    expect(jsonOf(await run('get_tool_details', { server: 'github', tool: 'create_issue' }))).toMatchObject({
      server: 'github',
      tool: 'create_issue',
      description: 'Create an issue in a repository',
      parameters: [
        { name: 'repo', type: 'string', required: true },
        { name: 'title', type: 'string', required: true },
        { name: 'labels', type: 'string[]', required: false },
      ],
    });
  });

  it('takes the pair in one name, in either field', async () => {
    for (const args of [
      { tool: 'github:create_issue' },
      { server: 'github__create_issue' },
      { server: 'github', tool: 'github:create_issue' },
    ])
      expect(jsonOf(await run('get_tool_details', args))).toMatchObject({ server: 'github', tool: 'create_issue' });
  });

  it('leads to the whole of what it cut, and never to a disabled tool', async () => {
    const tool = 'create_issue';
    const read = async (args: object) =>
      run('execute_tool', { server: 'anygpt', tool: 'read_schema', arguments: args });
    expect(JSON.parse(textOf(await read({ server: 'github', tool })))).toEqual({
      description: 'Create an issue in a repository',
      inputSchema: SCHEMA,
    });
    expect(textOf(await read({ tool: 'github:create_issue', server: '', path: 'labels' }))).toBe(
      JSON.stringify(SCHEMA.properties.labels),
    );
    expect(jsonOf(await read({ server: 'github', tool: 'delete_repo' })).error.code).toBe('TOOL_DISABLED');
    expect(jsonOf(await read({ server: 'github', tool: 'create_issue', path: 'none' })).error.code).toBe(
      'TOOL_VALIDATION_ERROR',
    );
    expect(jsonOf(await read({ server: 'github' })).error.code).toBe('TOOL_VALIDATION_ERROR');
    expect(textOf(await read({ server: 'anygpt', tool: 'read_schema', path: 'page' }))).toContain('integer');
    expect(textOf(await read({ tool: 'anygpt:read_schema', path: 'page' }))).toContain('integer');
    const named = { name: 'anygpt__read_schema', arguments: { tool: 'github:create_issue', path: 'labels' } };
    expect(textOf(await run('execute_tool', named))).toBe(JSON.stringify(SCHEMA.properties.labels));
    expect(jsonOf(await run('get_tool_details', { server: 'anygpt', tool: 'read_schema' })).parameters).toHaveLength(4);
    expect(jsonOf(await run('execute_tool', { server: 'anygpt', tool: 'none', arguments: {} })).error).toMatchObject({
      code: 'TOOL_NOT_FOUND',
      suggestions: ['read_result', 'read_schema', 'read_resource', 'get_prompt'],
    });
  });

  it.each([
    { tool: 'github__create_issue' },
    { server: 'github:create_issue' },
    { name: 'github__create_issue' },
    { name: 'github:create_issue' },
    { server: 'github', name: 'create_issue' },
  ])('finds the tool behind %j', async (args) => {
    expect(jsonOf(await run('get_tool_details', args))).toMatchObject({ server: 'github', tool: 'create_issue' });
  });

  it('refuses disabled tools, unknown tools and no tool at all', async () => {
    const code = async (args: unknown) => jsonOf(await run('get_tool_details', args)).error.code;
    expect(await code({ server: 'github', tool: 'delete_repo' })).toBe('TOOL_DISABLED');
    expect(await code({ server: 'github', tool: 'create_isue' })).toBe('TOOL_NOT_FOUND');
    expect(await code({})).toBe('TOOL_VALIDATION_ERROR');
    expect(await code({ server: 1, tool: 2 })).toBe('TOOL_VALIDATION_ERROR');
  });
});

describe('execute_tool', () => {
  const issue = { repo: 'a/b', title: 'Bug' };

  it('hands back what the server returned, unchanged', async () => {
    expect(await run('execute_tool', { server: 'github', tool: 'rich', arguments: {} })).toEqual({
      content: [
        { type: 'image', data: 'aGk=', mimeType: 'image/png' },
        { type: 'text', text: '' },
      ],
      structuredContent: { empty: '', list: [] },
      isError: true,
      _meta: { 'x/y': 1 },
    });
  });

  it.each([
    ['as they should be', { server: 'github', tool: 'create_issue', arguments: issue }],
    ['as a JSON string', { server: 'github', tool: 'create_issue', arguments: JSON.stringify(issue) }],
    ['one level too deep', { server: 'github', tool: 'create_issue', arguments: { arguments: issue } }],
    ['beside server and tool', { server: 'github', tool: 'create_issue', ...issue }],
    ['with the whole call as a string', JSON.stringify({ server: 'github', tool: 'create_issue', arguments: issue })],
    ['with the whole call wrapped', { arguments: { server: 'github', tool: 'create_issue', arguments: issue } }],
    [
      'with the whole call wrapped as a string',
      { input: JSON.stringify({ server: 'github', tool: 'create_issue', arguments: issue }) },
    ],
    ['under one name', { tool: 'github__create_issue', arguments: issue }],
    ['under one name in the field of the server', { server: 'github:create_issue', arguments: issue }],
    ['under a name alone', { name: 'github__create_issue', arguments: issue }],
    ['under a name with a colon', { name: 'github:create_issue', arguments: JSON.stringify(issue) }],
    ['beside a name', { name: 'github:create_issue', ...issue }],
    ['under a server and a name', { server: 'github', name: 'create_issue', arguments: issue }],
  ])('takes arguments %s', async (_how, args) => {
    expect(textOf(await run('execute_tool', args))).toBe('created');
    expect(lastArguments()).toEqual(issue);
  });

  const names = `{${Array.from({ length: 20_000 }, (_, at) => `"${at}":0`).join(',')}}`;
  const pair = '"server":"github","tool":"create_issue"';
  it.each<[string, unknown]>([
    ['as a string', { server: 'github', tool: 'create_issue', arguments: names }],
    ['as a string, one level too deep', { server: 'github', tool: 'create_issue', arguments: { input: names } }],
    ['with the whole call as a string', `{${pair},"arguments":${names}}`],
    ['with the whole call wrapped as a string', { input: `{${pair},"arguments":${names}}` }],
    ['as a string in a string', { input: `{${pair},"arguments":${JSON.stringify(names)}}` }],
  ])('refuses as many names as no message may have, %s', async (_how, args) => {
    const before = server.calls.length;
    const parse = vi.spyOn(JSON, 'parse');
    const result = await run('execute_tool', args);
    const parsed = parse.mock.results.map(({ value }) => value as unknown);
    parse.mockRestore();
    const isLarge = (value: unknown): boolean =>
      typeof value === 'object' &&
      value !== null &&
      (Object.keys(value).length > 10_000 || Object.values(value).some(isLarge));
    expect(parsed.filter(isLarge)).toEqual([]);
    expect(jsonOf(result)).toMatchObject({ success: false, error: { code: 'TOOL_VALIDATION_ERROR' } });
    expect(server.calls.length).toBe(before);
  });

  it('says what is wrong with arguments, so that the next call can be right', async () => {
    const before = server.calls.length;
    const result = await run('execute_tool', { server: 'github', tool: 'create_issue', arguments: { repo: 7 } });
    expect(result.isError).toBe(true);
    expect(jsonOf(result)).toMatchObject({
      success: false,
      error: { code: 'TOOL_VALIDATION_ERROR', server: 'github', tool: 'create_issue', outcome: 'not_sent' },
    });
    expect(server.calls).toHaveLength(before);
  });

  it('never runs a disabled tool', async () => {
    const before = server.calls.length;
    for (const pair of [{ server: 'github', tool: 'delete_repo' }, { tool: 'github:delete_repo' }])
      expect(jsonOf(await run('execute_tool', { ...pair, arguments: {} })).error.code).toBe('TOOL_DISABLED');
    expect(server.calls).toHaveLength(before);
  });

  it('refuses a call without a tool', async () => {
    expect(jsonOf(await run('execute_tool', { arguments: { a: 1 } })).error.code).toBe('TOOL_VALIDATION_ERROR');
  });
});

describe('list_tools and list_mcp_servers', () => {
  it('list enabled tools, and disabled ones on request', async () => {
    const names = async (args: object) =>
      jsonOf(await run('list_tools', { server: 'github', ...args })).tools.map(({ name }: { name: string }) => name);
    expect(await names({})).toEqual(['create_issue', 'rich']);
    expect(await names({ includeDisabled: true })).toEqual(['create_issue', 'delete_repo', 'rich']);
    expect(await names({ includeDisabled: 'true' })).toContain('delete_repo');
  });

  it('refuse a missing or unknown server', async () => {
    expect(jsonOf(await run('list_tools', {})).error.code).toBe('TOOL_VALIDATION_ERROR');
    expect(jsonOf(await run('list_tools', { server: 'nobody' })).error.code).toBe('SERVER_NOT_FOUND');
  });

  it('show every server, also one with a treacherous name', async () => {
    await run('list_tools', { server: '__proto__' });
    const { servers } = jsonOf(await run('list_mcp_servers'));
    // Enabled tools are counted, and disabled ones separately.
    expect(servers).toMatchObject([
      { name: 'github', toolCount: 2, disabledCount: 1 },
      { name: '__proto__', toolCount: 2, disabledCount: 1 },
    ]);
    expect(servers[0]).toMatchObject({ description: 'GitHub', status: 'connected' });
  });
});

describe('anything else', () => {
  it('is told which five there are', async () => {
    for (const name of ['create_issue', 'toString', ''])
      expect(jsonOf(await run(name, {})).error).toMatchObject({
        code: 'TOOL_NOT_FOUND',
        message: expect.stringContaining('execute_tool'),
      });
  });

  it('needs arguments that are an object', async () => {
    for (const args of [[], 7, 'text', '[1]', true])
      expect(jsonOf(await run('list_tools', args)).error.code).toBe('TOOL_VALIDATION_ERROR');
  });
});
