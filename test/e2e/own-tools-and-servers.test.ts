/** The library snippet of README, against three real servers and a registry with 2,000 own tools. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServerConfig, StdioConfig } from '../../src/config/define-config.ts';
import { DiscoveryEngine } from '../../src/engine/discovery-engine.ts';
import { META_TOOL_NAMES } from '../../src/meta-tools/meta-tools.ts';
import type { AnyToolCall, ToolFormat } from '../../src/registry.ts';
import { ToolRegistry, withRequestProviders } from '../../src/registry.ts';
import { anthropicTools, geminiTools, openAiResponsesTools } from '../api-rules.ts';

const OWN_TOOLS = 2_000;
const folder = mkdtempSync(join(tmpdir(), 'own-tools-'));
const state = join(folder, 'state');
const installed = (name: string) =>
  fileURLToPath(new URL(`../../node_modules/@modelcontextprotocol/${name}/dist/index.js`, import.meta.url));
const program = (name: string, ...args: string[]): StdioConfig => ({
  type: 'stdio',
  command: process.execPath,
  args: [installed(name), ...args],
});
const servers: ServerConfig[] = [
  { name: 'everything', connection: program('server-everything', 'stdio') },
  { name: 'files', connection: program('server-filesystem', folder) },
  {
    name: 'memory',
    connection: { ...program('server-memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } },
  },
];

const registry = new ToolRegistry();
for (let n = 0; n < OWN_TOOLS; n++)
  registry.registerTool(
    {
      name: `archive_report_${n}`,
      description: `Move the report number ${n} to the archive`,
      inputSchema: { type: 'object', properties: { note: { type: 'string' } }, required: ['note'] },
    },
    ({ note }) => `report ${n} archived: ${note}`,
  );
registry.registerTool({ name: 'delete_everything', description: 'Delete all reports for good' }, () => 'gone');

const toolRules = [{ pattern: ['delete_*'], server: 'own', enabled: false }];
const engine = new DiscoveryEngine({ servers, providers: [registry], toolRules, state });

beforeAll(async () => {
  writeFileSync(join(folder, 'hello.txt'), 'Hello from a file');
  expect([...(await engine.ready({ waitMs: 60_000 }))]).toEqual([]);
}, 90_000);
afterAll(async () => {
  await engine.close();
  await registry.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A call as each API writes it. */
const CALLS: Readonly<Record<Exclude<ToolFormat, 'ai-sdk'>, (name: string, args: object) => AnyToolCall>> = {
  anthropic: (name, input) => ({ type: 'tool_use', id: 'c1', name, input }),
  'openai-chat': (name, args) => ({ type: 'function', id: 'c1', function: { name, arguments: JSON.stringify(args) } }),
  'openai-responses': (name, args) => ({ type: 'function_call', call_id: 'c1', name, arguments: JSON.stringify(args) }),
  gemini: (name, args) => ({ functionCall: { id: 'c1', name, args: { ...args } } }),
  langchain: (name, args) => ({ type: 'tool_call', id: 'c1', name, args: { ...args } }),
};
const FORMATS = Object.keys(CALLS) as (keyof typeof CALLS)[];

const namesOf = (definitions: readonly object[]): string[] =>
  definitions.flatMap((tool) => {
    if ('functionDeclarations' in tool) return namesOf(tool.functionDeclarations as object[]);
    return 'function' in tool ? namesOf([tool.function as object]) : [(tool as { name: string }).name];
  });

describe.each(FORMATS)('own tools and servers in one loop, written for %s', (format) => {
  const ask = async (name: string, args: object): Promise<string> =>
    JSON.stringify(await engine.handle(CALLS[format](name, args), { format }));

  it('are found and called through the meta-tools', async () => {
    const tools = engine.tools({ format, mode: 'search' });
    expect(namesOf(tools)).toEqual(META_TOOL_NAMES);
    expect(JSON.stringify(tools)).toContain('everything, files, memory, own');
    expect(await ask('search_tools', { query: 'archive_report_1234' })).toContain('archive_report_1234');
    expect(await ask('search_tools', { query: 'read a text file' })).toContain('read_text_file');
    const args = { server: 'own', tool: 'archive_report_7', arguments: { note: 'by search' } };
    expect(await ask('execute_tool', args)).toContain('report 7 archived: by search');
    const read = { server: 'files', tool: 'read_text_file', arguments: { path: join(folder, 'hello.txt') } };
    expect(await ask('execute_tool', read)).toContain('Hello from a file');
  });

  it('are called by the names they are shown under', async () => {
    const names = namesOf(engine.tools({ format, mode: 'all' }));
    expect(names.filter((name) => name.startsWith('archive_report_'))).toHaveLength(OWN_TOOLS);
    expect(names).toEqual(expect.arrayContaining(['everything__echo', 'files__read_text_file', 'memory__read_graph']));
    expect(names).toEqual([...names].sort());
    expect(names).not.toContain('delete_everything');
    expect(await ask('archive_report_3', { note: 'own' })).toContain('report 3 archived: own');
    expect(await ask('everything__echo', { message: 'from a server' })).toContain('from a server');
    expect(await ask('memory__read_graph', {})).toContain('entities');
  });

  it('are hidden behind the search where they are many', () => {
    expect(namesOf(engine.tools({ format, mode: 'auto' }))).toEqual(META_TOOL_NAMES);
  });

  it('answer what cannot be called with an error the model can read', async () => {
    expect(await ask('archive_report_3', {})).toContain('TOOL_VALIDATION_ERROR');
    expect(await ask('archive_reprot_3', { note: 'x' })).toContain('archive_report_3');
    expect(await ask('delete_everything', {})).toContain('TOOL_DISABLED');
    const through = { server: 'own', tool: 'delete_everything', arguments: {} };
    expect(await ask('execute_tool', through)).toContain('TOOL_DISABLED');
  });
});

describe('own tools and servers', () => {
  it('are defined as each API wants them', () => {
    expect(anthropicTools(engine.tools({ mode: 'all' }))).toEqual([]);
    expect(geminiTools(engine.tools({ format: 'gemini', mode: 'all' }))).toEqual([]);
    expect(openAiResponsesTools(engine.tools({ format: 'openai-responses', mode: 'all', strict: true }))).toEqual([]);
  });

  it('are all shown while they are few', async () => {
    const few = new ToolRegistry({ name: 'mail' });
    few.registerTool({ name: 'send_email', description: 'Send an email' }, () => 'sent');
    const files = servers.filter(({ name }) => name === 'files');
    await using small = new DiscoveryEngine({ servers: files, providers: [few] });
    expect(namesOf(small.tools())).toEqual(META_TOOL_NAMES);
    await small.ready({ waitMs: 60_000 });
    expect(namesOf(small.tools())).toEqual(expect.arrayContaining(['send_email', 'files__read_text_file']));
  });

  it('are in the audit log alike', async () => {
    await using audited = new DiscoveryEngine({ providers: [registry], toolRules, state: join(folder, 'audited') });
    await audited.executeTool('own', 'archive_report_1', { note: 'secret words' });
    await audited.handle({ type: 'tool_use', id: '1', name: 'delete_everything', input: {} });
    await audited.close();
    const lines = readFileSync(join(folder, 'audited', 'audit', 'audit.jsonl'), 'utf8')
      .trim()
      .split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { server: 'own', tool: 'archive_report_1', outcome: 'success' },
      { server: 'own', tool: 'delete_everything', code: 'TOOL_DISABLED' },
    ]);
    expect(lines.join()).not.toContain('secret words');
  });

  it('stand behind another engine', async () => {
    await using outer = new DiscoveryEngine({ providers: [engine] });
    await outer.ready({ waitMs: 60_000 });
    const [hit] = await outer.searchTools('archive_report_55');
    expect(hit).toMatchObject({ server: 'own', tool: 'archive_report_55' });
    const call = CALLS.anthropic('files__read_text_file', { path: join(folder, 'hello.txt') });
    expect(JSON.stringify(await outer.handle(call))).toContain('Hello from a file');
    expect(JSON.stringify(await outer.handle(CALLS.anthropic('delete_everything', {})))).toContain('TOOL_NOT_FOUND');
  });

  it('change with the registry', async () => {
    const changing = new ToolRegistry();
    changing.registerTool({ name: 'first_one', description: 'The first' }, () => 'first');
    await using small = new DiscoveryEngine({ providers: [changing] });
    expect((await small.searchTools('first_one')).map(({ tool }) => tool)).toEqual(['first_one']);
    changing.registerTool({ name: 'second_one', description: 'The second' }, () => 'second');
    expect((await small.searchTools('second_one'))[0]).toMatchObject({ tool: 'second_one' });
    changing.unregisterTool('first_one');
    expect(await small.executeTool('own', 'first_one')).toMatchObject({ error: { code: 'TOOL_NOT_FOUND' } });
  });

  it('of a request are seen by that request only', async () => {
    const private_ = new ToolRegistry();
    private_.registerTool({ name: 'read_diary', description: 'Read the private diary' }, () => 'dear diary');
    const search = () => engine.searchTools('read_diary');
    const call = () => engine.handle(CALLS.anthropic('read_diary', {}));
    const [inside, outside] = await Promise.all([withRequestProviders(private_, search), search()]);
    expect(inside[0]).toMatchObject({ server: 'request', tool: 'read_diary' });
    expect(outside.map(({ tool }) => tool)).not.toContain('read_diary');
    const [answer, refusal] = await Promise.all([withRequestProviders(private_, call), call()]);
    expect(JSON.stringify(answer)).toContain('dear diary');
    expect(JSON.stringify(refusal)).toContain('TOOL_NOT_FOUND');
    expect((await engine.listServers()).map(({ name }) => name)).not.toContain('request');
  });
});
