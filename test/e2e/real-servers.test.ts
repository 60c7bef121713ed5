/**
 * Servers nobody here wrote, behind the gateway, driven by clients nobody here wrote: the same story for each client.
 * @module
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Evil, evil } from '../fixtures/evil.ts';
import {
  type Agent,
  type Answers,
  abilities,
  CLIENT_KINDS,
  connect,
  errorOf,
  type Result,
  serveArgs,
  serveHttp,
  textOf,
} from './gateway.ts';
import { Sandbox, until } from './sandbox.ts';
import { entry, everything, files, fixture, installed, memory, thinking } from './servers.ts';

const META_TOOLS = ['search_tools', 'get_tool_details', 'execute_tool', 'list_tools', 'list_mcp_servers'];

/** Longer than what one result may hold. */
const LONG = Array.from({ length: 10_000 }, (_, line) => `line ${line} 👋\n`).join('');

/** What the everything server says when nobody stands in between. */
let direct: { image: Result; weather: Result };

beforeAll(async () => {
  const client = new Client({ name: 'direct', version: '1' });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [installed('everything')], stderr: 'ignore' }),
  );
  direct = {
    image: (await client.callTool({ name: 'get-tiny-image' })) as Result,
    weather: (await client.callTool({ name: 'get-structured-content', arguments: { location: 'Chicago' } })) as Result,
  };
  await client.close();
});

describe.each(CLIENT_KINDS)('%s', (kind) => {
  const can = abilities(kind);
  let sandbox: Sandbox;
  let witness: Evil;
  let agent: Agent;
  let data: string;
  const asked: Record<string, unknown>[] = [];

  beforeAll(async () => {
    sandbox = new Sandbox();
    data = join(sandbox.folder, 'data');
    mkdirSync(data);
    writeFileSync(join(data, 'hello.txt'), 'Grüße aus der Datei 👋\n');
    writeFileSync(join(data, 'long.txt'), LONG);
    // A server that never answers `hang`, and keeps a journal of what it was told.
    witness = evil({
      era: 'legacy',
      tools: ['hang', 'echo'].map((name) => ({ name, inputSchema: { type: 'object' } })),
      on: [{ method: 'tools/call', tool: 'hang', do: [] }],
    });
    const config = sandbox.write({
      servers: [
        everything(),
        files(data),
        memory(join(sandbox.folder, 'memory.jsonl')),
        thinking(),
        entry('witness', witness.args),
        entry('modern', [fixture('connections/modern-stdio.mjs')]),
      ],
      toolRules: [{ pattern: ['write_file', '*delete*'], enabled: false }],
      limits: { result: 100_000 },
    });
    const answers: Answers = {
      elicitation: (params) => {
        asked.push(params);
        return { action: 'accept', content: { name: 'Ada', check: true, email: 'ada@example.org' } };
      },
      ...(can.samplingAndRoots && {
        sampling: (params) => {
          asked.push(params);
          return { role: 'assistant', model: 'e2e', content: { type: 'text', text: 'sampled by the client' } };
        },
        roots: () => [{ uri: pathToFileURL(data).href, name: 'data of the story' }],
      }),
    };
    const at = kind.endsWith('http') ? await serveHttp(sandbox, config) : serveArgs(config);
    agent = await connect(kind, sandbox, at, answers);
  });

  afterAll(async () => {
    await sandbox[Symbol.asyncDispose]();
    witness[Symbol.dispose]();
  });

  it('sees exactly the five meta-tools, in order', async () => {
    expect(await agent.toolNames()).toEqual(META_TOOLS);
  });

  it('lists the servers and the tools of each', async () => {
    const tools = async (server: string) =>
      ((await agent.ask('list_tools', { server })).tools as { name: string }[]).map(({ name }) => name);
    const names = ['everything', 'files', 'memory', 'modern', 'thinking', 'witness'];
    const [ofEverything, ofFiles, ofMemory, ofModern, ofThinking] = await Promise.all(names.map(tools));
    expect(ofEverything).toEqual(expect.arrayContaining(['echo', 'get-tiny-image']));
    expect(ofFiles).toEqual(expect.arrayContaining(['read_text_file', 'list_directory']));
    expect(ofMemory).toEqual(expect.arrayContaining(['create_entities', 'read_graph']));
    expect(ofModern).toEqual(['ask', 'echo']);
    expect(ofThinking).toEqual(['sequentialthinking']);
    const { servers } = (await agent.ask('list_mcp_servers')) as { servers: { name: string; status: string }[] };
    expect(servers.map(({ name }) => name).sort()).toEqual(names);
    expect(servers.find(({ name }) => name === 'memory')).toMatchObject({
      status: 'connected',
      toolCount: 6,
      disabledCount: 3,
    });
  });

  it('finds tools by what they do, wherever they are', async () => {
    const first = async (query: string) => {
      const { results } = (await agent.ask('search_tools', { query })) as {
        results: { server: string; tool: string }[];
      };
      return results.slice(0, 3).map(({ server, tool }) => `${server}:${tool}`);
    };
    expect(await first('echo back a message')).toContain('everything:echo');
    expect(await first('read the contents of a text file')).toContain('files:read_text_file');
    expect(await first('create entities in the knowledge graph')).toContain('memory:create_entities');
    expect(await first('think through a problem step by step')).toContain('thinking:sequentialthinking');
  });

  it('describes a tool', async () => {
    const details = await agent.ask('get_tool_details', { server: 'everything', tool: 'get-sum' });
    expect(details).toMatchObject({ server: 'everything', tool: 'get-sum' });
    expect(JSON.stringify(details.parameters)).toMatch(/"a".*number/);
  });

  it('calls tools of four servers and gets what they said', async () => {
    expect((await agent.execute('everything', 'echo', { message: 'hi „there“ 👋' })).content).toEqual([
      { type: 'text', text: 'Echo: hi „there“ 👋' },
    ]);
    const file = await agent.execute('files', 'read_text_file', { path: join(data, 'hello.txt') });
    expect(textOf(file)).toBe('Grüße aus der Datei 👋\n');
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['wrote the first program'] }];
    expect((await agent.execute('memory', 'create_entities', { entities })).isError).toBeFalsy();
    expect((await agent.execute('memory', 'read_graph')).structuredContent).toMatchObject({ entities });
    const thought = { thought: 'first', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };
    expect((await agent.execute('thinking', 'sequentialthinking', thought)).structuredContent).toMatchObject({
      thoughtNumber: 1,
    });
  });

  it('gets images and structured content as the server sent them', async () => {
    expect((await agent.execute('everything', 'get-tiny-image')).content).toEqual(direct.image.content);
    const weather = await agent.execute('everything', 'get-structured-content', { location: 'Chicago' });
    expect(weather.structuredContent).toEqual(direct.weather.structuredContent);
    expect(weather.content).toEqual(direct.weather.content);
  });

  it.runIf(can.progress)('hears progress in order, all of it before the result', async () => {
    const heard: number[] = [];
    const before = agent.wire.length;
    const result = await agent.execute(
      'everything',
      'trigger-long-running-operation',
      { duration: 0.4, steps: 4 },
      { onProgress: ({ progress }) => heard.push(progress) },
    );
    expect(textOf(result)).toContain('completed');
    const wire = agent.wire.slice(before);
    // A client of 2026-07-28 may be asked for its roots in between; the last answer is the result.
    const end = wire.findLastIndex(({ method }) => method === undefined);
    const notes = wire
      .slice(0, end)
      .flatMap(({ method, params }) => (method === 'notifications/progress' ? [Number(params?.progress)] : []));
    // On a busy machine notes may be put together, but never out of order, and the last one is never lost.
    expect(notes.at(-1)).toBe(4);
    expect(notes).toEqual([...new Set(notes)].sort((a, b) => a - b));
    expect(wire.slice(end).filter(({ method }) => method === 'notifications/progress')).toEqual([]);
    expect(heard).toEqual(expect.arrayContaining(notes.slice(0, -1)));
  });

  it.runIf(can.cancel)('cancels a call, and the server is told', async () => {
    const stop = new AbortController();
    const before = witness.received('notifications/cancelled').length;
    const calls = witness.received('tools/call').length;
    const call = agent.execute('witness', 'hang', {}, { signal: stop.signal });
    const ended = expect(call).rejects.toThrow();
    await until('the server has the call', () => witness.received('tools/call').length > calls);
    stop.abort('enough');
    await ended;
    const notes = await until('the server hears of it', () => {
      const all = witness.received('notifications/cancelled');
      return all.length > before && all;
    });
    // With the id under which the server knows the call.
    expect(notes.at(-1)?.frame?.params?.requestId).toBe(witness.received('tools/call').at(-1)?.frame?.id);
    expect(textOf(await agent.execute('witness', 'echo', { text: 'still there' }))).toBe('still there');
    const records = () =>
      readFileSync(join(sandbox.home, 'audit', 'audit.jsonl'), 'utf8')
        .split('\n')
        .filter((line) => line.includes('"hang"'));
    await until('it is in the audit log', () => records().length > 0);
    expect(records().map((line) => JSON.parse(line).outcome)).toEqual(['cancelled']);
  });

  it('reads a result that is too long for one answer page by page, as the result says', async () => {
    let answer = await agent.execute('files', 'read_text_file', { path: join(data, 'long.txt') });
    let text = '';
    for (let page = 1; ; page++) {
      expect(page).toBeLessThan(20);
      const mark = String(answer.content.at(-1)?.text);
      text += answer.content
        .slice(0, -1)
        .map((block) => block.text)
        .join('');
      const how = /server "(.+?)", tool "(.+?)", arguments (\{.+?\})/.exec(mark);
      if (how === null) break;
      answer = await agent.execute(String(how[1]), String(how[2]), JSON.parse(String(how[3])));
    }
    expect(text.startsWith(LONG)).toBe(true);
  });

  it('answers the questions of an old and of a new server', async () => {
    asked.length = 0;
    const old = await agent.execute('everything', 'trigger-elicitation-request');
    expect(JSON.stringify(old.content)).toContain('Ada');
    const modern = await agent.execute('modern', 'ask');
    expect(JSON.parse(textOf(modern))).toMatchObject({ action: 'accept', content: { name: 'Ada' } });
    expect(asked.map(({ message }) => message)).toEqual(['Please provide inputs for the following fields:', 'Who?']);
  });

  it.runIf(can.samplingAndRoots)('samples for a server and shows it its roots', async () => {
    const sampled = await agent.execute('everything', 'trigger-sampling-request', { prompt: 'hello' });
    expect(textOf(sampled)).toContain('sampled by the client');
    expect(textOf(await agent.execute('everything', 'get-roots-list'))).toContain('data of the story');
  });

  it('is told what is wrong with a call, in a way that lets it mend the call', async () => {
    expect(errorOf(await agent.execute('everythin', 'echo'))).toMatchObject({
      code: 'SERVER_NOT_FOUND',
      suggestions: expect.arrayContaining([expect.stringContaining('everything')]),
    });
    expect(errorOf(await agent.execute('everything', 'ecko'))).toMatchObject({
      code: 'TOOL_NOT_FOUND',
      suggestions: expect.arrayContaining([expect.stringContaining('echo')]),
    });
    const bad = errorOf(await agent.execute('everything', 'get-sum', { a: 'one', b: 2 }));
    expect(bad).toMatchObject({ code: 'TOOL_VALIDATION_ERROR', outcome: 'not_sent' });
    expect(bad.message).toMatch(/\ba\b.*number/);
    expect(bad.schema).toBeDefined();
    expect(textOf(await agent.execute('everything', 'get-sum', { a: 1, b: 2 }))).toContain('3');
  });

  it('cannot see, describe or call a disabled tool', async () => {
    const { tools } = (await agent.ask('list_tools', { server: 'memory' })) as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).not.toContain('delete_entities');
    const { results } = await agent.ask('search_tools', { query: 'delete_entities' });
    expect(JSON.stringify(results ?? [])).not.toContain('delete_entities');
    for (const name of ['get_tool_details', 'execute_tool'])
      expect(
        errorOf(await agent.call(name, { server: 'memory', tool: 'delete_entities', arguments: { entityNames: [] } })),
      ).toMatchObject({ code: 'TOOL_DISABLED' });
    const path = join(data, 'never.txt');
    expect(errorOf(await agent.execute('files', 'write_file', { path, content: 'x' })).code).toBe('TOOL_DISABLED');
  });

  it('a secret reaches the server it was meant for, and a key of ours does not', async () => {
    // The end of the story looks for it everywhere else: messages, stderr, cache, audit.
    const environment = JSON.parse(textOf(await agent.execute('everything', 'get-env', {}, { secret: true })));
    expect(environment).toMatchObject({ TOKEN: sandbox.canary });
    expect(Object.keys(environment)).not.toContain('OPENAI_API_KEY');
    expect(Object.keys(environment)).not.toContain('ANYGPT_HOME');
  });
});
