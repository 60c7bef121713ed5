import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Era,
  engineWith,
  jsonOf,
  rawClient,
  sdkClient,
  streamTransport,
  textOf,
} from '../../test/fixtures/gateway/kit.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import { META_TOOL_NAMES } from '../meta-tools/meta-tools.ts';
import { startTestServer, type TestServer } from '../testing/index.ts';
import { discoverySurface } from './discovery-surface.ts';
import { serveGatewayOnStdio } from './serve-stdio.ts';

const echoSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    tools: {
      echo: { description: 'Say it again', inputSchema: echoSchema, call: (args) => JSON.stringify(args) },
      erase: { description: 'Erase it', call: () => 'erased' },
      other: { call: () => 'other' },
    },
  });
});
afterAll(() => server.close());

async function connect(era: Era, config: object, profile?: string) {
  const pinned = ['words:e*', 'absent:x'];
  const servers = [{ name: 'words', connection: server.connection }];
  const toolRules = [{ pattern: ['erase'], enabled: false }];
  const engine: EngineCore = engineWith({ servers, toolRules, pinned, ...config });
  const { input, output } = rawClient();
  const served = serveGatewayOnStdio(engine, { input, output, surface: discoverySurface(engine, profile) });
  const client = sdkClient(era, {});
  await client.connect(streamTransport(input, output) as never);
  const names = async () => (await client.listTools()).tools.map(({ name }) => name);
  const close = async () => {
    await served.close();
    await engine.close();
  };
  return { client, engine, names, [Symbol.asyncDispose]: close };
}

describe.each<Era>(['legacy', 'modern'])('pinned tools, for a %s client', (era) => {
  it('are shown beside the five with their own schema, and are called directly', async () => {
    await using open = await connect(era, {});
    const { tools } = await open.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([...META_TOOL_NAMES, 'words__echo']);
    expect(tools.at(-1)).toMatchObject({ description: 'Say it again', inputSchema: echoSchema });
    const said = await open.client.callTool({ name: 'words__echo', arguments: { text: 'hello' } });
    expect(textOf(said as never)).toContain('hello');
  });

  it('take all steps of a call: rules, validation, suggestions', async () => {
    await using open = await connect(era, {});
    const wrong = await open.client.callTool({ name: 'words__echo', arguments: { text: 5 } });
    expect(jsonOf(wrong as never)).toMatchObject({ error: { code: 'TOOL_VALIDATION_ERROR' } });
    for (const name of ['words__erase', 'words__other', 'nothing'])
      expect(jsonOf((await open.client.callTool({ name, arguments: {} })) as never)).toMatchObject({
        error: { code: 'TOOL_NOT_FOUND' },
      });
  });

  it('of a profile replace those of the configuration, and are only what it may use', async () => {
    const profiles = {
      team: { pinned: ['words:*'], toolRules: [{ pattern: ['other'], enabled: false }] },
      none: { pinned: [] },
    };
    await using team = await connect(era, { profiles }, 'team');
    expect(await team.names()).toEqual([...META_TOOL_NAMES, 'words__echo']);
    expect(jsonOf((await team.client.callTool({ name: 'words__other', arguments: {} })) as never)).toMatchObject({
      error: { code: 'TOOL_NOT_FOUND' },
    });
    await using none = await connect(era, { profiles }, 'none');
    expect(await none.names()).toEqual([...META_TOOL_NAMES]);
  });
});
