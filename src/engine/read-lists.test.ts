import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engineIn, entry, folder, sample, until } from '../../test/fixtures/engine.ts';
import { evil } from '../../test/fixtures/evil.ts';
import { LIMITS } from '../core/limits.ts';
import { startTestServer, type TestServer } from '../testing/index.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ tools: { echo: { call: () => 'hello' } } });
});
afterAll(() => server.close());

/** A network on which the first requests go wrong. */
function flaky(times: number, fault: () => Response): { fetch: typeof fetch; asked: () => number } {
  let asked = 0;
  return {
    fetch: (async (input, init) => (++asked <= times ? fault() : fetch(input, init))) as typeof fetch,
    asked: () => asked,
  };
}

const reset = (): never => {
  throw Object.assign(new TypeError('fetch failed'), {
    cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
  });
};
const FAULTS: [string, () => Response][] = [
  ['503', () => new Response('', { status: 503 })],
  ['429', () => new Response('', { status: 429, headers: { 'retry-after': '1' } })],
  ['a reset', reset],
];
const remote = () => ({ servers: [{ name: 'remote', connection: server.connection }] });

describe.concurrent('a server that fails once', () => {
  it.each(FAULTS)('is read by a command that waits: %s', async (_what, fault) => {
    using home = folder();
    await using engine = engineIn(home, remote(), { fetch: flaky(2, fault).fetch, background: false });
    expect(await engine.readLists({ waitMs: 20_000 })).toEqual(new Map());
    expect(await engine.listTools('remote')).toHaveLength(1);
  });

  it.each(FAULTS)('is found by the same search: %s', async (_what, fault) => {
    using home = folder();
    await using engine = engineIn(home, remote(), { fetch: flaky(2, fault).fetch });
    // Longer than two seconds only because this machine may be busy.
    const found = await engine.find('echo', { waitMs: 10_000 });
    expect(found).toMatchObject({ success: true, data: { results: [{ tool: 'echo' }], notes: [] } });
  });

  it('passes a probe', async () => {
    using home = folder();
    const { fetch } = flaky(2, () => new Response('', { status: 503 }));
    await using engine = engineIn(home, remote(), { fetch });
    expect(await engine.probe('remote')).toMatchObject({ toolCount: 1 });
  });

  it('that keeps failing is reported with its own error at the timeout', async () => {
    using home = folder();
    const { fetch } = flaky(1000, () => new Response('', { status: 503 }));
    await using engine = engineIn(home, remote(), { fetch, background: false });
    const failed = await engine.readLists({ waitMs: 1500 });
    expect(failed.get('remote')?.message).toMatch(/503/);
  });
});

describe('a server that announces a change with every list', () => {
  it('is started once by a probe, which reads the change', async () => {
    using home = folder();
    const change = { broadcast: { method: 'notifications/tools/list_changed' } };
    const tools = (count: number) => ({
      result: { tools: ['a', 'b'].slice(0, count).map((name) => ({ name, inputSchema: { type: 'object' } })) },
    });
    using restless = evil({
      era: 'legacy',
      on: [
        { method: 'tools/list', nth: 1, do: [change, tools(1)] },
        { method: 'tools/list', do: [change, tools(2)] },
      ],
    });
    await using engine = engineIn(home, { servers: [entry('restless', restless)] }, { background: false });
    expect(await engine.probe('restless')).toMatchObject({ toolCount: 2 });
    // Longer than the pause after which a change is followed.
    await new Promise((resolve) => setTimeout(resolve, 2 * LIMITS.pace.gatheredChanges + 100));
    expect(restless.journal().filter(({ event }) => event === 'start')).toHaveLength(1);
  });
});

describe.concurrent('a server that is not worth waiting for', () => {
  it('is reported at once if nothing listens', async () => {
    using home = folder();
    const gone = await startTestServer();
    await gone.close();
    const config = { servers: [{ name: 'gone', connection: gone.connection }] };
    await using engine = engineIn(home, config, { background: false });
    const began = performance.now();
    expect([...(await engine.readLists({ waitMs: 30_000 })).keys()]).toEqual(['gone']);
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  it('does not delay the first search of the next session, is named in its notes and is asked again', async () => {
    using home = folder();
    using hung = evil({ era: 'legacy', on: [{ method: 'initialize', do: [] }] });
    const config = { servers: [entry('notes', sample('notes')), entry('hung', hung)] };
    const notes = async (waitMs: number) => {
      const engine = engineIn(home, config);
      const began = performance.now();
      const found = await engine.find('note', { waitMs });
      const ms = performance.now() - began;
      const starts = () => hung.journal().filter(({ event }) => event === 'start').length;
      return { engine, found, ms, starts };
    };
    const first = await notes(3000);
    expect(first.ms).toBeGreaterThanOrEqual(2900);
    await first.engine.close();
    const before = first.starts();
    for (let session = 1; session <= 2; session++) {
      const next = await notes(60_000);
      expect(next.ms).toBeLessThan(20_000);
      expect(next.found).toMatchObject({
        data: { notes: [expect.stringMatching(/^hung not searched: failed last time: .*did not list/)] },
      });
      // The second search finds it being asked in the background, and does not wait for that either.
      const began = performance.now();
      await next.engine.find('note', { waitMs: 60_000 });
      expect(performance.now() - began).toBeLessThan(20_000);
      await until(() => next.starts() === before + session);
      expect((await next.engine.listServers())[1]).toMatchObject({ name: 'hung', status: 'error' });
      await next.engine.close();
    }
  });

  it('delays a command for all lists only briefly, and one that names it as long as it takes', async () => {
    using home = folder();
    using hung = evil({ era: 'legacy', on: [{ method: 'initialize', do: [] }] });
    const timeouts = { connect: 15_000 };
    const config = { servers: [{ ...entry('hung', hung), timeouts }] };
    const first = engineIn(home, config);
    await first.find('note', { waitMs: 200 });
    await first.close();
    await using next = engineIn(home, config);
    let began = performance.now();
    expect([...(await next.readLists()).keys()]).toEqual(['hung']);
    expect(performance.now() - began).toBeLessThan(12_000);
    began = performance.now();
    await next.readLists({ servers: ['hung'], waitMs: 4_000 });
    expect(performance.now() - began).toBeGreaterThan(3_500);
  });

  it('is waited for again once it has answered, and once its entry has changed', async () => {
    using home = folder();
    using hung = evil({ era: 'legacy', on: [{ method: 'initialize', do: [] }] });
    const config = (args: string[]) => ({ servers: [entry('one', { command: hung.command, args })] });
    const first = engineIn(home, config([...hung.args]));
    await first.find('note', { waitMs: 300 });
    await first.close();
    await using changed = engineIn(home, { servers: [entry('one', sample('notes'))] });
    const found = await changed.find('note', { waitMs: 20_000 });
    expect(found).toMatchObject({ success: true, data: { notes: [] } });
  });
});

describe('a list that is older than a day', () => {
  const DAY = 86_400_000;
  const later = () => Date.now() + 2 * DAY;

  it('is read again by a command', async () => {
    using home = folder();
    const options = { background: false, fetch: flaky(0, reset).fetch };
    await using first = engineIn(home, remote(), options);
    await first.readLists({});
    await first.close();
    const second = flaky(0, reset);
    await using engine = engineIn(home, remote(), { ...options, fetch: second.fetch, now: later });
    expect(await engine.readLists({})).toEqual(new Map());
    expect(second.asked()).toBeGreaterThan(0);
    expect(await engine.find('echo')).toMatchObject({ data: { notes: [] } });
  });

  it('still serves when its server is away, and that is said', async () => {
    using home = folder();
    await using first = engineIn(home, remote(), { background: false });
    await first.readLists({});
    await first.close();
    const { fetch } = flaky(1000, reset);
    await using engine = engineIn(home, remote(), { background: false, fetch, now: later });
    expect(await engine.readLists({ waitMs: 500 })).toEqual(new Map());
    expect(await engine.find('echo')).toMatchObject({
      data: { results: [{ tool: 'echo' }], notes: ['list older than a day, server unreachable: remote'] },
    });
  });
});

it('a list from disk follows its server once a call has connected to it', async () => {
  using home = folder();
  await using changing = await startTestServer({ tools: { before: { call: () => 'b' } } });
  const config = { servers: [{ name: 'changing', connection: changing.connection }] };
  const first = engineIn(home, config);
  await first.readLists();
  await first.close();
  await using engine = engineIn(home, config);
  expect(await engine.executeTool('changing', 'before')).toMatchObject({ success: true });
  const names = async () => (await engine.listTools('changing')).map(({ name }) => name);
  let turn = 0;
  // The subscription follows the answer.
  const change = async () => {
    turn += 1;
    changing.setTools({ [`after-${turn}`]: { call: () => 'a' } });
    return names();
  };
  await expect.poll(change, { timeout: 15_000, interval: 3_000 }).not.toEqual(['before']);
});
