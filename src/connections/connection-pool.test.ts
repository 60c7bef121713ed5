import { InMemoryTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  LIMITS,
  local,
  openOptions,
  remote,
  script,
  serve,
  toolCall,
} from '../../test/fixtures/connections/harness.ts';
import { evil } from '../../test/fixtures/evil.ts';
import { DiscoveryError } from '../core/errors.ts';
import { UnheededError } from '../core/result.ts';
import { isLocal } from '../core/transport-parts.ts';
import type { Caller, ServerDefinition } from '../core/types.ts';
import { ConnectionPool, type ConnectionPoolOptions, type OpenRequest } from './connection-pool.ts';
import type { Wire } from './json-rpc.ts';
import { McpConnection } from './mcp-connection.ts';
import { openConnection } from './open-connection.ts';
import { Peer } from './peer.ts';

interface Opened {
  readonly server: string;
  readonly request: OpenRequest;
  readonly connection: McpConnection;
  /** The server goes away. */
  die(): Promise<void>;
}

interface World {
  era: 'legacy' | 'modern';
  /** Runs before each opening. */
  before: (request: OpenRequest) => Promise<void> | void;
  now: number;
}

/** A pool of in-memory connections on a clock of its own. */
function world(limits: Partial<ConnectionPoolOptions['limits']> = {}, more: Partial<ConnectionPoolOptions> = {}) {
  const state: World = { era: 'legacy', before: () => {}, now: 1_000_000 };
  const opened: Opened[] = [];
  const open = async (definition: ServerDefinition, request: OpenRequest) => {
    await state.before(request);
    const [near, far] = InMemoryTransport.createLinkedPair();
    const peer = new Peer(near as unknown as Wire, { onClose: request.onClose });
    await peer.start();
    await far.start();
    const { era } = state;
    const connection = new McpConnection({
      mayAsk: false,
      server: definition.name,
      isLocal: isLocal(definition.connection),
      sendsHeaders: false,
      peer,
      identity: { era, protocolVersion: '', capabilities: {}, serverInfo: {}, instructions: undefined },
      limits: LIMITS,
      obituary: () => undefined,
      log: () => `log of ${definition.name};`,
    });
    opened.push({ server: definition.name, request, connection, die: () => far.close() });
    return { connection, verdict: { era, transport: 'stdio' as const } };
  };
  const pool = new ConnectionPool({
    open,
    limits: { spawns: 5, localServers: 32, idleMs: 300_000, ...limits },
    now: () => state.now,
    random: () => 1,
    ...more,
  });
  return { pool, state, opened };
}

const server = (name: string, more: Partial<ServerDefinition> = {}) => ({ ...local('x'), name, ...more });
const a = server('a');
const ask = async () => ({});
const asked = (session?: string): Caller => ({ ask, capabilities: { elicitation: {} }, session, socket: '1' });
const refusal = (promise: Promise<unknown>): Promise<DiscoveryError> =>
  promise.then(
    () => Promise.reject(new Error('it worked')),
    (error) => error,
  );
const fail = (code: ConstructorParameters<typeof DiscoveryError>[0], retryAfterMs?: number) => () => {
  throw new DiscoveryError(code, 'no', { retryAfterMs });
};

afterEach(() => void vi.useRealTimers());

describe('sharing', () => {
  it('opens once however many ask at the same time', async () => {
    const { pool, opened } = world();
    const leases = await Promise.all(Array.from({ length: 20 }, () => pool.acquire(a, undefined)));
    expect(opened).toHaveLength(1);
    expect(new Set(leases.map(({ connection }) => connection)).size).toBe(1);
    expect(pool.isConnected('a')).toBe(true);
    expect(pool.log('a')).toBe('log of a;');
  });

  it('lets callers that cannot be asked share one connection, on which nothing is declared', async () => {
    const { pool, opened } = world();
    const callers: Caller[] = [
      {},
      { session: 's1' },
      { capabilities: { elicitation: {} } },
      { ask },
      { ask, session: 's2' },
    ];
    for (const caller of callers) await pool.acquire(a, caller);
    expect(opened.map(({ request }) => request.capabilities)).toEqual([{}]);
  });

  it('gives each session that can be asked its own connection, with what it declared', async () => {
    const { pool, opened } = world();
    const one = await pool.acquire(a, asked('s1'));
    const again = await pool.acquire(a, asked('s1'));
    const two = await pool.acquire(a, { ...asked('s2'), capabilities: { sampling: { tools: {} }, tasks: {} } });
    expect(again.connection).toBe(one.connection);
    expect(two.connection).not.toBe(one.connection);
    expect(opened.map(({ request }) => request.capabilities)).toEqual([
      { elicitation: {} },
      { sampling: { tools: {} } },
    ]);
  });

  it('gives a caller without a session a connection during its call, then reuses it for the next such caller', async () => {
    const { pool, opened } = world();
    const first = await pool.acquire(a, asked());
    const second = await pool.acquire(a, asked());
    expect(second.connection).not.toBe(first.connection);
    expect(first.connection.asker).toBe(ask);
    first.release();
    expect(first.connection.asker).toBeUndefined();
    const third = await pool.acquire(a, asked());
    expect(third.connection).toBe(first.connection);
    await pool.acquire(a, { ...asked(), capabilities: { roots: {} } });
    expect(opened).toHaveLength(3);
  });

  it('does not reuse a connection over which an unknown caller was asked, unless the operator allows it', async () => {
    const { pool } = world();
    const question = { method: 'roots/list', params: {}, signal: new AbortController().signal };
    const first = await pool.acquire(a, asked());
    await first.connection.answer({ ...question, method: 'elicitation/create' });
    // Not even for a list of tools, which needs nobody in particular.
    expect((await pool.acquire(a, undefined)).connection).not.toBe(first.connection);
    first.release();
    expect(first.connection.closed).toBe(true);
    for (const caller of [
      { ...asked('s'), acceptsInputRequired: true },
      { ...asked(), principal: 'p' },
    ]) {
      const lease = await pool.acquire(a, caller);
      await lease.connection.answer(question);
      lease.release();
      const others = [
        asked(),
        asked('t'),
        { ...asked('t'), acceptsInputRequired: true },
        { ...asked(), principal: 'q' },
      ];
      for (const other of others) expect((await pool.acquire(a, other)).connection).not.toBe(lease.connection);
      expect((await pool.acquire(a, caller)).connection).toBe(lease.connection);
    }
    const open = server('open', { shared: true });
    const lease = await pool.acquire(open, asked());
    await lease.connection.answer(question);
    lease.release();
    expect((await pool.acquire(open, asked())).connection).toBe(lease.connection);
  });

  it('reuses a connection over which an unknown caller was asked for roots, for callers with the same roots', async () => {
    const { pool, opened } = world();
    const question = { method: 'roots/list', params: {}, signal: new AbortController().signal };
    const asks: string[] = [];
    const withRoots = (name: string): Caller => ({
      capabilities: { roots: {} },
      ask: async () => {
        asks.push(name);
        return { roots: [{ uri: `file:///${name}` }] };
      },
    });
    const ada = await pool.acquire(a, withRoots('ada'));
    await ada.connection.answer(question);
    ada.release();
    const bob = await pool.acquire(a, withRoots('bob'));
    expect(bob.connection).not.toBe(ada.connection);
    await bob.connection.answer(question);
    // Asked once, although the server asks too.
    expect(asks).toEqual(['ada', 'bob']);
    bob.release();
    const again = await pool.acquire(a, withRoots('ada'));
    expect(again.connection).toBe(ada.connection);
    // In use by somebody with the same roots.
    expect((await pool.acquire(a, withRoots('ada'))).connection).not.toBe(ada.connection);
    // It asks for something else as well, and whom it means nobody knows.
    const cleo = await pool.acquire(a, withRoots('bob'));
    expect(cleo.connection).toBe(bob.connection);
    const before = asks.length;
    await cleo.connection.answer(question);
    await expect(cleo.connection.answer({ ...question, method: 'elicitation/create' })).rejects.toThrow(
      'elicitation/create: nobody was asked',
    );
    expect(asks).toHaveLength(before);
    cleo.release();
    expect(cleo.connection.closed).toBe(true);
    again.release();
    for (let n = 0; n < 8; n++) {
      const lease = await pool.acquire(a, withRoots(`n${n}`));
      await lease.connection.answer(question);
      lease.release();
    }
    expect(opened.length).toBe(11);
    // The one that is in use, and the four that were used last.
    expect(pool.size).toBe(5);
  });

  it('reuses a connection that has served an unknown caller only for the same socket and name', async () => {
    const { pool, opened } = world();
    const question = { method: 'elicitation/create', params: {}, signal: new AbortController().signal };
    let asks = 0;
    const caller = { ...asked(), socket: undefined, ask: async () => ({ answer: ++asks }) };
    const first = await pool.acquire(a, caller);
    expect(await first.connection.answer(question)).toEqual({ answer: 1 });
    first.release();
    expect(first.connection.closed).toBe(true);
    // Those whom we know again keep theirs, and a socket and a name tell whose a late question may be.
    const named = (socket: string, clientName: string) => ({ ...caller, socket, clientName });
    const ada = await pool.acquire(a, named('1', 'ada'));
    ada.release();
    for (const other of [named('2', 'ada'), named('1', 'bob'), caller])
      expect((await pool.acquire(a, other)).connection).not.toBe(ada.connection);
    const late = await pool.acquire(a, named('1', 'ada'));
    expect(late.connection).toBe(ada.connection);
    expect(await late.connection.answer(question)).toEqual({ answer: asks });
    late.release();
    expect(late.connection.closed).toBe(true);
    for (let n = 0; n < 8; n++) (await pool.acquire(a, named(`n${n}`, 'x'))).release();
    // No more than a few wait for clients that may never come again.
    expect(opened.filter(({ connection }) => !connection.closed).length).toBeLessThan(12);
    for (const known of [
      { ...caller, session: 's' },
      { ...caller, principal: 'p' },
    ]) {
      const lease = await pool.acquire(a, known);
      lease.release();
      const again = await pool.acquire(a, known);
      expect(again.connection).toBe(lease.connection);
      expect(await again.connection.answer(question)).toEqual({ answer: asks });
    }
  });

  it('delivers to no caller what a server says after its answer to an earlier one', async () => {
    const late = { method: 'notifications/message', params: { level: 'info', data: 'of the first' } };
    using server = evil({
      era: 'legacy',
      on: [{ method: 'tools/call', nth: 1, do: [{ default: true }, { notify: late }] }],
    });
    await using pool = new ConnectionPool({
      open: (definition, request) => openConnection(definition, openOptions(request)),
      limits: { spawns: 5, localServers: 32, idleMs: 300_000 },
    });
    const definition = local(server.command, server.args);
    const heard: unknown[] = [];
    for (let n = 0; n < 2; n++) {
      const lease =
        pool.borrow(definition, { exclusive: true, socket: '1' }) ??
        (await pool.acquire(definition, { exclusive: true, socket: '1' }));
      lease.connection.onNotification = (_, params) => heard.push(n, params.data);
      await lease.connection.callTool(...toolCall('echo', { text: 'x' }));
      lease.release();
    }
    await expect.poll(() => server.received('tools/call').length).toBe(2);
    expect(server.received('initialize')).toHaveLength(1);
    expect(heard).not.toContain(1);
  });

  it('does not give a connection to the next caller after a call without an answer', async () => {
    const { pool, state, opened } = world();
    const first = await pool.acquire(a, asked());
    first.release({ unanswered: true });
    expect(first.connection.closed).toBe(true);
    const second = await pool.acquire(a, asked());
    expect(second.connection).not.toBe(first.connection);
    second.release({ unanswered: false });
    expect((await pool.acquire(a, asked())).connection).toBe(second.connection);
    // What the server says to a session reaches nobody else, and to those it cannot ask it says nothing.
    for (const caller of [asked('s1'), {}]) {
      const lease = await pool.acquire(a, caller);
      lease.release({ unanswered: true });
      expect(lease.connection.closed).toBe(false);
    }
    state.era = 'modern';
    const b = server('b', { connection: { ...a.connection, command: 'y' } as ServerDefinition['connection'] });
    const modern = await pool.acquire(b, asked());
    modern.release({ unanswered: true });
    expect(modern.connection.closed).toBe(false);
    const relayed = await pool.acquire(b, { ...asked(), exclusive: true });
    relayed.release({ unanswered: true });
    expect(relayed.connection.closed).toBe(true);
    expect(opened).toHaveLength(6);
  });

  it('lets all callers share a server of the new protocol, which asks no caller over the connection', async () => {
    const { pool, state, opened } = world();
    state.era = 'modern';
    const first = await pool.acquire(a, asked('s1'));
    for (const caller of [asked('s2'), asked(), {}, undefined]) {
      expect((await pool.acquire(a, caller)).connection).toBe(first.connection);
    }
    expect(first.connection.asker).toBeUndefined();
    expect(pool.verdict(a)).toEqual({ era: 'modern', transport: 'stdio' });
    await pool.close('a');
    await Promise.all([pool.acquire(a, asked('s1')), pool.acquire(a, asked('s2'))]);
    expect(opened).toHaveLength(2);
    expect(opened[1]?.request).toMatchObject({ capabilities: {}, prior: { era: 'modern' } });
  });

  it('keeps a connection to itself for a caller that relays a server, in both protocols', async () => {
    for (const era of ['legacy', 'modern'] as const) {
      const { pool, state } = world();
      state.era = era;
      const shared = await pool.acquire(a, {});
      const relay = await pool.acquire(a, { exclusive: true, session: 's1' });
      const same = await pool.acquire(a, { exclusive: true, session: 's1' });
      const other = await pool.acquire(a, { exclusive: true });
      expect(same.connection).toBe(relay.connection);
      expect(new Set([shared, relay, other].map(({ connection }) => connection)).size).toBe(3);
      expect((await pool.acquire(a, {})).connection).toBe(shared.connection);
      expect((await pool.acquire(a, undefined)).connection).toBe(shared.connection);
      other.connection.onNotification = () => {};
      other.release();
      expect(other.connection.onNotification).toBeUndefined();
    }
  });

  it('lists over any open connection, and the caller that can be asked stays the same', async () => {
    const { pool, opened } = world();
    const session = await pool.acquire(a, asked('s1'));
    const listing = await pool.acquire(a, undefined);
    expect(listing.connection).toBe(session.connection);
    expect(session.connection.asker).toBe(ask);
    listing.release();
    expect(session.connection.asker).toBe(ask);
    expect(opened).toHaveLength(1);
  });

  it('asks the latest call of a session that still runs', async () => {
    const { pool } = world();
    const caller = (): Caller => ({ ...asked('s1'), ask: async () => ({}) });
    const [older, newer] = [caller(), caller()];
    const first = await pool.acquire(a, older);
    const second = await pool.acquire(a, newer);
    expect(first.connection.asker).toBe(newer.ask);
    second.release();
    expect(first.connection.asker).toBe(older.ask);
    first.release();
    expect(first.connection.asker).toBe(older.ask);
  });

  it('puts every question of a real server of the old protocol to its own caller, with sessions and without', async () => {
    await using pool = new ConnectionPool({
      open: (definition, request) => openConnection(definition, openOptions(request)),
      limits: { spawns: 5, localServers: 32, idleMs: 300_000 },
    });
    const definition = script('eliciting.mjs');
    let crossed = 0;
    const call = async (who: string, n: number, session: string | undefined) => {
      const marker = `${who}-${n}`;
      const caller: Caller = {
        ...asked(session),
        ask: async ({ params }) => {
          if (!String(params?.message).startsWith(`${who}-`)) crossed++;
          return { by: who };
        },
      };
      const lease = await pool.acquire(definition, caller);
      const result = await lease.connection.callTool(...toolCall('ask', { marker }, { caller }));
      lease.release();
      if (JSON.stringify(result.structuredContent) !== JSON.stringify({ marker, answer: { by: who } })) crossed++;
    };
    const clients = [
      ['s1', 's1'],
      ['s2', 's2'],
      ['x', undefined],
      ['y', undefined],
    ] as const;
    const calls = clients.flatMap(([who, session]) =>
      session
        ? Array.from({ length: 40 }, (_, n) => call(who, n, session))
        : [
            (async () => {
              for (let n = 0; n < 5; n++) await call(who, n, session);
            })(),
          ],
    );
    await Promise.all(calls);
    expect(crossed).toBe(0);
    // Those of the sessions; what somebody unknown has answered over serves nobody else.
    expect(pool.size).toBe(2);
    const shared = await pool.acquire(definition, {});
    const refused = await shared.connection.callTool(...toolCall('ask', { marker: 'nobody' }));
    expect(JSON.stringify(refused.structuredContent)).toContain('refused');
  });
});

describe('leaving', () => {
  it('closes what was idle for five minutes, not what is used, and opens it again on use', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { pool, state, opened } = world();
    const busy = await pool.acquire(server('busy'), undefined);
    const idle = await pool.acquire(a, undefined);
    idle.release();
    idle.release();
    state.now += 299_000;
    vi.advanceTimersByTime(30_000);
    expect(pool.size).toBe(2);
    state.now += 1000;
    vi.advanceTimersByTime(30_000);
    expect(pool.size).toBe(1);
    expect(idle.connection.closed).toBe(true);
    expect(busy.connection.closed).toBe(false);
    expect(pool.status('a')).toEqual({ status: 'disconnected', reason: undefined });
    await pool.acquire(a, undefined);
    expect(opened).toHaveLength(3);
    await pool.close();
  });

  it('closes at once if asked to, but not while another caller uses it', async () => {
    const { pool } = world();
    const [one, two] = [await pool.acquire(a, undefined), await pool.acquire(a, undefined)];
    one.release({ close: true });
    expect(two.connection.closed).toBe(false);
    two.release({ close: true });
    expect(two.connection.closed).toBe(true);
    expect(pool.size).toBe(0);
  });

  it('closes the local server that was idle longest when there are too many, never a busy one', async () => {
    const { pool, state } = world({ localServers: 2 });
    const one = await pool.acquire(server('one'), undefined);
    const two = await pool.acquire(server('two'), undefined);
    const error = await refusal(pool.acquire(server('three'), undefined));
    expect(error).toMatchObject({
      code: 'SERVER_BUSY',
      message: expect.stringContaining('2 other servers are busy'),
      details: { server: 'three', outcome: 'not_sent', retryAfterMs: 1000 },
    });
    two.release();
    state.now++;
    one.release();
    await pool.acquire(server('three'), undefined);
    expect([one.connection.closed, two.connection.closed]).toEqual([false, true]);
    for (const n of [1, 2, 3]) await pool.acquire({ ...remote('http://x/'), name: `remote${n}` }, undefined);
    expect(pool.size).toBe(5);
  });

  it('leaves room for others when the calls of some servers hang, each in a process of its own', async () => {
    const { pool } = world({ localServers: 32 });
    const hang = async (name: string, calls: number) => {
      const all = await Promise.allSettled(Array.from({ length: calls }, () => pool.acquire(server(name), asked())));
      return all.filter(({ status }) => status === 'fulfilled').length;
    };
    const warm = await pool.acquire(server('warm'), asked());
    warm.release();
    expect(await hang('a', 30)).toBe(24);
    expect(await hang('b', 20)).toBe(4);
    const refused = await refusal(pool.acquire(server('b'), asked()));
    expect(refused).toMatchObject({ code: 'SERVER_BUSY', details: { server: 'b', retryAfterMs: 1000 } });
    expect(refused.message).toBe(
      'b may not start another process now: it has 4, and the rest is for other servers. At most 32 local servers run at once; "a" has 24 processes.',
    );
    expect((await pool.acquire(server('warm'), asked())).connection).toBe(warm.connection);
    expect(await hang('c', 20)).toBe(2);
    expect(await hang('d', 20)).toBe(1);
    // However many do so, there are never more than allowed.
    for (let n = 0; n < 40; n++) await hang(`more${n}`, 20);
    expect(pool.size).toBe(32);
  });

  it('gives one server all of very few places, and closes what is idle for the next', async () => {
    const { pool } = world({ localServers: 2 });
    const leases = [await pool.acquire(server('a'), asked()), await pool.acquire(server('a'), asked())];
    expect((await refusal(pool.acquire(server('b'), asked()))).code).toBe('SERVER_BUSY');
    for (const lease of leases) lease.release();
    await pool.acquire(server('b'), asked());
    expect(pool.size).toBe(2);
  });

  it('ends with its session: idle connections at once, busy ones after their last call', async () => {
    const { pool, opened } = world();
    const busy = await pool.acquire(a, asked('s1'));
    const idle = await pool.acquire(server('b'), asked('s1'));
    const other = await pool.acquire(a, asked('s2'));
    idle.release();
    pool.endSession('s1');
    expect([busy, idle, other].map(({ connection }) => connection.closed)).toEqual([false, true, false]);
    expect((await pool.acquire(a, asked('s1'))).connection).not.toBe(busy.connection);
    busy.release();
    expect(busy.connection.closed).toBe(true);
    expect(opened).toHaveLength(4);
  });

  it('keeps what a reload did not change, and closes the rest once it is idle', async () => {
    const { pool, opened } = world();
    const env = (value: string) => server('a', { connection: { ...a.connection, env: { TOKEN: value } } as never });
    const same = await pool.acquire(server('same'), undefined);
    const changed = await pool.acquire(env('1'), undefined);
    const removed = await pool.acquire(server('removed'), undefined);
    removed.release();
    pool.retain([server('same'), env('2')]);
    expect([same, changed, removed].map(({ connection }) => connection.closed)).toEqual([false, false, true]);
    expect(pool.isConnected('a')).toBe(false);
    expect((await pool.acquire(env('2'), undefined)).connection).not.toBe(changed.connection);
    expect((await pool.acquire(server('same'), undefined)).connection).toBe(same.connection);
    changed.release();
    expect(changed.connection.closed).toBe(true);
    expect(opened).toHaveLength(4);
  });

  it('serves callers that already wait for a connection that a reload made obsolete', async () => {
    const { pool, state } = world();
    let proceed = () => {};
    state.before = () =>
      new Promise((resolve) => {
        proceed = resolve;
      });
    const waiting = pool.acquire(a, undefined);
    pool.retain([]);
    proceed();
    const lease = await waiting;
    expect(lease.connection.closed).toBe(false);
    lease.release();
    expect(lease.connection.closed).toBe(true);
    expect(pool.size).toBe(0);
  });

  it('ends for good with everything in it, also what is in use or still opening', async () => {
    const { pool, state, opened } = world();
    const used = await pool.acquire(a, undefined);
    state.before = ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
    const waiting = refusal(pool.acquire(server('slow'), undefined));
    await pool.close();
    expect(used.connection.closed).toBe(true);
    expect((await waiting).code).toBe('SHUTTING_DOWN');
    expect((await refusal(pool.acquire(a, undefined))).code).toBe('SHUTTING_DOWN');
    expect(pool.size).toBe(0);
    expect(pool.status('slow').status).toBe('disconnected');
    expect(opened).toHaveLength(1);
    used.release();
    await pool[Symbol.asyncDispose]();
  });

  it('closes a connection that opens after all its callers have left', async () => {
    const { pool, state, opened } = world();
    let proceed = () => {};
    state.before = () =>
      new Promise((resolve) => {
        proceed = resolve;
      });
    const waiting = refusal(pool.acquire(a, undefined));
    const closing = pool.close('a');
    proceed();
    await closing;
    expect((await waiting).code).toBe('SHUTTING_DOWN');
    expect(opened[0]?.connection.closed).toBe(true);
    state.before = () => {};
    await pool.acquire(a, undefined);
    expect(pool.size).toBe(1);
  });

  it('leaves no process behind', async () => {
    using one = evil({ on: [{ method: 'initialize', do: [] }] });
    using two = evil({ on: [{ method: 'tools/call', do: [] }] });
    const pool = new ConnectionPool({
      open: (definition, request) => openConnection(definition, openOptions(request)),
      limits: { spawns: 5, localServers: 32, idleMs: 300_000 },
    });
    const starting = refusal(pool.acquire({ ...local(one.command, one.args), name: 'one' }, undefined));
    const { connection } = await pool.acquire({ ...local(two.command, two.args), name: 'two' }, undefined);
    const running = refusal(connection.callTool(...toolCall('echo')));
    await expect.poll(() => one.received('initialize').length + two.received('tools/call').length).toBe(2);
    await pool.close();
    expect((await starting).code).toBe('SHUTTING_DOWN');
    expect(await running).toMatchObject({ code: 'SERVER_CONNECTION_ERROR', details: { outcome: 'unknown' } });
    for (const { journal } of [one, two])
      await expect.poll(() => journal().some(({ event }) => event === 'exit'), { timeout: 5000 }).toBe(true);
  });
});

describe('trouble', () => {
  it('grows the pause between connects to a server that keeps failing, and tells callers at once', async () => {
    const { pool, state, opened } = world();
    let attempts = 0;
    state.before = () => {
      attempts++;
      throw new Error('boom');
    };
    const waits: number[] = [];
    for (let i = 0; i < 4; i++) {
      expect((await refusal(pool.acquire(a, undefined))).message).toBe('boom');
      const refused = await Promise.all(Array.from({ length: 50 }, () => refusal(pool.acquire(a, asked('s')))));
      for (const error of refused) {
        expect(error).toMatchObject({ code: 'SERVER_UNAVAILABLE', details: { server: 'a', outcome: 'not_sent' } });
      }
      waits.push(refused[0]?.details.retryAfterMs ?? 0);
      state.now += waits.at(-1) ?? 0;
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000]);
    expect(attempts).toBe(4);
    expect(pool.status('a')).toEqual({ status: 'error', reason: 'boom' });
    state.before = () => {};
    await pool.acquire(a, undefined);
    expect(pool.status('a')).toEqual({ status: 'connected', reason: undefined });
    expect(opened).toHaveLength(1);
  });

  it('makes few attempts in a minute however many clients come', async () => {
    const { pool, state } = world();
    let attempts = 0;
    state.before = () => {
      attempts++;
      throw new Error('away');
    };
    for (let second = 0; second < 60; second++) {
      await Promise.allSettled(Array.from({ length: 200 }, () => pool.acquire(a, undefined)));
      state.now += 1000;
    }
    expect(attempts).toBeLessThanOrEqual(8);
  });

  it('waits as long as the server asked', async () => {
    const { pool, state } = world();
    state.before = fail('RATE_LIMITED', 45_000);
    await refusal(pool.acquire(a, undefined));
    expect((await refusal(pool.acquire(a, undefined))).details.retryAfterMs).toBe(45_000);
  });

  it('does not try again when a login is needed, until a reload', async () => {
    const { pool, state, opened } = world();
    state.before = fail('SERVER_AUTH_REQUIRED');
    expect((await refusal(pool.acquire(a, undefined))).code).toBe('SERVER_AUTH_REQUIRED');
    state.before = () => {};
    state.now += 240_000;
    expect((await refusal(pool.acquire(a, undefined))).code).toBe('SERVER_AUTH_REQUIRED');
    expect(opened).toHaveLength(0);
    pool.retain([a]);
    await pool.acquire(a, undefined);
    expect(opened).toHaveLength(1);
  });

  it('brings a server that died back at once, and leaves one alone that keeps dying', async () => {
    const { pool, state, opened } = world();
    const waits: number[] = [];
    for (let i = 0; i < 4; i++) {
      await pool.acquire(a, undefined);
      await opened.at(-1)?.die();
      expect(pool.status('a')).toEqual({ status: 'error', reason: expect.stringMatching(/^a went away/) });
      const error = i === 0 ? undefined : await refusal(pool.acquire(a, undefined));
      waits.push(error?.details.retryAfterMs ?? 0);
      state.now += waits.at(-1) ?? 0;
    }
    expect(waits).toEqual([0, 1000, 2000, 300_000]);
    expect(pool.log('a')).toBe('log of a;');
    pool.retain([]);
    expect(pool.log('a')).toBe('');
  });

  it('treats a server that dies right after the greeting as failing', async () => {
    const { pool, state, opened } = world();
    for (const until = state.now + 600_000; state.now < until; state.now += 500) {
      const lease = await pool.acquire(a, undefined).catch(() => undefined);
      if (lease) await opened.at(-1)?.die();
      lease?.release();
    }
    expect(opened).toHaveLength(5);
  });

  it('tells a caller whose connection has just died that nothing was sent', async () => {
    const { pool, state } = world();
    const open = pool.acquire(a, undefined);
    const lease = await open;
    await lease.connection.close();
    expect(pool.size).toBe(0);
    expect(await refusal(lease.connection.callTool(...toolCall('x')))).toMatchObject({
      details: { outcome: 'not_sent' },
    });
    state.now += 1;
    expect((await pool.acquire(a, undefined)).connection.closed).toBe(false);
  });

  it('lets a caller give up waiting, and keeps the connection for the next', async () => {
    const { pool, state, opened } = world();
    let proceed = () => {};
    state.before = () =>
      new Promise((resolve) => {
        proceed = resolve;
      });
    const controller = new AbortController();
    const waiting = pool.acquire(a, undefined, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    proceed();
    await pool.acquire(a, undefined);
    expect(opened).toHaveLength(1);
  });

  it('starts no more than five local servers at the same time; remote ones are not counted', async () => {
    const { pool, state } = world();
    let now = 0;
    let most = 0;
    state.before = async () => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setImmediate(resolve));
      now--;
    };
    await Promise.all(Array.from({ length: 20 }, (_, n) => pool.acquire(server(`s${n}`), undefined)));
    expect(most).toBe(5);
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => pool.acquire({ ...remote('http://x/'), name: `r${n}` }, undefined)),
    );
    expect(most).toBe(20);
  });

  it('remembers the verdict, uses it, and forgets it when connecting fails', async () => {
    const { pool, state, opened } = world();
    pool.remember(a, { era: 'legacy', transport: 'stdio' });
    pool.remember(a, { era: 'modern', transport: 'stdio' });
    const lease = await pool.acquire(a, undefined);
    expect(opened[0]?.request.prior).toEqual({ era: 'legacy', transport: 'stdio' });
    lease.release({ close: true });
    state.before = fail('SERVER_CONNECTION_ERROR');
    await refusal(pool.acquire(a, undefined));
    expect(pool.verdict(a)).toBeUndefined();
  });

  it('hands notifications on with the name of the server', async () => {
    const heard: unknown[][] = [];
    const { pool, opened } = world({}, { onNotification: (...note) => heard.push(note) });
    await pool.acquire(a, undefined);
    opened[0]?.request.onNotification('notifications/x', { y: 1 });
    expect(heard).toEqual([['a', 'notifications/x', { y: 1 }, undefined, false]]);
  });

  it('reopens a real remote server whose session ended', async () => {
    let sessions = 0;
    let forgotten = false;
    await using remoteServer = await serve(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const { id, method } = JSON.parse(body) as { id?: number; method: string };
      if (method === 'server/discover') return void response.writeHead(400).end();
      if (method === 'initialize') {
        sessions++;
        forgotten = false;
      } else if (forgotten) return void response.writeHead(404).end();
      if (id === undefined) return void response.writeHead(202).end();
      const result = { protocolVersion: '2025-06-18', capabilities: {}, tools: [], content: [] };
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': `s${sessions}` });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
    await using pool = new ConnectionPool({
      open: (definition, request) => openConnection(definition, openOptions(request)),
      limits: { spawns: 5, localServers: 32, idleMs: 300_000 },
    });
    const definition = remote(remoteServer.url);
    const call = async () => {
      const lease = await pool.acquire(definition, {});
      try {
        return await lease.connection.callTool(...toolCall('x'));
      } finally {
        lease.release();
      }
    };
    await call();
    forgotten = true;
    const forgot = await refusal(call());
    expect(forgot).toMatchObject({ code: 'SERVER_CONNECTION_ERROR', details: { outcome: 'unknown' } });
    expect(forgot.cause).toBeInstanceOf(UnheededError);
    await expect.poll(() => pool.isConnected('remote')).toBe(false);
    expect(await call()).toMatchObject({ content: [] });
    expect(sessions).toBe(2);
  });
});
