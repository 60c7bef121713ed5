import { fileURLToPath } from 'node:url';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, INITIALIZE, JSON_HEADERS } from '../../test/fixtures/gateway/http-request.ts';
import { type Era, engineWith, rawClient, sdkClient, streamTransport } from '../../test/fixtures/gateway/kit.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import { CORE } from '../engine/engine-handle.ts';
import { exposedSurface, serveGatewayOnHttp, serveGatewayOnStdio } from './index.ts';

const SCRIPT = fileURLToPath(new URL('../../test/fixtures/conformance-server.mjs', import.meta.url));
let engine: EngineCore;

beforeAll(() => {
  engine = engineWith({
    servers: [{ name: 'shown', connection: { type: 'stdio', command: process.execPath, args: [SCRIPT] } }],
    toolRules: [
      { pattern: ['test_error_handling', 'resource:*:*static-binary', 'prompt:*:*with_image'], enabled: false },
    ],
  });
});
afterAll(() => engine.close());

async function connect(era: Era, capabilities: Record<string, unknown> = {}) {
  const { input, output } = rawClient();
  const served = serveGatewayOnStdio(engine, { input, output, surface: exposedSurface(engine, 'shown') });
  const client = sdkClient(era, capabilities);
  await client.connect(streamTransport(input, output) as never);
  return { client, [Symbol.asyncDispose]: () => served.close() };
}

describe.each<Era>(['legacy', 'modern'])('one server shown 1:1 to a %s client', (era) => {
  it('keeps its tools under their own names, without those that are disabled', async () => {
    await using open = await connect(era);
    const names = (await open.client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain('test_simple_text');
    expect(names).not.toContain('search_tools');
    expect(names).not.toContain('test_error_handling');
  });

  it('calls them, and refuses what is disabled or unknown', async () => {
    await using open = await connect(era);
    const result = await open.client.callTool({ name: 'test_simple_text', arguments: {} });
    expect(result.content).toEqual([{ type: 'text', text: expect.any(String) }]);
    expect(await open.client.callTool({ name: 'test_error_handling', arguments: {} })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('TOOL_DISABLED') }],
    });
    await expect(open.client.callTool({ name: 'no_such_tool', arguments: {} })).rejects.toMatchObject({ code: -32602 });
  });

  it('relays prompts, resources and completions', async () => {
    await using open = await connect(era);
    const { prompts } = await open.client.listPrompts();
    expect(prompts.map(({ name }) => name)).toContain('test_simple_prompt');
    expect((await open.client.getPrompt({ name: 'test_simple_prompt' })).messages).toHaveLength(1);
    const { resources } = await open.client.listResources();
    expect((await open.client.readResource({ uri: String(resources[0]?.uri) })).contents).toHaveLength(1);
    expect((await open.client.listResourceTemplates()).resourceTemplates.length).toBeGreaterThan(0);
    await expect(open.client.readResource({ uri: 'no://such' })).rejects.toMatchObject({ code: expect.any(Number) });
  });

  it('leaves out resources and prompts that are disabled, and refuses to read them', async () => {
    await using open = await connect(era);
    const { resources } = await open.client.listResources();
    expect(resources.map(({ uri }) => uri)).not.toContain('test://static-binary');
    expect(resources.map(({ uri }) => uri)).toContain('test://static-text');
    const { prompts } = await open.client.listPrompts();
    expect(prompts.map(({ name }) => name)).not.toContain('test_prompt_with_image');
    const refused = expect.objectContaining({ message: expect.stringContaining('rule') });
    await expect(open.client.readResource({ uri: 'test://static-binary' })).rejects.toEqual(refused);
    await expect(open.client.getPrompt({ name: 'test_prompt_with_image' })).rejects.toEqual(refused);
    const ref = { type: 'ref/prompt' as const, name: 'test_prompt_with_image' };
    await expect(open.client.complete({ ref, argument: { name: 'x', value: '' } })).rejects.toEqual(refused);
  });

  it("passes on the server's notifications during a call", async () => {
    await using open = await connect(era);
    const notes: unknown[] = [];
    await open.client.callTool(
      { name: 'test_tool_with_progress', arguments: {} },
      { onprogress: (note) => notes.push(note) },
    );
    expect(notes.length).toBeGreaterThan(0);
  });
});

describe('one server shown 1:1', () => {
  it('sends its log messages to a legacy client, and takes its log level', async () => {
    await using open = await connect('legacy');
    const heard: unknown[] = [];
    open.client.setNotificationHandler('notifications/message', (note) => void heard.push(note));
    await open.client.setLoggingLevel('debug');
    await open.client.callTool({ name: 'test_tool_with_logging', arguments: {} });
    await expect.poll(() => heard.length).toBeGreaterThan(0);
  });

  it('puts its questions to the client', async () => {
    await using open = await connect('legacy', { sampling: {} });
    open.client.setRequestHandler('sampling/createMessage', async () => ({
      role: 'assistant' as const,
      model: 'm',
      content: { type: 'text' as const, text: 'forty-two' },
    }));
    const result = await open.client.callTool({ name: 'test_sampling', arguments: { prompt: 'What is it?' } });
    expect(JSON.stringify(result.content)).toContain('forty-two');
  });

  it('works over HTTP and tells listeners what changes', async () => {
    const served = await serveGatewayOnHttp(engine, { port: 0, surface: exposedSurface(engine, 'shown') });
    const client = sdkClient('modern');
    await client.connect(new StreamableHTTPClientTransport(new URL(served.url)) as never);
    expect((await client.listTools()).tools.length).toBeGreaterThan(3);
    const told = new Set<string>();
    for (const list of ['tools', 'prompts'] as const)
      client.setNotificationHandler(`notifications/${list}/list_changed`, () => void told.add(list));
    await client.listen({ toolsListChanged: true, promptsListChanged: true });
    for (const list of ['tool', 'prompt'])
      await client.callTool({ name: `test_trigger_${list}_change`, arguments: {} });
    await expect.poll(() => [...told].sort(), { timeout: 10_000 }).toEqual(['prompts', 'tools']);
    await client.close();
    await served.close();
  });

  it.each<Era>(['legacy', 'modern'])('says over HTTP why it cannot be shown to a %s client', async (era) => {
    const connection = { type: 'stdio', command: '/nonexistent/server' };
    await using down = engineWith({ servers: [{ name: 'down', connection }] });
    const served = await serveGatewayOnHttp(down, { port: 0, surface: exposedSurface(down, 'down') });
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const listing = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } };
    const { status, body } = await ask(served.url, {
      method: 'POST',
      headers: [
        ...JSON_HEADERS,
        ...(era === 'modern'
          ? [['MCP-Protocol-Version', '2026-07-28'] as const, ['Mcp-Method', 'tools/list'] as const]
          : []),
      ],
      body: JSON.stringify(era === 'modern' ? listing : INITIALIZE),
    });
    expect([status, JSON.parse(body).id, body]).toEqual([503, 1, expect.stringContaining('/nonexistent/server')]);
    await served.close();
  });

  it('relays only the changes of that server', () => {
    const told: string[] = [];
    let say: (server: string, method: string, params: Record<string, unknown>) => void = () => {};
    const connections = {
      onNotification: (listener: typeof say) => {
        say = listener;
        return () => {};
      },
    };
    const notify = {
      toolsChanged: () => told.push('tools'),
      promptsChanged: () => told.push('prompts'),
      resourcesChanged: () => told.push('resources'),
      resourceUpdated: (uri: string) => told.push(uri),
    };
    exposedSurface({ [CORE]: { connections } } as never, 'shown').relayChanges?.(notify, {});
    for (const what of ['tools', 'prompts', 'resources']) say('shown', `notifications/${what}/list_changed`, {});
    say('shown', 'notifications/resources/updated', { uri: 'file:///a' });
    say('shown', 'notifications/resources/updated', {});
    say('other', 'notifications/tools/list_changed', {});
    expect(told).toEqual(['tools', 'prompts', 'resources', 'file:///a']);
  });
});
