import { describe, expect, test } from 'vitest';
import { joinPages } from '../../test/fixtures/execution/join-pages.ts';
import { ManualClock } from '../../test/fixtures/execution/manual-clock.ts';
import { aCall, codeOf, done } from '../../test/fixtures/execution/test-kit.ts';
import type { CallSignal } from '../async/cancellation.ts';
import type { AuditEntry } from '../audit/audit-entry.ts';
import { DiscoveryError } from '../core/errors.ts';
import { fail, ok } from '../core/result.ts';
import type { Progress, ToolCall, ToolDefinition } from '../core/types.ts';
import type { Handler } from './pipeline.ts';
import { type ExecutionEvent, ToolExecutor, type ToolExecutorOptions } from './tool-executor.ts';

const definition: ToolDefinition = {
  name: 'echo',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
};

const echo: Handler = async (call) => ok({ content: [{ type: 'text', text: String(call.arguments.text) }] });

function build(options: Partial<ToolExecutorOptions> = {}) {
  const records: AuditEntry[] = [];
  const proxy = new ToolExecutor({
    invoke: echo,
    lookup: ({ server, tool }) =>
      server === 'nowhere'
        ? fail('SERVER_NOT_FOUND', 'no')
        : tool === 'echo'
          ? ok(definition)
          : fail('TOOL_NOT_FOUND', 'no'),
    decide: (server) => ({ enabled: server !== 'forbidden' }),
    audit: { record: (entry) => records.push(entry) },
    ...options,
  });
  return { proxy, records };
}

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((later) => setImmediate(later));
};

describe('ToolExecutor', () => {
  test('calls a tool and hands the result on', async () => {
    const { proxy, records } = build();
    expect(await proxy.execute('s', 'echo', { text: 'hi' })).toEqual(ok({ content: [{ type: 'text', text: 'hi' }] }));
    expect(records).toEqual([expect.objectContaining({ server: 's', tool: 'echo', outcome: 'success', bytesOut: 41 })]);
  });

  test('arguments may come as a JSON string, wrapped, or not at all', async () => {
    const open = build();
    const closed = build({
      lookup: () => ok({ ...definition, inputSchema: { ...definition.inputSchema, additionalProperties: false } }),
    });
    const text = async (args: unknown, { proxy } = open) => {
      const result = await proxy.execute('s', 'echo', args);
      return result.success && result.data.content?.[0]?.text;
    };
    expect(await text('{"text":"a"}')).toBe('a');
    expect(await text({ input: { text: 'b' } }, closed)).toBe('b');
    // What fits as it was sent is not repaired.
    expect(await text({ input: { text: 'b' } })).toBe('undefined');
    expect(await text(undefined)).toBe('undefined');
  });

  test('every refusal has its code and is recorded once', async () => {
    const { proxy, records } = build();
    const codes = [];
    for (const [server, tool, args] of [
      ['nowhere', 'echo', {}],
      ['s', 'eco', {}],
      ['forbidden', 'echo', {}],
      ['s', 'echo', { text: 1 }],
      ['s', 'echo', 'not json'],
      ['anygpt', 'nothing', {}],
    ] as const) {
      const result = await proxy.execute(server, tool, args);
      codes.push(!result.success && result.error.code);
    }
    expect(codes).toEqual([
      'SERVER_NOT_FOUND',
      'TOOL_NOT_FOUND',
      'TOOL_DISABLED',
      'TOOL_VALIDATION_ERROR',
      'TOOL_VALIDATION_ERROR',
      'TOOL_NOT_FOUND',
    ]);
    expect(records.map((entry) => entry.code)).toEqual(codes);
    expect(records.every((entry) => entry.outcome === 'refused')).toBe(true);
  });

  test('what is refused elsewhere is recorded as it was written, as far as that makes sense', async () => {
    const { proxy, records } = build();
    const refusal = fail('VALIDATION_ERROR', 'no', { outcome: 'not_sent' });
    const caller = { principal: 'me', session: 's1' };
    for (const call of [
      { server: 7, tool: 'echo', arguments: '{"text":1}', caller },
      { server: 's', arguments: [1] },
      {},
    ])
      expect(await proxy.refuse(refusal, call)).toEqual(refusal);
    expect(records).toMatchObject([
      { server: '', tool: 'echo', arguments: { text: 1 }, outcome: 'refused', code: 'VALIDATION_ERROR', ...caller },
      { server: 's', tool: '', arguments: {}, outcome: 'refused' },
      { server: '', tool: '', arguments: {}, outcome: 'refused' },
    ]);
  });

  test('names such as __proto__ and then work as servers and tools', async () => {
    const { proxy } = build({ lookup: ({ tool }) => ok({ ...definition, name: tool }) });
    for (const name of ['__proto__', 'constructor', 'then', 'toString']) {
      expect((await proxy.execute(name, name, { text: name })).success).toBe(true);
    }
    expect(({} as Record<string, unknown>).text).toBeUndefined();
  });

  test('never throws, whatever is handed in throws', async () => {
    const boom = () => {
      throw new Error('boom');
    };
    for (const options of [
      { invoke: boom },
      { lookup: boom },
      { decide: boom },
      { audit: { record: boom } },
      { settingsOf: boom },
      { lookup: async () => boom() },
    ]) {
      const { proxy } = build(options);
      expect((await proxy.execute('s', 'echo', {})).success).toBe(false);
    }
  });

  test('cancelling reaches downstream, frees the slot and is recorded once', async () => {
    const seen: ToolCall[] = [];
    const { proxy, records } = build({
      invoke: (call) => {
        seen.push(call);
        return new Promise(() => undefined);
      },
      settingsOf: () => ({ concurrency: 1 }),
    });
    const abort = new AbortController();
    const running = proxy.execute('s', 'echo', {}, { signal: abort.signal });
    await until(() => seen.length === 1);
    abort.abort();
    expect(await running).toMatchObject({ error: { code: 'CANCELLED', outcome: 'unknown' } });
    expect(seen[0]?.signal.aborted).toBe(true);
    expect(records.map((entry) => entry.outcome)).toEqual(['cancelled']);
    const again = proxy.execute('s', 'echo', {}, { timeout: 20 });
    await until(() => seen.length === 2);
    expect(await again).toMatchObject({ error: { code: 'TOOL_EXECUTION_TIMEOUT' } });
    expect(await proxy.execute('s', 'echo', {}, { signal: AbortSignal.abort() })).toMatchObject({
      error: { code: 'CANCELLED' },
    });
    expect(seen).toHaveLength(2);
  });

  test('two callers with the same markers never get what belongs to the other', async () => {
    const { proxy } = build({
      invoke: async (call) => {
        call.onProgress?.({ progress: 1, message: String(call.arguments.text) });
        for (let i = Number(call.arguments.text) % 7; i > 0; i--) await Promise.resolve();
        return echo(call);
      },
      limits: { perServer: 64, perClient: 1_000 },
    });
    for (let round = 0; round < 40; round++) {
      await Promise.all(
        Array.from({ length: 50 }, async (_, i) => {
          const text = String(round * 50 + i);
          const notes: Progress[] = [];
          const result = await proxy.execute(
            's',
            'echo',
            { text },
            { traceId: 'same', onProgress: (note) => notes.push(note) },
          );
          expect(result.success && result.data.content?.[0]?.text).toBe(text);
          expect(notes).toEqual([{ progress: 1, message: text }]);
        }),
      );
    }
  });

  test('trace, meta and answers of the caller travel with the call', async () => {
    let seen: ToolCall | undefined;
    const { proxy } = build({
      invoke: async (call) => {
        seen = call;
        return ok({});
      },
    });
    const caller = { principal: 'ann' };
    await proxy.execute(
      's',
      'echo',
      {},
      { traceId: 't1', meta: { a: 1 }, caller, inputResponses: { q: 1 }, requestState: 'z' },
    );
    expect(seen).toMatchObject({
      traceId: 't1',
      meta: { a: 1 },
      caller,
      inputResponses: { q: 1 },
      requestState: 'z',
      definition,
    });
  });

  test('a safe tool is repeated, within what its server is configured to', async () => {
    const clock = new ManualClock();
    let attempts = 0;
    const { proxy } = build({
      clock,
      isRepeatable: () => true,
      invoke: async () => {
        attempts++;
        throw new DiscoveryError('SERVER_CONNECTION_ERROR', 'reset', { outcome: 'unknown' });
      },
    });
    const running = proxy.execute('s', 'echo', {});
    await clock.advance(10_000);
    expect((await running).success).toBe(false);
    expect(attempts).toBe(4);
    expect(codeOf(await proxy.gates.breakers.gate(done)(aCall()))).toBe('ok');
  });

  test('a large result is read on to its end through anygpt:read_result, by its caller only', async () => {
    const whole = { content: [{ type: 'text', text: 'lorem ipsum '.repeat(2_000) }], structuredContent: { n: 1 } };
    const { proxy, records } = build({ invoke: async () => ok(whole), limits: { result: 10_000 } });
    const caller = { session: 'mine' };
    const first = await proxy.execute('s', 'echo', {}, { caller });
    if (!first.success) throw new Error(first.error.message);
    const pages = [first.data];
    const id = JSON.stringify(first.data).match(/"id":"([^"]+)"/)?.[1];
    for (let page = 2; ; page++) {
      const next = await proxy.execute('anygpt', 'read_result', { id, page }, { caller });
      if (!next.success) break;
      pages.push(next.data);
    }
    expect(joinPages(pages)).toEqual(whole);
    expect(
      (await proxy.execute('anygpt', 'read_result', { id, page: 2 }, { caller: { session: 'other' } })).success,
    ).toBe(false);
    expect(await proxy.execute('anygpt', 'read_result', { id })).toMatchObject({
      error: { code: 'TOOL_VALIDATION_ERROR', message: expect.stringContaining('"page" is missing (integer)') },
    });
    expect(records[0]?.flags).toEqual(['cut']);
    expect(records.at(-1)).toMatchObject({ server: 'anygpt', tool: 'read_result' });
  });

  test('a progress listener that throws is logged and the call goes on', async () => {
    const warnings: unknown[] = [];
    const log = { debug() {}, info() {}, warn: (fields: object) => void warnings.push(fields), error() {} };
    const { proxy } = build({
      log,
      invoke: async (call) => {
        call.onProgress?.({ progress: 1 });
        return ok({});
      },
    });
    const onProgress = () => {
      throw new Error('mine');
    };
    expect((await proxy.execute('s', 'echo', {}, { onProgress })).success).toBe(true);
    expect(warnings).toHaveLength(1);
  });
});

describe('executeStream', () => {
  test('yields progress and then exactly one result', async () => {
    const heard: Progress[] = [];
    const { proxy } = build({
      invoke: async (call) => {
        call.onProgress?.({ progress: 1, total: 2 });
        await new Promise((later) => setImmediate(later));
        call.onProgress?.({ progress: 2, total: 2 });
        return echo(call);
      },
    });
    const events: ExecutionEvent[] = [];
    for await (const event of proxy.executeStream(
      's',
      'echo',
      { text: 'x' },
      { onProgress: (note) => heard.push(note) },
    ))
      events.push(event);
    expect(events.map((event) => event.type)).toEqual(['progress', 'progress', 'result']);
    expect(events.at(-1)).toEqual({ type: 'result', result: ok({ content: [{ type: 'text', text: 'x' }] }) });
    expect(heard).toHaveLength(2);
  });

  test('leaving the loop cancels the call', async () => {
    let signal: CallSignal | undefined;
    const { proxy, records } = build({
      invoke: (call) => {
        signal = call.signal;
        call.onProgress?.({ progress: 1 });
        return new Promise(() => undefined);
      },
    });
    for await (const event of proxy.executeStream('s', 'echo')) {
      expect(event.type).toBe('progress');
      break;
    }
    await until(() => records.length === 1);
    expect(signal?.aborted).toBe(true);
    expect(records[0]?.outcome).toBe('cancelled');
  });

  test("the caller's signal ends the stream with a result", async () => {
    const { proxy } = build({ invoke: () => new Promise(() => undefined) });
    const abort = new AbortController();
    setImmediate(() => abort.abort());
    const events: ExecutionEvent[] = [];
    for await (const event of proxy.executeStream('s', 'echo', {}, { signal: abort.signal })) events.push(event);
    expect(events).toMatchObject([{ type: 'result', result: { error: { code: 'CANCELLED' } } }]);
    for await (const event of proxy.executeStream('s', 'echo', {}, { signal: AbortSignal.abort() }))
      expect(event).toMatchObject({ result: { error: { code: 'CANCELLED' } } });
  });
});

describe('close', () => {
  test('takes no more calls, lets those under way end, and is done', async () => {
    let finish: (() => void) | undefined;
    const { proxy, records } = build({
      invoke: (call) =>
        new Promise((end) => {
          finish = () => end(echo(call));
        }),
    });
    const running = proxy.execute('s', 'echo', { text: 'x' });
    await until(() => finish !== undefined);
    const closing = proxy.close();
    expect(await proxy.execute('s', 'echo', {})).toMatchObject({
      error: { code: 'SHUTTING_DOWN', outcome: 'not_sent' },
    });
    finish?.();
    expect((await running).success).toBe(true);
    await closing;
    expect(records).toHaveLength(2);
    await proxy[Symbol.asyncDispose]();
  });

  test('ends what is still under way after ten seconds', async () => {
    const clock = new ManualClock();
    const seen: ToolCall[] = [];
    const { proxy } = build({
      clock,
      invoke: (call) => {
        seen.push(call);
        return new Promise(() => undefined);
      },
    });
    const running = proxy.execute('s', 'echo', {});
    await until(() => seen.length === 1);
    const closing = proxy.close();
    await clock.advance(9_999);
    expect(seen[0]?.signal.aborted).toBe(false);
    await clock.advance(1);
    await closing;
    expect(await running).toMatchObject({ error: { code: 'SHUTTING_DOWN', outcome: 'unknown' } });
  });

  test('a replaced proxy lets its calls end in their own time, even when closing overtakes it', async () => {
    let finish: (() => void) | undefined;
    const { proxy } = build({
      invoke: (call) =>
        new Promise((end) => {
          finish = () => end(echo(call));
        }),
    });
    const running = proxy.execute('s', 'echo', { text: 'x' });
    await until(() => finish !== undefined);
    const finishing = proxy.finish();
    const closing = proxy.close();
    finish?.();
    expect((await running).success).toBe(true);
    await Promise.all([finishing, closing]);
    await build().proxy.finish();
  });
});
