import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { EngineCore } from '../engine/engine-core.ts';
import { startTestServer, type TestServer } from './index.ts';

const home = mkdtempSync(join(tmpdir(), 'testing-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const engineFor = (server: TestServer) =>
  new EngineCore(
    { cache: { enabled: false }, servers: [{ name: 'greeter', connection: server.connection }] },
    { env: { ANYGPT_HOME: home } },
  );

describe('startTestServer', () => {
  it('serves tools that an engine finds and calls', async () => {
    await using server = await startTestServer({
      title: 'Greeter',
      instructions: 'Greets people.',
      tools: {
        greet: {
          description: 'Greet a person by name',
          inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
          annotations: { readOnlyHint: true },
          call: ({ name }) => `Hello, ${name}!`,
        },
        whole: {
          outputSchema: { type: 'object' },
          call: () => ({ content: [], structuredContent: { a: 1 } }),
        },
        nothing: { call: () => undefined },
        broken: {
          call: () => {
            throw new Error('out of order');
          },
        },
      },
    });
    await using engine = engineFor(server);

    const [hit] = await engine.searchTools('greet a person');
    expect(hit).toMatchObject({ server: 'greeter', tool: 'greet' });
    expect(await engine.executeTool('greeter', 'greet', { name: 'Ada' })).toMatchObject({
      result: { content: [{ type: 'text', text: 'Hello, Ada!' }] },
    });
    expect(await engine.executeTool('greeter', 'whole', {})).toMatchObject({
      result: { structuredContent: { a: 1 } },
    });
    expect(await engine.executeTool('greeter', 'nothing', {})).toMatchObject({
      result: { content: [{ type: 'text', text: '' }] },
    });
    expect(await engine.executeTool('greeter', 'broken', {})).toMatchObject({
      result: { isError: true, content: [{ text: 'out of order' }] },
    });
    expect(server.calls.map(({ tool }) => tool)).toEqual(['greet', 'whole', 'nothing', 'broken']);
    expect((await engine.listServers())[0]?.description).toBe('Greeter');
  });

  it('sends progress to callers that want it', async () => {
    await using server = await startTestServer({
      tools: {
        count: {
          call: async (_args, { progress }) => {
            await progress(1, 2, 'half way');
            return 'done';
          },
        },
      },
    });
    await using engine = engineFor(server);
    const seen: unknown[] = [];
    await engine.call({ server: 'greeter', tool: 'count', onProgress: (note) => seen.push(note) });
    expect(seen).toEqual([{ progress: 1, total: 2, message: 'half way' }]);
    expect(await engine.executeTool('greeter', 'count')).toMatchObject({ success: true });
  });

  it('tells clients when its tools change', async () => {
    await using server = await startTestServer({ tools: { before: { call: () => 'b' } } });
    await using engine = engineFor(server);
    const subscribed = new Promise((resolve) => engine.connections.onNotification(resolve));
    expect((await engine.listTools('greeter')).map(({ name }) => name)).toEqual(['before']);
    await subscribed;
    server.setTools({ after: { call: () => 'a' } });
    await expect
      .poll(async () => (await engine.listTools('greeter')).map(({ name }) => name), { timeout: 10_000 })
      .toEqual(['after']);
  });
});
