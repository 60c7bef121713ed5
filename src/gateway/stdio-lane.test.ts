import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type Message, type RawClient, rawClient } from '../../test/fixtures/gateway/kit.ts';
import { toAbortSignal } from '../async/cancellation.ts';
import { META, MODERN_VERSION } from '../connections/handshake.ts';
import { JsonRpcError } from '../connections/json-rpc.ts';
import { StdioLane, type StdioLaneOptions } from './stdio-lane.ts';
import type { UpstreamCall, UpstreamHandler } from './upstream.ts';

const ENVELOPE = {
  [META.protocolVersion]: MODERN_VERSION,
  [META.clientInfo]: { name: 'test', version: '0' },
  [META.clientCapabilities]: { elicitation: {} },
};
const echo: UpstreamHandler = async ({ params }) => ({ content: [{ type: 'text', text: String(params.name) }] });

interface Lane {
  readonly client: RawClient;
  readonly lane: StdioLane;
  /** What the lane left to the SDK. */
  readonly forwarded: Message[];
  readonly ended: () => number;
}

async function open(handler: UpstreamHandler = echo, more: Partial<StdioLaneOptions> = {}): Promise<Lane> {
  const client = rawClient();
  const forwarded: Message[] = [];
  let ends = 0;
  const { input, output } = client;
  const serverInfo = { name: 'us', version: '1' };
  const maxMessageBytes = 1_000_000;
  const lane = new StdioLane({ input, output, handler, maxMessageBytes, serverInfo, onEnd: () => ends++, ...more });
  lane.onmessage = (message: Message) => void forwarded.push(message);
  await lane.start();
  return { client, lane, forwarded, ended: () => ends };
}

/** A lane whose SDK side has just answered the opening of an era. */
async function opened(
  era: 'legacy' | 'modern',
  handler: UpstreamHandler = echo,
  capabilities: Record<string, unknown> = {},
): Promise<Lane> {
  const all = await open(handler);
  const { client, lane } = all;
  if (era === 'legacy') client.send({ id: 0, method: 'initialize', params: { capabilities } });
  else client.send({ id: 0, method: 'server/discover', params: { _meta: ENVELOPE } });
  await expect.poll(() => all.forwarded.length).toBe(1);
  await lane.send({ jsonrpc: '2.0', id: 0, result: { protocolVersion: '2025-06-18' } });
  await client.next();
  return all;
}

describe('what the lane leaves to the SDK', () => {
  it('hands everything on before a protocol era is settled', async () => {
    const { client, forwarded } = await open();
    client.send({ id: 1, method: 'tools/call', params: { name: 'x' } });
    client.send({ method: 'notifications/initialized' });
    client.send({ id: 'stray', result: {} });
    await expect.poll(() => forwarded.length).toBe(3);
    expect(forwarded.map(({ method }) => method)).toEqual(['tools/call', 'notifications/initialized', undefined]);
  });

  it('does not settle on an era that the SDK refused', async () => {
    const { client, lane, forwarded } = await open();
    client.send({ id: 1, method: 'initialize', params: {} });
    await expect.poll(() => forwarded.length).toBe(1);
    await lane.send({ jsonrpc: '2.0', id: 1, error: { code: -32022, message: 'no' } });
    client.send({ id: 2, method: 'tools/call', params: { name: 'x' } });
    await expect.poll(() => forwarded.length).toBe(2);
  });

  it.each([
    [undefined, { code: -32602, message: 'params.cursor must be a string', data: { code: 'VALIDATION_ERROR' } }],
    [true, { code: -32603, message: '[{"expected":"string","path":["params","cursor"],"message":"no"}]' }],
  ])("rewords the SDK's refusals, unless they may be those of a server (relays: %s)", async (relays, told) => {
    const { client, lane } = await open(echo, { relays });
    const message = '[{"expected":"string","path":["params","cursor"],"message":"no"}]';
    await lane.send({ jsonrpc: '2.0', id: 1, error: { code: -32603, message } });
    expect((await client.answer(1)).error).toEqual(told);
  });

  it('hands on everything but tools/call, and calls it does not fully understand', async () => {
    const { client, forwarded } = await opened('modern');
    client.send({ id: 1, method: 'tools/list', params: { _meta: ENVELOPE } });
    client.send({ id: 2, method: 'tools/call', params: { name: 'x' } });
    client.send({ id: 3, method: 'tools/call', params: { name: 7, _meta: ENVELOPE } });
    client.send({
      id: 4,
      method: 'tools/call',
      params: { name: 'x', _meta: { ...ENVELOPE, [META.protocolVersion]: '1' } },
    });
    client.send({ id: 5, method: 'tools/call', params: { name: 'x', _meta: { ...ENVELOPE, [META.clientInfo]: 1 } } });
    client.send({
      id: 6,
      method: 'tools/call',
      params: { name: 'x', _meta: { [META.protocolVersion]: MODERN_VERSION } },
    });
    client.send({ id: 7, method: 'tools/call' });
    await expect.poll(() => forwarded.length).toBe(6);
    // Half an envelope goes to the SDK.
    for (const id of [5, 6]) expect((await client.answer(id)).error?.code).toBe(-32602);
  });

  it('hands modern calls on a legacy connection to the SDK, which refuses them', async () => {
    const { client, forwarded } = await opened('legacy');
    client.send({ id: 1, method: 'tools/call', params: { name: 'x', _meta: ENVELOPE } });
    await expect.poll(() => forwarded.length).toBe(2);
  });

  it('answers a call in its own protocol, although the client has switched to the old one meanwhile', async () => {
    let end: (result: Record<string, unknown>) => void = () => {};
    const { client, lane, forwarded } = await opened('modern', () => new Promise((resolve) => (end = resolve)));
    client.send({ id: 1, method: 'tools/call', params: { name: 'x', _meta: ENVELOPE } });
    client.send({ id: 2, method: 'initialize', params: {} });
    await expect.poll(() => forwarded.length).toBe(2);
    await lane.send({ jsonrpc: '2.0', id: 2, result: {} });
    end({ content: [] });
    expect((await client.answer(1)).result).toMatchObject({ resultType: 'complete', content: [] });
  });

  it('goes on with initialize after a probe with server/discover', async () => {
    const { client, lane, forwarded } = await opened('modern');
    client.send({ id: 1, method: 'initialize', params: {} });
    await expect.poll(() => forwarded.length).toBe(2);
    await lane.send({ jsonrpc: '2.0', id: 1, result: {} });
    expect((await client.ask(2, 'tools/call', { name: 'x' })).result).toEqual({
      content: [{ type: 'text', text: 'x' }],
    });
  });
});

describe('calls in the lane', () => {
  it('answers a legacy call with exactly what the handler gave', async () => {
    const { client, lane } = await opened('legacy');
    expect(await client.ask(1, 'tools/call', { name: 'x' })).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { content: [{ type: 'text', text: 'x' }] },
    });
    expect(lane.inFlight).toBe(0);
  });

  it('stamps modern results and keeps their own type and meta', async () => {
    const { client } = await opened('modern', async () => ({ resultType: 'input_required', _meta: { a: 1 } }));
    expect((await client.ask('a', 'tools/call', { name: 'x', _meta: ENVELOPE })).result).toEqual({
      resultType: 'input_required',
      _meta: { a: 1, [META.serverInfo]: { name: 'us', version: '1' } },
    });
    const plain = await opened('modern');
    expect((await plain.client.ask(1, 'tools/call', { name: 'x', _meta: ENVELOPE })).result).toMatchObject({
      resultType: 'complete',
    });
  });

  it('tells the handler the caller, in each era', async () => {
    const calls: UpstreamCall[] = [];
    const handler: UpstreamHandler = async (call) => {
      calls.push(call);
      return {};
    };
    const legacy = await opened('legacy', handler, { sampling: {} });
    await legacy.client.ask(1, 'tools/call', { name: 'x' });
    const modern = await opened('modern', handler);
    await modern.client.ask(1, 'tools/call', { name: 'x', _meta: ENVELOPE });
    expect(calls[0]).toMatchObject({
      era: 'legacy',
      session: 'stdio',
      revision: '2025-06-18',
      capabilities: { sampling: {} },
      onProgress: undefined,
    });
    expect(calls[1]).toMatchObject({ era: 'modern', revision: MODERN_VERSION, capabilities: { elicitation: {} } });
    expect(calls[1]?.session).toBe('stdio');
    expect(calls[1]?.ask).toBeUndefined();
  });

  it('sends progress under the token of the request, and none after the answer', async () => {
    let late: UpstreamCall['onProgress'];
    const { client } = await opened('legacy', async ({ onProgress }) => {
      onProgress?.({ progress: 1, total: 2 });
      late = onProgress;
      return {};
    });
    await client.ask(1, 'tools/call', { name: 'x', _meta: { progressToken: 't' } });
    late?.({ progress: 2 });
    await client.ask(2, 'tools/call', { name: 'x' });
    expect(client.seen.filter(({ method }) => method === 'notifications/progress')).toEqual([
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 't', progress: 1, total: 2 } },
    ]);
  });

  it('turns what a handler throws into errors', async () => {
    const thrown: unknown[] = [new JsonRpcError(-32602, 'bad', { a: 1 }), new Error('odd'), 'odder'];
    const { client } = await opened('legacy', async () => {
      throw thrown.shift();
    });
    expect((await client.ask(1, 'tools/call', { name: 'x' })).error).toEqual({
      code: -32602,
      message: 'bad',
      data: { a: 1 },
    });
    expect((await client.ask(2, 'tools/call', { name: 'x' })).error).toEqual({ code: -32603, message: 'odd' });
    expect((await client.ask(3, 'tools/call', { name: 'x' })).error).toEqual({ code: -32603, message: 'odder' });
  });

  it('answers with an error when a result is nested deeper than JSON can be written', async () => {
    const deep: Record<string, unknown> = {};
    let inner = deep;
    for (let i = 0; i < 100_000; i++) {
      const next = {};
      inner.a = next;
      inner = next;
    }
    const { client } = await opened('legacy', async () => deep);
    expect((await client.ask(1, 'tools/call', { name: 'x' })).error?.message).toMatch(/nested too deeply/);
  });

  it('refuses an id that the SDK has still to answer, until it has or the client wants no answer', async () => {
    const { client, lane, forwarded } = await opened('legacy');
    client.send({ id: 1, method: 'prompts/list' });
    expect((await client.ask(1, 'tools/call', { name: 'x' })).error).toMatchObject({ code: -32600 });
    await lane.send({ jsonrpc: '2.0', id: 1, result: { prompts: [] } });
    client.send({ id: 2, method: 'prompts/list' });
    client.send({ method: 'notifications/cancelled', params: { requestId: 2 } });
    expect((await client.ask(2, 'tools/call', { name: 'x' })).result).toBeDefined();
    expect(forwarded.map(({ method }) => method)).toEqual([
      'initialize',
      'prompts/list',
      'prompts/list',
      'notifications/cancelled',
    ]);
  });

  it('rejects questions once the client has disconnected', async () => {
    let ask: UpstreamCall['ask'];
    const { client, ended } = await opened(
      'legacy',
      async (call) => {
        ask = call.ask;
        return { content: [] };
      },
      { roots: {} },
    );
    await client.ask(1, 'tools/call', { name: 'x' });
    await expect(ask?.({ method: 'roots/list' }, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
    client.input.end();
    await expect.poll(ended).toBe(1);
    await expect(ask?.({ method: 'roots/list' })).rejects.toThrow('the client closed the connection');
  });

  it('reads a line that begins with a byte order mark', async () => {
    const { client } = await opened('legacy');
    client.write('\ufeff{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}\n');
    expect((await client.answer(1)).result).toBeDefined();
  });

  it('refuses an id that is still in use, and the first call keeps its answer', async () => {
    const ends: (() => void)[] = [];
    const { client } = await opened('legacy', () => new Promise((end) => ends.push(() => end({ content: [] }))));
    client.send({ id: 5, method: 'tools/call', params: { name: 'x' } });
    client.send({ id: 5, method: 'tools/call', params: { name: 'y' } });
    expect((await client.next()).error).toMatchObject({ code: -32600 });
    ends[0]?.();
    expect(await client.next()).toMatchObject({ id: 5, result: { content: [] } });
    expect(ends).toHaveLength(1);
  });

  it('aborts a cancelled call and sends no answer to it', async () => {
    const { client, lane, forwarded } = await opened(
      'legacy',
      ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    );
    client.send({ id: 1, method: 'tools/call', params: { name: 'x' } });
    await expect.poll(() => lane.inFlight).toBe(1);
    client.send({ method: 'notifications/cancelled', params: { requestId: 1 } });
    client.send({ method: 'notifications/cancelled', params: { requestId: 'of the SDK' } });
    await expect.poll(() => forwarded.length).toBe(2);
    expect(lane.inFlight).toBe(0);
    expect(client.seen.filter(({ id }) => id === 1)).toEqual([]);
  });
});

describe('questions to a legacy client', () => {
  const asking: UpstreamHandler = async ({ ask, params, signal }) => {
    const answer = await ask?.({ method: String(params.name), params: { message: '?' } }, toAbortSignal(signal));
    return { structuredContent: answer };
  };

  it('puts a question and hands the answer to the call', async () => {
    const { client } = await opened('legacy', asking, { elicitation: {} });
    client.send({ id: 1, method: 'tools/call', params: { name: 'elicitation/create' } });
    const question = await client.next();
    expect(question).toMatchObject({ method: 'elicitation/create', params: { message: '?' } });
    client.send({ id: question.id, result: { action: 'accept' } });
    expect((await client.answer(1)).result).toEqual({ structuredContent: { action: 'accept' } });
  });

  it('hands a refusal on with its code', async () => {
    const { client } = await opened('legacy', asking, { sampling: {} });
    client.send({ id: 1, method: 'tools/call', params: { name: 'sampling/createMessage' } });
    const question = await client.next();
    client.send({ id: question.id, error: { code: -1, message: 'the person said no', data: 1 } });
    expect((await client.answer(1)).error).toEqual({ code: -1, message: 'the person said no', data: 1 });
  });

  it('asks nothing that the client did not declare', async () => {
    const { client } = await opened('legacy', asking, { elicitation: {} });
    expect((await client.ask(1, 'tools/call', { name: 'roots/list' })).error).toMatchObject({ code: -32601 });
    expect((await client.ask(2, 'tools/call', { name: 'something/else' })).error).toMatchObject({ code: -32601 });
  });

  it('withdraws a question when its call is cancelled', async () => {
    const { client } = await opened('legacy', asking, { elicitation: {} });
    client.send({ id: 1, method: 'tools/call', params: { name: 'elicitation/create' } });
    const { id } = await client.next();
    client.send({ method: 'notifications/cancelled', params: { requestId: 1 } });
    expect(await client.next()).toMatchObject({ method: 'notifications/cancelled', params: { requestId: id } });
  });

  it('rejects open questions when the client goes', async () => {
    let failed: unknown;
    const { client, lane } = await opened(
      'legacy',
      async ({ ask }) => {
        await ask?.({ method: 'elicitation/create' }).catch((error: unknown) => {
          failed = error;
        });
        return {};
      },
      { elicitation: {} },
    );
    client.send({ id: 1, method: 'tools/call', params: { name: 'x' } });
    await client.next();
    await lane.close();
    await expect.poll(() => failed).toBeInstanceOf(Error);
  });
});

describe('malformed input', () => {
  it('answers what is not JSON-RPC with an error and goes on', async () => {
    const { client } = await opened('legacy');
    const bad: [string, number, string | number | null][] = [
      ['{', -32700, null],
      ['[]', -32600, null],
      ['[{"jsonrpc":"2.0","id":1,"method":"tools/call"}]', -32600, null],
      ['7', -32600, null],
      ['null', -32600, null],
      ['{"id":3,"method":"tools/call"}', -32600, 3],
      ['{"jsonrpc":"2.0","id":{},"method":"tools/call"}', -32600, null],
      [`${'['.repeat(20_000)}`, -32700, null],
    ];
    for (const [text, code, id] of bad) {
      client.write(`${text}\n`);
      const answer = await client.next();
      expect([answer.error?.code, answer.id], text.slice(0, 60)).toEqual([code, id]);
    }
    expect((await client.ask(9, 'tools/call', { name: 'still here' })).result).toBeDefined();
  });

  it('refuses a message over the limit and goes on', async () => {
    const { client } = await open(echo, { maxMessageBytes: 100 });
    client.write(`${'x'.repeat(500)}\n`);
    expect((await client.next()).error).toMatchObject({ code: -32600, message: expect.stringMatching(/100 bytes/) });
  });
});

describe('every request gets exactly one answer', () => {
  it('also when it is malformed in ways that the SDK would drop silently', async () => {
    const { client, forwarded } = await opened('legacy');
    const bad: [object, number][] = [
      [{ method: 'ping', params: [] }, -32602],
      [{ method: 'tools/call', params: [] }, -32602],
      [{ method: 'ping', params: { _meta: 5 } }, -32602],
      [{ method: 'tools/call', params: { name: 'x', _meta: 5 } }, -32602],
      [{ method: 'tools/list', params: { _meta: { progressToken: {} } } }, -32602],
      [{ method: 'ping', result: {} }, -32600],
      [{ method: 'tools/call', params: { name: 'x' }, error: null }, -32600],
    ];
    for (const [n, [message, code]] of bad.entries()) {
      client.send({ id: n + 10, ...message });
      expect(await client.next(), JSON.stringify(message)).toMatchObject({
        id: n + 10,
        error: { code, data: { code: 'VALIDATION_ERROR' } },
      });
    }
    expect(forwarded).toHaveLength(1);
  });

  it('and one with extra members is handed on without them', async () => {
    const { client, forwarded } = await opened('legacy');
    client.send({ id: 5, method: 'ping', extra: 1 });
    await expect.poll(() => forwarded[1]).toEqual({ jsonrpc: '2.0', id: 5, method: 'ping' });
    expect((await client.ask(6, 'tools/call', { name: 'x' })).result).toBeDefined();
  });

  it('also when it is nested too deep or too long, under its own id', async () => {
    const { client } = await opened('legacy');
    const nest = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    const call = (id: number, args: string) =>
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"x","arguments":{"a":${args}}}}\n`;
    for (const [id, levels] of [
      [1, 201],
      [2, 20_000],
      [3, 100_000],
    ] as const) {
      client.write(call(id, nest(levels)));
      expect(await client.next()).toMatchObject({
        id,
        error: { code: -32600, message: expect.stringContaining('200 levels'), data: { code: 'VALIDATION_ERROR' } },
      });
    }
    client.write(call(4, JSON.stringify('x'.repeat(1_000_001))));
    expect(await client.next()).toMatchObject({ id: 4, error: { code: -32600 } });
    client.write(call(5, nest(100)));
    expect(await client.next()).toMatchObject({ id: 5, result: {} });
  });

  it('and a new request under the id of a cancelled one gets its own', async () => {
    const late: { tell: () => void; progress: UpstreamCall['onProgress'] }[] = [];
    const { client, lane } = await opened('legacy', ({ params, onProgress }) => {
      if (params.name === 'new') return new Promise((resolve) => setTimeout(() => resolve({ who: 'new' }), 50));
      return new Promise((resolve) => late.push({ tell: () => resolve({ who: 'old' }), progress: onProgress }));
    });
    const meta = { _meta: { progressToken: 'p' } };
    client.send({ id: 5, method: 'tools/call', params: { name: 'old', ...meta } });
    await expect.poll(() => late.length).toBe(1);
    client.send({ method: 'notifications/cancelled', params: { requestId: 5 } });
    client.send({ id: 5, method: 'tools/call', params: { name: 'new', ...meta } });
    await expect.poll(() => lane.inFlight).toBe(1);
    late[0]?.progress?.({ progress: 1 });
    late[0]?.tell();
    expect(await client.next()).toMatchObject({ id: 5, result: { who: 'new' } });
    expect(lane.inFlight).toBe(0);
  });
});

describe('the end', () => {
  it('comes once, when stdin ends, and aborts running calls', async () => {
    let aborted = false;
    const { client, lane, ended } = await opened('legacy', ({ signal }) => {
      signal.addEventListener('abort', () => {
        aborted = true;
      });
      return new Promise(() => {});
    });
    client.send({ id: 1, method: 'tools/call', params: { name: 'x' } });
    await expect.poll(() => lane.inFlight).toBe(1);
    client.input.end();
    await expect.poll(ended).toBe(1);
    await lane.close();
    await lane.send({ jsonrpc: '2.0', method: 'notifications/late' });
    expect([ended(), aborted]).toEqual([1, true]);
    expect(client.seen.some(({ method }) => method === 'notifications/late')).toBe(false);
  });

  it('comes when stdout breaks, and errors of stdin are passed on', async () => {
    const { client, lane, ended } = await open();
    const errors: Error[] = [];
    lane.onerror = (error) => errors.push(error);
    client.input.emit('error', new Error('torn'));
    client.output.emit('error', new Error('EPIPE'));
    expect([errors[0]?.message, ended()]).toEqual(['torn', 1]);
  });
});

describe('a client that does not read its answers', () => {
  it('is not read from while more than a few megabytes wait for it, and gets everything once it reads', async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    let answered = 0;
    const big = 'x'.repeat(100_000);
    const handler: UpstreamHandler = async () => {
      answered++;
      return { content: [{ type: 'text', text: big }] };
    };
    const serverInfo = { name: 'us', version: '1' };
    const lane = new StdioLane({ input, output, handler, maxMessageBytes: 1_000_000, serverInfo });
    lane.onmessage = () => {};
    await lane.start();
    const send = (message: object) => input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    send({ id: 0, method: 'initialize', params: { capabilities: {} } });
    await expect.poll(() => input.readableLength).toBe(0);
    await lane.send({ jsonrpc: '2.0', id: 0, result: { protocolVersion: '2025-06-18' } });
    for (let id = 1; id <= 200; id++) {
      send({ id, method: 'tools/call', params: { name: 'x' } });
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(input.isPaused()).toBe(true);
    expect(answered).toBeLessThan(100);

    let lines = 0;
    output.on('data', (chunk: Buffer) => {
      lines += chunk.toString().split('\n').length - 1;
    });
    await expect.poll(() => lines, { timeout: 10_000 }).toBe(201);
    await lane.close();
  });
});
