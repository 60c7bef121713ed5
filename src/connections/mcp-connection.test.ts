import { getEventListeners } from 'node:events';
import { InMemoryTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import {
  LIMITS,
  local,
  openOptions,
  remote,
  script,
  sdkServer,
  toolCall,
} from '../../test/fixtures/connections/harness.ts';
import { type EvilScenario, evil, evilHttp } from '../../test/fixtures/evil.ts';
import type { Progress, ServerDefinition, ServerRequest } from '../core/types.ts';
import type { ServerIdentity } from './handshake.ts';
import { JsonRpcError, type JsonRpcMessage, type Wire } from './json-rpc.ts';
import { McpConnection } from './mcp-connection.ts';
import { openConnection } from './open-connection.ts';
import type { OpenOptions } from './open-options.ts';
import { Peer } from './peer.ts';

async function open(definition: ServerDefinition, options: Partial<OpenOptions> = {}) {
  const { connection } = await openConnection(definition, openOptions(options));
  return { connection, [Symbol.asyncDispose]: () => connection.close() };
}

/** A connection to an evil server over stdio. */
async function openEvil(scenario: EvilScenario, options: Partial<OpenOptions> = {}) {
  const server = evil(scenario);
  const { connection } = await openConnection(local(server.command, server.args), openOptions(options));
  return {
    server,
    connection,
    [Symbol.asyncDispose]: async () => {
      await connection.close();
      server[Symbol.dispose]();
    },
  };
}

type Answer = (message: JsonRpcMessage, round: number) => object;

/** A connection whose server is a function. */
async function inMemory(era: 'modern' | 'legacy', answer: Answer, limits: Partial<typeof LIMITS> = {}) {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const other = far as unknown as Wire;
  const received: JsonRpcMessage[] = [];
  other.onmessage = (message) => {
    if (message.id === undefined) return;
    received.push(message);
    void other.send({ jsonrpc: '2.0', id: message.id, ...answer(message, received.length) });
  };
  const peer = new Peer(near as unknown as Wire);
  if (era === 'modern') peer.envelope = { version: '2026-07-28' };
  await other.start();
  await peer.start();
  const identity: ServerIdentity = {
    era,
    protocolVersion: '',
    capabilities: {},
    serverInfo: {},
    instructions: undefined,
  };
  const connection = new McpConnection({
    mayAsk: false,
    server: 's',
    isLocal: false,
    sendsHeaders: true,
    peer,
    identity,
    limits: { ...LIMITS, ...limits },
    obituary: () => undefined,
    log: () => 'log',
  });
  return { connection, received, far };
}

const asking = (inputRequests: object, requestState?: string) => ({
  result: { resultType: 'input_required', inputRequests, ...(requestState && { requestState }) },
});
const question = (message: string) => ({ method: 'elicitation/create', params: { message } });

describe('listing', () => {
  it('reads all pages of a real server and keeps good tools beside bad ones', async () => {
    await using opened = await openEvil({
      pageSize: 2,
      tools: [
        { name: 'a', inputSchema: { type: 'object' }, description: null },
        { name: 'b', inputSchema: null },
        { name: '', inputSchema: {} },
        { name: 'c', inputSchema: { type: 'object' }, outputSchema: [1] },
        { name: '__proto__', inputSchema: {} },
      ],
    });
    const list = await opened.connection.listTools();
    expect(list.tools.map(({ name }) => name)).toEqual(['a', 'c', '__proto__']);
    expect(list.skipped).toHaveLength(2);
    expect(await opened.connection.getTool('__proto__')).toMatchObject({ name: '__proto__' });
    expect(await opened.connection.getTool('constructor')).toBeUndefined();
    expect(opened.server.received('tools/list')).toHaveLength(3);
  });

  it.each([
    ['same', 2, /repeated/],
    ['fresh', 5, /more than 5 pages/],
    ['empty', 2, undefined],
    ['null', 3, undefined],
  ] as const)('ends with cursors of the kind "%s" after %i pages', async (cursors, pages, incomplete) => {
    await using opened = await openEvil(
      { cursors, pageSize: 1, tools: { count: 3 } },
      { limits: { ...LIMITS, pages: 5 } },
    );
    const list = await opened.connection.listTools();
    expect(opened.server.received('tools/list')).toHaveLength(pages);
    if (incomplete) expect(list.incomplete).toMatch(incomplete);
    else expect(list.incomplete).toBeUndefined();
  });

  it('looks a tool up without being asked to list first', async () => {
    await using opened = await openEvil({});
    expect(await opened.connection.getTool('echo')).toMatchObject({ name: 'echo' });
    expect(await opened.connection.listToolMetadata()).toHaveLength(1);
  });

  it('takes "method not found" for a server without tools', async () => {
    const { connection } = await inMemory('legacy', () => ({ error: { code: -32601, message: 'no' } }));
    expect(await connection.listTools()).toEqual({ tools: [], skipped: [], incomplete: undefined });
  });

  it('says what the server said when it cannot list', async () => {
    const { connection } = await inMemory('legacy', () => ({ error: { code: -32603, message: 'database down' } }));
    await expect(connection.listTools()).rejects.toMatchObject({
      code: 'SERVER_CONNECTION_ERROR',
      message: 's could not list its tools: database down.',
    });
  });

  it('gives up on a page, and on the whole list, in time', async () => {
    await using opened = await openEvil(
      { on: [{ method: 'tools/list', do: [] }] },
      { limits: { ...LIMITS, listPageMs: 50 } },
    );
    await expect(opened.connection.listTools()).rejects.toMatchObject({
      code: 'SERVER_CONNECTION_ERROR',
      message: 'local did not list its tools within 0.05 s.',
    });
    let page = 0;
    const { connection } = await inMemory('legacy', () => ({ result: { tools: [], nextCursor: `c${page++}` } }), {
      listMs: 40,
      pages: 1e9,
    });
    await expect(connection.listTools()).rejects.toThrow('within 0.04 s');
  });

  it('leaves nothing behind on a signal that lives long', async () => {
    const { connection } = await inMemory('legacy', () => ({ result: { tools: [] } }));
    const controller = new AbortController();
    for (let i = 0; i < 20; i++) await connection.listTools({ signal: controller.signal });
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    controller.abort(new Error('enough'));
    await expect(connection.listTools({ signal: controller.signal })).rejects.toThrow('enough');
  });
});

describe('calling', () => {
  it('returns what the server returned, unknown fields and all', async () => {
    const result = {
      content: [{ type: 'odd', x: 1 }],
      structuredContent: [1],
      isError: true,
      _meta: { m: 1 },
      extra: 0,
    };
    await using opened = await openEvil({ on: [{ method: 'tools/call', do: [{ result }] }] });
    expect(await opened.connection.callTool(...toolCall('echo'))).toEqual(result);
  });

  it('hands progress on, in order and before the result, with a token of ours', async () => {
    const note = (progress: number) => ({
      notify: {
        method: 'notifications/progress',
        params: { progressToken: '$progressToken', progress, total: 2, message: 'm' },
      },
    });
    await using opened = await openEvil({ on: [{ method: 'tools/call', do: [note(1), note(2), { default: true }] }] });
    const notes: Progress[] = [];
    const meta = { progressToken: 'theirs', traceparent: 't' };
    await opened.connection.callTool(...toolCall('echo', {}, { meta, onProgress: (progress) => notes.push(progress) }));
    expect(notes).toEqual([1, 2].map((progress) => ({ progress, total: 2, message: 'm' })));
    const [call] = opened.server.received('tools/call');
    expect(call?.frame?.params?._meta).toEqual({ traceparent: 't', progressToken: call?.frame?.id });
  });

  it('tells a server over stdio at once that a call was cancelled, with our id', async () => {
    await using opened = await openEvil({ on: [{ method: 'tools/call', do: [{ delay: 100 }, { default: true }] }] });
    const controller = new AbortController();
    const call = opened.connection.callTool(...toolCall('echo', {}, { signal: controller.signal }));
    await expect.poll(() => opened.server.received('tools/call').length).toBe(1);
    controller.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    const [sent] = opened.server.received('tools/call');
    const told = () => opened.server.received('notifications/cancelled').map(({ frame }) => frame?.params?.requestId);
    await expect.poll(told, { timeout: 200, interval: 10 }).toEqual([sent?.frame?.id]);
    expect(await opened.connection.callTool(...toolCall('echo', { text: 'next' }))).toMatchObject({ content: [{}] });
  });

  it.each([
    ['Unknown tool: x', -32602, 'TOOL_NOT_FOUND'],
    ['Tool x not found', -32602, 'TOOL_NOT_FOUND'],
    ['MCP error -32602: Tool x not found', -32602, 'TOOL_NOT_FOUND'],
    ['Invalid arguments for tool x', -32602, 'TOOL_EXECUTION_ERROR'],
    ['tool '.repeat(100_000), -32602, 'TOOL_EXECUTION_ERROR'],
    ['Unknown tool', -32603, 'TOOL_EXECUTION_ERROR'],
  ])('understands the error answer %.40s (%i) as %s', async (message, code, expected) => {
    const { connection } = await inMemory('legacy', () => ({ error: { code, message } }));
    const before = performance.now();
    const error = await connection.callTool(...toolCall('x')).catch((thrown) => thrown);
    expect(performance.now() - before).toBeLessThan(2_000);
    expect(error).toMatchObject({ code: expected, details: { server: 'local', tool: 'x' } });
    expect(error.message.length).toBeLessThanOrEqual(4096);
    if (expected === 'TOOL_EXECUTION_ERROR') {
      expect(error).toMatchObject({ details: { outcome: 'failed' }, cause: expect.any(JsonRpcError) });
    }
  });

  it('does not know what became of a call whose server died, and knows that the next was not sent', async () => {
    await using opened = await openEvil({ on: [{ method: 'tools/call', do: [{ stderr: 'ouch' }, { exit: 9 }] }] });
    await expect(opened.connection.callTool(...toolCall('echo'))).rejects.toMatchObject({
      code: 'SERVER_CONNECTION_ERROR',
      message: 'local ended before it answered (exited with code 9).',
      // The retry step decides by both whether to call again.
      details: { server: 'local', outcome: 'unknown', retryable: true },
    });
    expect(opened.connection.closed).toBe(true);
    expect(opened.connection.log).toBe('ouch');
    await expect(opened.connection.callTool(...toolCall('echo'))).rejects.toMatchObject({
      code: 'SERVER_CONNECTION_ERROR',
      details: { outcome: 'not_sent' },
    });
    expect(opened.server.received('tools/call')).toHaveLength(1);
  });

  it('fails only the call whose answer is nested too deep', async () => {
    const deep = '['.repeat(300) + ']'.repeat(300);
    await using opened = await openEvil({
      on: [
        { method: 'tools/call', nth: 1, do: [{ delay: 100 }, { default: true }] },
        {
          method: 'tools/call',
          nth: 2,
          do: [{ frame: { jsonrpc: '2.0', id: '$id', result: { content: [], structuredContent: JSON.parse(deep) } } }],
        },
      ],
    });
    const other = opened.connection.callTool(...toolCall('echo', { text: 'x' }));
    const failed = opened.connection.callTool(...toolCall('echo'));
    await expect(failed).rejects.toMatchObject({
      code: 'TOOL_EXECUTION_ERROR',
      message: expect.stringContaining('failed to read'),
      details: { outcome: 'unknown' },
    });
    await expect(failed.catch((error) => error.toInfo())).resolves.toMatchObject({ retryable: false });
    expect(await other).toMatchObject({ content: [{}] });
  });

  it('survives a listener that throws, and others hear what it heard', async () => {
    const heard: string[] = [];
    const notify = { method: 'notifications/tools/list_changed' };
    await using opened = await openEvil(
      { on: [{ method: 'tools/call', do: [{ notify }, { default: true }] }] },
      { onNotification: (method) => heard.push(method) },
    );
    opened.connection.onNotification = () => {
      throw new Error('a bug of theirs');
    };
    expect(await opened.connection.callTool(...toolCall('echo', { text: 'x' }))).toMatchObject({ content: [{}] });
    expect(heard).toEqual([notify.method]);
  });

  it('says that endlessly nested arguments were not sent', async () => {
    await using opened = await openEvil({});
    const a = JSON.parse('['.repeat(200_000) + ']'.repeat(200_000));
    await expect(opened.connection.callTool(...toolCall('echo', { a }))).rejects.toMatchObject({
      code: 'TOOL_VALIDATION_ERROR',
      details: { outcome: 'not_sent' },
    });
    expect(opened.server.received('tools/call')).toHaveLength(0);
  });

  it('says that a server which reads nothing is busy, and that the call was not sent', async () => {
    const reader = `let heard = ''; process.stdin.on('data', (chunk) => {
      heard += chunk;
      if (!heard.includes('initialized')) {
        const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'deaf', version: '1' } };
        return process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: 1, result }) + '\\n');
      }
      process.stdin.pause(); setInterval(() => {}, 1000);
    })`;
    const limits = { ...LIMITS, messageBytes: 200_000 };
    const { connection } = await openConnection(local(process.execPath, ['-e', reader]), openOptions({ limits }));
    const call = () => connection.callTool(...toolCall('echo', { text: 'x'.repeat(150_000) }));
    const calls = Array.from({ length: 8 }, () => call().catch((error) => error));
    expect(await calls.at(-1)).toMatchObject({ code: 'SERVER_BUSY', details: { outcome: 'not_sent' } });
    await connection.close();
    expect(await calls[0]).toMatchObject({ code: 'SERVER_CONNECTION_ERROR', details: { outcome: 'unknown' } });
  });

  it('fails only the call whose answer was too large when that can be told', async () => {
    await using opened = await openEvil(
      {
        on: [
          { method: 'tools/call', nth: 1, do: [{ delay: 50 }, { default: true }] },
          { method: 'tools/call', nth: 2, do: [{ big: 20_000 }] },
        ],
      },
      { limits: { ...LIMITS, messageBytes: 10_000 } },
    );
    const slow = opened.connection.callTool(...toolCall('echo', { text: 'slow' }));
    await expect(opened.connection.callTool(...toolCall('echo'))).rejects.toMatchObject({ code: 'RESULT_TOO_LARGE' });
    expect(await slow).toMatchObject({ content: [{}] });
    expect(await opened.connection.callTool(...toolCall('echo'))).toMatchObject({ content: [{}] });
  });

  it('ignores an answer that is too large and no longer awaited', async () => {
    await using opened = await openEvil(
      { on: [{ method: 'tools/call', nth: 1, do: [{ delay: 50 }, { big: 20_000 }] }] },
      { limits: { ...LIMITS, messageBytes: 10_000 } },
    );
    const signal = AbortSignal.timeout(20);
    await expect(opened.connection.callTool(...toolCall('echo', {}, { signal }))).rejects.toThrow(/timeout/);
    await expect.poll(() => opened.server.received('notifications/cancelled').length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(await opened.connection.callTool(...toolCall('echo'))).toMatchObject({ content: [{}] });
  });

  describe('after a message too large that does not say what it answers', () => {
    const limits = { ...LIMITS, messageBytes: 10_000 };

    it.each(['legacy', 'modern'] as const)(
      'tells the one who waits for a %s server that it was too large',
      async (era) => {
        await using opened = await openEvil(
          { era, on: [{ method: 'tools/call', do: [{ fill: 30_000 }] }] },
          { limits },
        );
        // Stays open all the time, and nobody waits for it.
        opened.connection.subscribe({ toolsListChanged: true });
        const call = () => opened.connection.callTool(...toolCall('echo'));
        await expect(call()).rejects.toMatchObject({
          code: 'RESULT_TOO_LARGE',
          message: 'local sent a message of more than 10000 bytes.',
          details: { outcome: 'unknown' },
        });
        await expect(call()).rejects.toMatchObject({
          message:
            'local is gone: it sent a message of more than 10000 bytes and did not say which request that answers.',
          details: { outcome: 'not_sent' },
        });
      },
    );

    it('tells several callers that the server ended, blames none of them, and leaves none hanging', async () => {
      const fill = { method: 'tools/call', nth: 2, do: [{ fill: 30_000 }] };
      await using opened = await openEvil({ on: [{ method: 'tools/call', nth: 1, do: [] }, fill] }, { limits });
      const calls = await Promise.allSettled([1, 2].map(() => opened.connection.callTool(...toolCall('echo'))));
      for (const call of calls)
        expect(call).toMatchObject({
          reason: {
            code: 'SERVER_CONNECTION_ERROR',
            message: expect.stringMatching(
              /^local ended before it answered \(it sent a message of more than 10000 bytes/,
            ),
            details: { outcome: 'unknown', retryable: true },
          },
        });
    });
  });
});

describe('a server of protocol 2026-07-28', () => {
  it('has its questions answered by the caller, in a real conversation', async () => {
    await using opened = await open(script('modern-stdio.mjs'));
    const asked: ServerRequest[] = [];
    const ask = async (request: ServerRequest) => {
      asked.push(request);
      return { action: 'accept', content: { name: 'Ada' } };
    };
    const capabilities = { elicitation: { form: {} } };
    const result = await opened.connection.callTool(...toolCall('ask', {}, { caller: { ask, capabilities } }));
    expect(JSON.stringify(result)).toContain('Ada');
    expect(asked).toMatchObject([{ method: 'elicitation/create', params: { message: 'Who?' } }]);
  });

  it('has its questions handed on to a caller that understands them, and gets the answers verbatim', async () => {
    await using opened = await open(script('modern-stdio.mjs'));
    const caller = { acceptsInputRequired: true, capabilities: { elicitation: { form: {} } } };
    const first = await opened.connection.callTool(...toolCall('ask', {}, { caller }));
    expect(first).toMatchObject({ resultType: 'input_required', requestState: 'state-1', inputRequests: { who: {} } });
    const inputResponses = { who: { action: 'accept', content: { name: 'Bob' } } };
    const second = await opened.connection.callTool(
      ...toolCall('ask', {}, { caller, inputResponses, requestState: 'state-1' }),
    );
    expect(JSON.stringify(second)).toContain('Bob');
    expect(second).not.toHaveProperty('resultType');
  });

  it('is told what the caller can do, and nothing of a caller that cannot be asked', async () => {
    const { connection, received } = await inMemory('modern', () => ({
      result: { resultType: 'complete', content: [] },
    }));
    const capabilities = { elicitation: {} };
    expect(
      await connection.callTool(...toolCall('x', {}, { caller: { capabilities, acceptsInputRequired: true } })),
    ).toEqual({
      content: [],
    });
    await connection.callTool(...toolCall('x', {}, { caller: { capabilities } }));
    const key = 'io.modelcontextprotocol/clientCapabilities';
    expect(received.map(({ params = {} }) => (params._meta as Record<string, unknown>)[key])).toEqual([
      capabilities,
      {},
    ]);
  });

  it('gets each new state with the answers, and no old one', async () => {
    const { connection, received } = await inMemory('modern', (_, round) =>
      round === 1
        ? asking({ a: question('1') }, 's1')
        : round === 2
          ? asking(JSON.parse('{"__proto__": {"method": "roots/list"}, "odd": 5}'))
          : { result: { content: [] } },
    );
    await connection.callTool(...toolCall('x', {}, { caller: { ask: async ({ method }) => ({ method }) } }));
    expect(received[1]?.params).toMatchObject({
      requestState: 's1',
      inputResponses: { a: { method: 'elicitation/create' } },
    });
    expect(received[2]?.params).not.toHaveProperty('requestState');
    expect(JSON.stringify(received[2]?.params?.inputResponses)).toBe('{"__proto__":{"method":"roots/list"}}');
  });

  it.each([
    ['cannot be asked', {}, asking({ a: question('?') }), /cannot be asked/],
    ['is asked for ever', { ask: async () => ({}) }, asking({ a: question('?') }), /more than 10 times/],
    [
      'is asked too much at once',
      { ask: async () => ({}) },
      asking(Object.fromEntries(Array.from({ length: 17 }, (_, n) => [n, question('?')]))),
      /17 questions at once/,
    ],
    [
      'fails to answer',
      { ask: () => Promise.reject(new Error('window closed')) },
      asking({ a: question('?') }),
      /elicitation\/create, which failed: window closed/,
    ],
  ])('fails for a caller that %s', async (_, caller, answer, message) => {
    const { connection } = await inMemory('modern', () => answer);
    const error = await connection.callTool(...toolCall('x', {}, { caller })).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'TOOL_EXECUTION_ERROR' });
    expect(error.message).toMatch(message);
  });

  it.each(['http', 'sse'] as const)(
    'gets arguments as headers where its tools ask for that, in HTTP (%s)',
    async (type) => {
      const tools = [
        {
          name: 'where',
          inputSchema: {
            type: 'object',
            properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, note: { type: 'string' } },
          },
        },
      ];
      const seen: (string | null)[] = [];
      await using server = await sdkServer({
        tools,
        seen: ({ headers }) => {
          if (headers.get('mcp-method') === 'tools/call') seen.push(headers.get('mcp-param-region'));
        },
      });
      // An entry may still name the legacy transport that its server had before.
      const withoutSse: typeof fetch = async (input, init) =>
        init?.method === 'POST' ? fetch(input, init) : new Response(null, { status: 405 });
      await using opened = await open(remote(server.url, { type }), { fetch: withoutSse });
      const { tools: listed } = await opened.connection.listTools();
      const args = { region: 'eu-wést', note: 'n' };
      const definition = listed[0];
      expect(await opened.connection.callTool(...toolCall('where', args, { definition }))).toMatchObject({
        content: [{ text: JSON.stringify(args) }],
      });
      // The list it has read is enough.
      await opened.connection.callTool(...toolCall('where', { region: 'eu' }));
      expect(seen).toEqual([`=?base64?${Buffer.from('eu-wést').toString('base64')}?=`, 'eu']);
    },
  );

  it('tells of changes once asked to, and one of the old protocol is not asked', async () => {
    for (const era of ['modern', 'legacy'] as const) {
      await using server = await evilHttp({
        era,
        on: [
          {
            method: 'tools/call',
            do: [{ broadcast: { method: 'notifications/tools/list_changed' } }, { default: true }],
          },
        ],
      });
      const heard: string[] = [];
      await using opened = await open(remote(`${server.origin}/mcp`), {
        onNotification: (method) => heard.push(method),
      });
      opened.connection.subscribe({ toolsListChanged: true });
      const asked = () => server.received('subscriptions/listen').length;
      await expect.poll(asked).toBe(era === 'modern' ? 1 : 0);
      if (era === 'legacy') continue;
      await expect.poll(() => heard).toContain('notifications/subscriptions/acknowledged');
      await opened.connection.callTool(...toolCall('echo'));
      await expect.poll(() => heard).toContain('notifications/tools/list_changed');
    }
  });
});

describe('a server of the old protocol', () => {
  it('gets its questions answered by the caller that is set, or refused if none is', async () => {
    const ask = { request: { method: 'elicitation/create', params: { message: 'Who?' } }, await: true };
    await using opened = await openEvil({
      era: 'legacy',
      on: [{ method: 'tools/call', do: [ask, { default: true }] }],
    });
    await opened.connection.callTool(...toolCall('echo'));
    opened.connection.asker = async ({ method }) => ({ action: 'accept', content: { method } });
    await opened.connection.callTool(...toolCall('echo'));
    const answers = opened.server.journal().filter(({ frame }) => frame && !frame.method);
    expect(answers.map(({ frame }) => frame?.error ?? frame?.result)).toMatchObject([
      { code: -32601 },
      { action: 'accept', content: { method: 'elicitation/create' } },
    ]);
  });
});

it('never crosses answers of two clients that use the same numbers, in 2,000 calls with random delays', async () => {
  await using opened = await open(script('eliciting.mjs'));
  let crossed = 0;
  const calls = Array.from({ length: 2000 }, async (_, n) => {
    const { structuredContent } = await opened.connection.callTool(
      ...toolCall('wait', { marker: n }, { meta: { progressToken: 1 }, onProgress: () => {} }),
    );
    if ((structuredContent as { marker: number }).marker !== n) crossed++;
  });
  await Promise.all(calls);
  expect(crossed).toBe(0);
});
