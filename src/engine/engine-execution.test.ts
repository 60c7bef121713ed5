import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { engineIn, entry, folder, until } from '../../test/fixtures/engine.ts';
import { type EvilRule, evil } from '../../test/fixtures/evil.ts';
import { summarizeAudit } from '../audit/audit-summary.ts';
import type { Caller, ServerRequest } from '../core/types.ts';
import type { CallRequest } from './engine-calls.ts';
import type { EngineCore } from './engine-core.ts';
import { configFile } from './engine-world.ts';

const names = ['echo', 'hang', 'wait', 'die', 'ask'];
const tools = names.map((name) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' } }));
const question = { method: 'elicitation/create', params: { message: 'Who?' } };
const habits: readonly EvilRule[] = [
  { method: 'tools/call', tool: 'hang', do: [] },
  { method: 'tools/call', tool: 'wait', do: [{ delay: 300 }, { default: true }] },
  { method: 'tools/call', tool: 'die', do: [{ kill: 'SIGKILL' }] },
  { method: 'tools/call', tool: 'ask', do: [{ request: question, await: true }, { default: true }] },
];
const server = (more: object = {}) => evil({ era: 'legacy', tools, on: habits, ...more });
const toolsCalled = (one: ReturnType<typeof server>) =>
  one.received('tools/call').map(({ frame }) => frame?.params?.name);

/** An engine whose configuration can be rewritten and reloaded. */
function reloadable(home: ReturnType<typeof folder>, first: object) {
  const path = join(home.path, 'test.config.json');
  const write = (config: object) =>
    writeFileSync(path, JSON.stringify({ discovery: { cache: { enabled: false }, ...config } }));
  write(first);
  const engine = engineIn(home, configFile(path));
  const reload = async (config: object) => {
    write(config);
    await engine.reload();
  };
  return { engine, reload };
}

const codeOf = async (engine: EngineCore, tool: string, more: Partial<CallRequest> = {}) => {
  const result = await engine.call({ server: 'one', tool, ...more });
  return result.success ? 'ok' : result.error.code;
};

describe('a server that dies', () => {
  it('with 16 calls in flight fails them once: the next call restarts it and works', async () => {
    using home = folder();
    using one = server();
    await using engine = engineIn(home, { servers: [entry('one', one)] });
    const lost = Array.from({ length: 15 }, () => codeOf(engine, 'hang'));
    await until(() => toolsCalled(one).length === 15);
    lost.push(codeOf(engine, 'die'));
    expect(new Set(await Promise.all(lost))).toEqual(new Set(['SERVER_CONNECTION_ERROR']));
    expect(await codeOf(engine, 'echo')).toBe('ok');
    expect(toolsCalled(one)).toHaveLength(17);
  });
});

describe('the audit log', () => {
  it('keeps the record of a call after thousands of refusals, and counts those', async () => {
    using home = folder();
    using one = server();
    const file = join(home.path, 'audit.jsonl');
    const audit = { file, maxBytes: 50_000, files: 1 };
    const engine = engineIn(home, { servers: [entry('one', one)], audit });
    await engine.call({ server: 'one', tool: 'echo', arguments: {} });
    for (let at = 0; at < 5_000; at++)
      await engine.call({ server: 'one', tool: at % 2 ? 'none' : `none-${at}`, arguments: { at } });
    await engine.close();
    expect(readFileSync(file, 'utf8')).toContain('"tool":"echo"');
    const { total, mistaken, dropped } = await summarizeAudit(file);
    expect(total.calls).toBe(1);
    expect(mistaken + dropped).toBe(5_000);
  });

  it('has the record of a call as soon as it is answered, with failClosed', async () => {
    using home = folder();
    using one = server();
    const file = join(home.path, 'audit.jsonl');
    await using engine = engineIn(home, { servers: [entry('one', one)], audit: { file, failClosed: true } });
    await codeOf(engine, 'echo');
    await until(() => existsSync(file));
    expect(await codeOf(engine, 'echo')).toBe('ok');
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
    expect(readFileSync(file, 'utf8').match(/"outcome":"success"/g)).toHaveLength(2);
  });

  it('has a line for each call before it is sent, with failClosed', async () => {
    using home = folder();
    using one = server();
    const file = join(home.path, 'audit.jsonl');
    await using engine = engineIn(home, { servers: [entry('one', one)], audit: { file, failClosed: true } });
    const calls = Array.from({ length: 5 }, () => codeOf(engine, 'wait'));
    await until(() => toolsCalled(one).length === 5);
    // What is left if the process dies now.
    const lines = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toEqual(Array(5).fill(expect.objectContaining({ event: 'sending', server: 'one', tool: 'wait' })));
    await Promise.all(calls);
    expect(await codeOf(engine, 'none')).toBe('TOOL_NOT_FOUND');
    await engine.close();
    const ids = lines.map(({ traceId }) => traceId).sort();
    const answered = readFileSync(file, 'utf8').matchAll(/"traceId":"([^"]+)".*"outcome":"success"/g);
    expect([...answered].map(([, id]) => id).sort()).toEqual(ids);
    expect((await summarizeAudit(file)).total.calls).toBe(5);
  });

  it('sends nothing that cannot be recorded before, with failClosed', async () => {
    using home = folder();
    using one = server();
    // A folder cannot be written as a file.
    const audit = { file: home.path, failClosed: true };
    await using engine = engineIn(home, { servers: [entry('one', one)], audit });
    const codes = await Promise.all(Array.from({ length: 5 }, () => codeOf(engine, 'echo')));
    expect(codes).toEqual(Array(5).fill('STORAGE_ERROR'));
    expect(toolsCalled(one)).toEqual([]);
  });
});

describe('a reload', () => {
  it('does not forget the calls in flight', async () => {
    using home = folder();
    using one = server();
    const servers = [entry('one', one, { concurrency: 2 })];
    const { engine, reload } = reloadable(home, { servers });
    await using _ = engine;
    const calls = [codeOf(engine, 'wait'), codeOf(engine, 'wait')];
    await until(() => toolsCalled(one).length === 2);
    await reload({ servers, limits: { queue: 1, queueWait: 5_000 } });
    calls.push(codeOf(engine, 'echo'));
    expect(await codeOf(engine, 'echo')).toBe('SERVER_BUSY');
    expect(toolsCalled(one)).toHaveLength(2);
    expect(await Promise.all(calls)).toEqual(['ok', 'ok', 'ok']);
  });

  it('that disables a tool stops queued calls to it', async () => {
    using home = folder();
    using one = server();
    const servers = [entry('one', one, { concurrency: 1 })];
    const { engine, reload } = reloadable(home, { servers });
    await using _ = engine;
    const running = codeOf(engine, 'wait');
    await until(() => toolsCalled(one).length === 1);
    const waiting = codeOf(engine, 'echo');
    await reload({ servers, toolRules: [{ pattern: ['echo'], enabled: false }] });
    expect(await Promise.all([running, waiting])).toEqual(['ok', 'TOOL_DISABLED']);
    expect(toolsCalled(one)).toEqual(['wait']);
  });

  it('admits queued calls if there are more slots now, and none if there are fewer', async () => {
    using home = folder();
    using one = server();
    const servers = (concurrency: number) => [entry('one', one, { concurrency })];
    const { engine, reload } = reloadable(home, { servers: servers(1) });
    await using _ = engine;
    const calls = [codeOf(engine, 'wait'), codeOf(engine, 'wait')];
    await until(() => toolsCalled(one).length === 1);
    await reload({ servers: servers(3) });
    calls.push(codeOf(engine, 'wait'));
    await until(() => toolsCalled(one).length === 3);
    await reload({ servers: servers(1), limits: { queueWait: 1 } });
    expect(await codeOf(engine, 'echo')).toBe('SERVER_BUSY');
    expect(await Promise.all(calls)).toEqual(['ok', 'ok', 'ok']);
    expect(await codeOf(engine, 'echo')).toBe('ok');
  });

  it('keeps the open circuit breaker of a server, unless the name now means another server', async () => {
    using home = folder();
    using one = server();
    using other = server();
    const limits = { breaker: { failures: 1 } };
    const { engine, reload } = reloadable(home, { servers: [entry('one', one)], limits });
    await using _ = engine;
    await codeOf(engine, 'die');
    expect(await codeOf(engine, 'echo')).toBe('SERVER_UNAVAILABLE');
    await reload({ servers: [entry('one', one)], limits: { ...limits, queue: 5 } });
    expect(await codeOf(engine, 'echo')).toBe('SERVER_UNAVAILABLE');
    await reload({ servers: [entry('one', other)], limits });
    expect(await codeOf(engine, 'echo')).toBe('ok');
  });

  it('does not refill a rate limit', async () => {
    using home = folder();
    using one = server();
    const servers = [entry('one', one, { rateLimit: { requestsPerSecond: 0.01, burst: 1 } })];
    const { engine, reload } = reloadable(home, { servers });
    await using _ = engine;
    expect(await codeOf(engine, 'echo')).toBe('ok');
    await reload({ servers, limits: { queue: 5 } });
    expect(await codeOf(engine, 'echo', { timeout: 5_000 })).toBe('RATE_LIMITED');
  });

  it('gives another server under the same name all its slots, although calls to the old one are in flight', async () => {
    using home = folder();
    using one = server();
    using other = server();
    const { engine, reload } = reloadable(home, { servers: [entry('one', one, { concurrency: 1 })] });
    await using _ = engine;
    const old = codeOf(engine, 'wait');
    await until(() => toolsCalled(one).length === 1);
    const waiting = codeOf(engine, 'echo');
    await reload({ servers: [entry('one', other, { concurrency: 1 })] });
    expect(await codeOf(engine, 'echo')).toBe('ok');
    expect(await waiting).toBe('ok');
    expect(await old).toBe('ok');
    expect([toolsCalled(one).length, toolsCalled(other).length]).toEqual([1, 2]);
  });
});

describe('a question of a server', () => {
  /** A user who answers on demand and notices withdrawn questions. */
  function person(session?: string) {
    const asked: ServerRequest[] = [];
    let withdrawn = 0;
    let answer = (): void => {};
    const ask: Caller['ask'] = (request, signal) => {
      asked.push(request);
      signal?.addEventListener('abort', () => withdrawn++);
      // Does not listen to the signal: the late answer must go nowhere all the same.
      return new Promise((resolve) => {
        answer = () => resolve({ action: 'accept' });
      });
    };
    const caller: Caller = { session, capabilities: { elicitation: {} }, ask };
    return { caller, asked, withdrawn: () => withdrawn, answer: () => answer() };
  }
  const answersTo = (one: ReturnType<typeof server>) =>
    one.journal().flatMap(({ frame }) => (frame && frame.method === undefined ? [frame] : []));
  const impatient = { timeouts: { call: 1000 } };
  /** Starts the server without being impatient about that. */
  const start = (engine: EngineCore, caller: Caller) => codeOf(engine, 'echo', { caller, timeout: 20_000 });

  it.each([
    ['legacy', 'a'],
    ['legacy', undefined],
    ['modern', 'a'],
  ] as const)('is no silence of the %s server while somebody thinks (session %s)', async (era, session) => {
    using home = folder();
    const input = { resultType: 'input_required', inputRequests: { q1: question }, requestState: 'x' };
    using one = server({
      era,
      ...(era === 'modern' && { on: [{ method: 'tools/call', tool: 'ask', nth: 1, do: [{ result: input }] }] }),
    });
    await using engine = engineIn(home, { servers: [entry('one', one, impatient)] });
    const { caller, asked, answer, withdrawn } = person(session);
    await start(engine, caller);
    const call = codeOf(engine, 'ask', { caller });
    await until(() => asked.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 1200));
    answer();
    expect(await call).toBe('ok');
    expect(withdrawn()).toBe(0);
  });

  it('suspends the idle timeout of every call in the session that it can belong to, and of no other', async () => {
    using home = folder();
    using one = server();
    await using engine = engineIn(home, { servers: [entry('one', one, impatient)] });
    const { caller, asked, answer } = person('a');
    await start(engine, caller);
    const before = codeOf(engine, 'wait', { caller });
    const call = codeOf(engine, 'ask', { caller });
    await until(() => asked.length === 1);
    expect(await codeOf(engine, 'hang', { caller })).toBe('TOOL_EXECUTION_TIMEOUT');
    expect(await before).toBe('ok');
    answer();
    expect(await call).toBe('ok');
  });

  it('no longer suspends the idle timeout once it is answered', async () => {
    using home = folder();
    using one = server({ on: [{ method: 'tools/call', tool: 'ask', do: [{ request: question, await: true }] }] });
    await using engine = engineIn(home, { servers: [entry('one', one, impatient)] });
    const { caller, asked, answer } = person('a');
    await start(engine, caller);
    const call = codeOf(engine, 'ask', { caller });
    await until(() => asked.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 200));
    answer();
    expect(await call).toBe('TOOL_EXECUTION_TIMEOUT');
  });

  it.each([
    ['cancelled', undefined, 'CANCELLED'],
    ['out of time', 200, 'TOOL_EXECUTION_TIMEOUT'],
  ] as const)('is withdrawn when the call is %s, and a late answer reaches nobody', async (_, timeout, code) => {
    using home = folder();
    using one = server();
    await using engine = engineIn(home, { servers: [entry('one', one)] });
    const { caller, asked, answer, withdrawn } = person('a');
    const stop = new AbortController();
    await start(engine, caller);
    const call = codeOf(engine, 'ask', { caller, signal: stop.signal, timeout });
    await until(() => asked.length === 1);
    if (code === 'CANCELLED') stop.abort();
    expect(await call).toBe(code);
    await until(() => withdrawn() === 1);
    answer();
    expect(await codeOf(engine, 'echo', { caller })).toBe('ok');
    await until(() => answersTo(one).length === 1);
    expect(answersTo(one)).toMatchObject([{ error: { message: 'The call this was asked for is over.' } }]);
  });

  it('stays open while a call that it can belong to is running', async () => {
    using home = folder();
    using one = server();
    await using engine = engineIn(home, { servers: [entry('one', one)] });
    const { caller, asked, answer, withdrawn } = person('a');
    const stop = new AbortController();
    await codeOf(engine, 'echo', { caller });
    const hanging = codeOf(engine, 'hang', { caller, signal: stop.signal });
    await until(() => toolsCalled(one).includes('hang'));
    const call = codeOf(engine, 'ask', { caller });
    await until(() => asked.length === 1);
    stop.abort();
    expect(await hanging).toBe('CANCELLED');
    expect(withdrawn()).toBe(0);
    answer();
    expect(await call).toBe('ok');
  });

  it('that belongs to no call outlives answered calls', async () => {
    using home = folder();
    const roots = { request: { method: 'roots/list' } };
    using one = server({ on: [{ method: 'tools/call', nth: 1, do: [roots, { default: true }] }] });
    await using engine = engineIn(home, { servers: [entry('one', one)] });
    const { caller, asked, answer, withdrawn } = person('a');
    expect(await codeOf(engine, 'echo', { caller })).toBe('ok');
    await until(() => asked.length === 1);
    expect(withdrawn()).toBe(0);
    answer();
    await until(() => answersTo(one).length === 1);
    expect(answersTo(one)).toMatchObject([{ result: { action: 'accept' } }]);
  });
});
