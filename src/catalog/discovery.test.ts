import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { definition } from '../../test/fixtures/connections/harness.ts';
import { memoryLog } from '../../test/fixtures/engine.ts';
import { DiscoveryError, ServerConnectionError } from '../core/errors.ts';
import type { SourceDefinition } from '../core/tool-provider.ts';
import { compileRules } from '../rules/compile-rules.ts';
import { ToolPolicy } from '../rules/tool-policy.ts';
import { SearchEngine } from '../search/search-engine.ts';
import { Catalog } from './catalog.ts';
import { Discovery } from './discovery.ts';
import type { Listing } from './listing.ts';
import { searchNotes } from './search-notes.ts';
import { requireTool } from './tool-lookup.ts';

const HOUR = 3_600_000;

const listing = (server: string, names: readonly string[], more: Partial<Listing> = {}): Listing => ({
  server,
  fingerprint: 'f',
  fetchedAt: Date.now(),
  tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })),
  skipped: [],
  ...more,
});

async function setUp(
  names: readonly string[],
  list: (server: string, attempt: number) => Promise<Listing>,
  more: { attempts?: number; fingerprint?: string } = {},
) {
  const servers = new Map(
    names.map((name) => [
      name,
      {
        definition: definition(name, { type: 'http', url: 'http://x', headers: {}, auth: undefined }),
        fingerprint: more.fingerprint ?? 'f',
      },
    ]),
  );
  const rules = await compileRules([], 'first-match');
  const policy = new ToolPolicy(rules);
  const catalog = new Catalog({ servers, policy, store: undefined, search: new SearchEngine(), indexed: new Map() });
  const log = memoryLog();
  const asked: string[] = [];
  const changed: string[] = [];
  const running = { now: 0, most: 0 };
  const discovery = new Discovery({
    catalog,
    servers,
    list: async ({ name }: SourceDefinition) => {
      asked.push(name);
      running.most = Math.max(running.most, ++running.now);
      try {
        return await list(name, asked.filter((one) => one === name).length);
      } finally {
        running.now--;
      }
    },
    ttlMs: HOUR,
    parallel: 5,
    logger: log,
    now: () => Date.now(),
    random: () => 0.5,
    retry: { attempts: more.attempts ?? 3, initial: 1000, max: 30_000, factor: 2, jitter: 0.1, withinMs: 60_000 },
    onChange: (server) => void changed.push(server),
  });
  return { catalog, discovery, log, asked, changed, running };
}

const tick = () => vi.advanceTimersByTimeAsync(0);
const never = () => new Promise<never>(() => {});

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('first lists', () => {
  it('are waited for with a timeout, and missing ones are named', async () => {
    const { discovery } = await setUp(['quick', 'slow'], (server) =>
      server === 'slow' ? never() : Promise.resolve(listing(server, ['a'])),
    );
    const waited = discovery.firstLists(discovery.unseen(), 2000);
    await vi.advanceTimersByTimeAsync(1999);
    expect(discovery.unseen()).toEqual(['slow']);
    await vi.advanceTimersByTimeAsync(1);
    await waited;
    expect(discovery.isRunning('slow')).toBe(true);
    expect(searchNotes(discovery, ['quick', 'slow'], [], 0)).toEqual(['slow not searched: still starting, try again']);
  });

  it('are read five at a time, each once however many ask', async () => {
    const names = Array.from({ length: 12 }, (_, i) => `s${i}`);
    const { discovery, asked, running } = await setUp(names, async (server) => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return listing(server, ['a']);
    });
    const all = Promise.all([discovery.firstLists(names, 10_000), discovery.firstLists(names, 10_000)]);
    await vi.advanceTimersByTimeAsync(1000);
    await all;
    expect(running.most).toBe(5);
    expect(asked).toHaveLength(12);
    expect(discovery.unseen()).toEqual([]);
  });

  it('are waited for through a second attempt, if it may help', async () => {
    const { discovery } = await setUp(['busy'], async (server, attempt) => {
      if (attempt === 1) throw new ServerConnectionError(server, 'busy answered HTTP 503.');
      return listing(server, ['a']);
    });
    const waited = discovery.firstLists(['busy'], 2000);
    await tick();
    // A second search waits for the same.
    const second = discovery.firstLists(['busy'], 2000);
    await vi.advanceTimersByTimeAsync(1000);
    await Promise.all([waited, second]);
    expect(discovery.unseen()).toEqual([]);
  });

  it('are not waited for if nothing listens, or if only a person can help', async () => {
    const { discovery, asked } = await setUp(['down', 'unset'], async (server) => {
      const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
      if (server === 'down') throw new ServerConnectionError(server, 'refused', { cause: new Error('x', { cause }) });
      throw new DiscoveryError('CONFIGURATION_ERROR', '${TOKEN} is not set');
    });
    await discovery.firstLists(['down', 'unset'], 2000);
    expect(discovery.failure('down')?.message).toBe('refused');
    expect(asked).toHaveLength(2);
    expect(discovery.isRunning('down')).toBe(true);
    discovery.stop();
  });

  it('are not waited for by a call if nothing listens; its attempt is made at once', async () => {
    const { discovery, catalog, asked } = await setUp(['late'], async (server, attempt) => {
      const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
      if (attempt < 3) throw new ServerConnectionError(server, `refused ${attempt}`, { cause });
      return listing(server, ['a']);
    });
    const servers = new Map([
      ['late', { definition: definition('late', { type: 'http', url: 'http://x', headers: {}, auth: undefined }) }],
    ]);
    const state = { servers, catalog, discovery, switchedOff: new Set<string>() };
    const call = () => requireTool(state, { server: 'late', tool: 'a' });
    // No time passes at all.
    for (let attempt = 1; attempt < 3; attempt++) {
      const error = { message: `refused ${attempt}`, outcome: 'not_sent' };
      expect(await call()).toMatchObject({ success: false, error });
    }
    expect(await call()).toMatchObject({ success: true });
    expect(asked).toHaveLength(3);
  });

  it('are waited for by a call through attempts that may help', async () => {
    const { discovery, asked } = await setUp(['busy'], async (server, attempt) => {
      if (attempt < 3) throw new ServerConnectionError(server, 'busy answered HTTP 503.');
      return listing(server, ['a']);
    });
    const calls = Promise.all([discovery.listed('busy'), tick().then(() => discovery.listed('busy'))]);
    await vi.advanceTimersByTimeAsync(2999);
    expect(asked).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(await calls).toEqual([undefined, undefined]);
  });

  it('are waited for by a call for one attempt that times out, and no longer than connecting may take', async () => {
    const overdue = (server: string) =>
      new ServerConnectionError(server, 'too late', {
        cause: Object.assign(new Error('too late'), { code: 'ETIMEDOUT' }),
      });
    const { discovery, asked } = await setUp(['hung', 'silent'], async (server) => {
      if (server === 'silent') return never();
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      throw overdue(server);
    });
    let said: string[] = [];
    const call = (server: string) =>
      void discovery.listedInTime(server).then((failure) => said.push(`${server}: ${failure?.message}`));
    call('hung');
    call('silent');
    await vi.advanceTimersByTimeAsync(3_000);
    expect([said, asked]).toEqual([['hung: too late'], ['hung', 'silent']]);
    // The next step of the same call, or a caller that tries again at once, is told the same.
    call('hung');
    await tick();
    expect(said).toHaveLength(2);
    said = [];
    await vi.advanceTimersByTimeAsync(2_000);
    expect(said).toEqual(['silent: silent did not list its tools within 5 s.']);
    // In the background it is asked again.
    expect(asked.filter((name) => name === 'hung')).toHaveLength(2);
  });

  it('of servers that hang do not keep the others from being asked', async () => {
    const names = [...Array.from({ length: 5 }, (_, i) => `hung${i}`), 'quick'];
    const { discovery } = await setUp(names, (server) =>
      server === 'quick' ? Promise.resolve(listing(server, ['a'])) : never(),
    );
    const waited = discovery.firstLists(names, 2000);
    await vi.advanceTimersByTimeAsync(2000);
    await waited;
    expect(discovery.unseen()).not.toContain('quick');
  });
});

describe('a failure', () => {
  it('is retried after 1, 2 and 4 seconds, then logged once', async () => {
    const { discovery, asked, log } = await setUp(['down'], async (server) => {
      throw new ServerConnectionError(server, 'refused');
    });
    const done = discovery.refresh('down');
    for (const [ms, attempts] of [
      [999, 1],
      [1, 2],
      [1999, 2],
      [1, 3],
      [4000, 4],
      [60_000, 4],
    ] as const) {
      await vi.advanceTimersByTimeAsync(ms);
      expect(asked).toHaveLength(attempts);
    }
    expect(await done).toBe(false);
    expect(log.lines.filter((line) => line.includes('refused'))).toHaveLength(1);
  });

  it('waits as long as the server asks for', async () => {
    const { discovery, asked } = await setUp(['busy'], async (server, attempt) => {
      if (attempt === 1) throw new DiscoveryError('RATE_LIMITED', 'slow down', { retryAfterMs: 9000 });
      return listing(server, ['a']);
    });
    const done = discovery.refresh('busy');
    await vi.advanceTimersByTimeAsync(8999);
    expect(asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await done).toBe(true);
    expect(discovery.failure('busy')).toBeUndefined();
  });

  it('of a server that hangs is not retried beyond the time limit of a list', async () => {
    const { discovery, asked } = await setUp(['hung'], async (server) => {
      await new Promise((resolve) => setTimeout(resolve, 15_000));
      throw new ServerConnectionError(server, 'no list within 15 s');
    });
    const started = Date.now();
    const done = discovery.refresh('hung').then(() => Date.now() - started);
    await vi.advanceTimersByTimeAsync(120_000);
    // 15 s, a second, 15 s, two seconds, 15 s; a fourth attempt would end after 67 s.
    expect(await done).toBe(48_000);
    expect(asked).toHaveLength(3);
  });

  it('of a server that asks for a longer pause is final', async () => {
    const { discovery, asked } = await setUp(['busy'], async () => {
      throw new DiscoveryError('RATE_LIMITED', 'slow down', { retryAfterMs: 60_001 });
    });
    expect(await discovery.refresh('busy')).toBe(false);
    expect(asked).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('that waiting does not fix is not retried', async () => {
    const { discovery, asked } = await setUp(['locked', 'odd'], async (server) => {
      if (server === 'odd') throw 'not even an error';
      throw new DiscoveryError('SERVER_AUTH_REQUIRED', 'log in first');
    });
    expect(await discovery.refresh('locked')).toBe(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toEqual(['locked']);
    expect(searchNotes(discovery, ['locked'], [], 0)).toEqual(['locked not searched: login needed']);
    void discovery.refresh('odd');
    await tick();
    expect(discovery.failure('odd')?.code).toBe('SERVER_CONNECTION_ERROR');
  });

  it('keeps the last good list and affects no other', async () => {
    const { discovery, catalog } = await setUp(
      ['shaky', 'fine'],
      async (server, attempt) => {
        if (server === 'shaky' && attempt > 1) throw new ServerConnectionError(server, 'gone');
        return listing(server, [`${server}_${attempt}`]);
      },
      { attempts: 0 },
    );
    await Promise.all([discovery.refresh('shaky'), discovery.refresh('fine')]);
    await Promise.all([discovery.refresh('shaky'), discovery.refresh('fine')]);
    expect(catalog.tools('shaky').map(({ name }) => name)).toEqual(['shaky_1']);
    expect(catalog.tools('fine').map(({ name }) => name)).toEqual(['fine_2']);
    expect(discovery.failure('shaky')?.message).toBe('gone');
  });
});

describe('an incomplete list', () => {
  it('is better than none, and never replaces a complete one', async () => {
    const { discovery, catalog, log } = await setUp(['big'], async (server, attempt) =>
      attempt === 3
        ? listing(server, ['a', 'b'])
        : listing(server, ['a'], { incomplete: 'the server repeated a page cursor' }),
    );
    expect(await discovery.refresh('big')).toBe(true);
    expect(catalog.state('big')).toMatchObject({ toolCount: 1, incomplete: 'the server repeated a page cursor' });
    await discovery.refresh('big');
    await discovery.refresh('big');
    expect(catalog.state('big')).toMatchObject({ toolCount: 2, incomplete: undefined });
    expect(await discovery.refresh('big')).toBe(false);
    expect(catalog.state('big')?.toolCount).toBe(2);
    expect(log.lines.at(-1)).toContain('the current one stays');
  });

  it('replaces a complete one if a limit of ours cut it', async () => {
    const { discovery, catalog, log } = await setUp(['big'], async (server, attempt) =>
      attempt === 1
        ? listing(server, ['a'])
        : listing(server, ['b', 'c'], { incomplete: 'more than 2 tools', isCut: true }),
    );
    await discovery.refresh('big');
    expect(await discovery.refresh('big')).toBe(true);
    expect(catalog.tools('big').map(({ name }) => name)).toEqual(['b', 'c']);
    expect(log.lines.at(-1)).toContain('more than 2 tools');
  });

  it('names the tools that were left out', async () => {
    const { discovery, log } = await setUp(['s'], async (server) =>
      listing(server, ['a'], { skipped: [{ name: 'bad', reason: 'inputSchema is not an object' }] }),
    );
    await discovery.refresh('s');
    expect(log.lines.join()).toMatch(/left out.*bad.*inputSchema/);
  });
});

describe('age', () => {
  it('is old after the time to live and stale after a day', async () => {
    const { discovery } = await setUp(['s'], async (server) => listing(server, ['a']));
    expect([discovery.isOld('s'), discovery.isStale('s')]).toEqual([false, false]);
    await discovery.refresh('s');
    vi.setSystemTime(Date.now() + HOUR);
    expect(discovery.isOld('s')).toBe(false);
    vi.setSystemTime(Date.now() + 1);
    expect([discovery.isOld('s'), discovery.isStale('s')]).toEqual([true, false]);
    vi.setSystemTime(Date.now() + 24 * HOUR);
    expect(discovery.isStale('s')).toBe(true);
    const hit = { server: 's', tool: 'a', summary: '', relevance: 1, tags: [] };
    expect(searchNotes(discovery, [], [hit], 2)).toEqual([
      'list older than a day, not read again yet: s',
      '2 matching tools are disabled',
    ]);
    expect(searchNotes(discovery, [], [], 1)).toEqual(['1 matching tool is disabled']);
  });

  it('is refreshed in the background: what was shown first, then the rest two at a time', async () => {
    const names = Array.from({ length: 7 }, (_, i) => `s${i}`);
    let slow = false;
    const { discovery, asked, running } = await setUp(names, async (server) => {
      if (slow) await new Promise((resolve) => setTimeout(resolve, 100));
      return listing(server, ['a']);
    });
    await Promise.all(names.map((name) => discovery.refresh(name)));
    discovery.refreshBehind(['s5']);
    expect(asked).toHaveLength(7);
    vi.setSystemTime(Date.now() + 2 * HOUR);
    slow = true;
    asked.length = running.most = 0;
    discovery.refreshBehind(['s5', 's5', 'unknown']);
    await tick();
    expect(asked).toEqual(['s5', 's0', 's1']);
    discovery.refreshBehind([]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked).toHaveLength(7);
    expect(running.most).toBe(3);
  });

  it('of a server that is down is not refreshed after every answer', async () => {
    const { discovery, asked } = await setUp(
      ['s'],
      async (server, attempt) => {
        if (attempt > 1) throw new ServerConnectionError(server, 'gone');
        return listing(server, ['a']);
      },
      { attempts: 0 },
    );
    await discovery.refresh('s');
    vi.setSystemTime(Date.now() + 2 * HOUR);
    for (let i = 0; i < 5; i++) {
      discovery.refreshBehind(['s']);
      await tick();
    }
    expect(asked).toHaveLength(2);
    vi.setSystemTime(Date.now() + 61_000);
    discovery.refreshBehind(['s']);
    await tick();
    expect(asked).toHaveLength(3);
  });
});

describe('a change notice', () => {
  it('ten thousand times in a burst costs at most two list requests', async () => {
    const { discovery, asked, changed } = await setUp(['s'], async (server) => listing(server, ['a']));
    for (let i = 0; i < 10_000; i++) {
      discovery.changed('s');
      if (i % 1000 === 0) await vi.advanceTimersByTimeAsync(10);
    }
    await vi.advanceTimersByTimeAsync(20_000);
    expect(asked.length).toBeGreaterThanOrEqual(1);
    expect(asked.length).toBeLessThanOrEqual(2);
    // The visible list changed once, with the first.
    expect(changed).toEqual(['s']);
    discovery.changed('unknown');
  });

  it('is not lost when a list is being read that may be older', async () => {
    let finish = () => {};
    const { discovery, catalog } = await setUp(['s'], async (server, attempt) => {
      if (attempt === 1) await new Promise<void>((resolve) => (finish = resolve));
      return listing(server, [`version_${attempt}`]);
    });
    const first = discovery.refresh('s');
    await tick();
    discovery.changed('s');
    await vi.advanceTimersByTimeAsync(100);
    finish();
    await first;
    await discovery.idle();
    expect(catalog.tools('s').map(({ name }) => name)).toEqual(['version_2']);
  });

  it('after every list costs one list in thirty seconds after the first minute, and the last one is not lost', async () => {
    let version = 0;
    let stopped = false;
    const times: number[] = [];
    const { discovery, catalog } = await setUp(['s'], async (server) => {
      times.push(Date.now() - 1_000_000_000_000);
      const seen = ++version % 2;
      await new Promise((resolve) => setTimeout(resolve, 700));
      // Before the answer and after it, and once more while nothing is being read.
      if (!stopped) for (const ms of [0, 100, 400]) setTimeout(() => discovery.changed('s'), ms);
      return listing(server, [`version_${seen}`]);
    });
    discovery.changed('s');
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    const inMinute = (minute: number) => times.filter((ms) => Math.floor(ms / 60_000) === minute).length;
    expect(inMinute(0)).toBeGreaterThan(5);
    for (let minute = 1; minute < 10; minute++) expect([minute, inMinute(minute)]).toEqual([minute, 2]);
    const gaps = times.filter((ms) => ms >= 60_000).map((ms, at, all) => ms - (all[at - 1] ?? ms - 30_000));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(29_000);
    stopped = true;
    await vi.advanceTimersByTimeAsync(60_000);
    const before = version;
    discovery.changed('s');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(version).toBe(before + 1);
    expect(catalog.tools('s').map(({ name }) => name)).toEqual([`version_${version % 2}`]);
    // Having been quiet, it is heard quickly again.
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    discovery.changed('s');
    await vi.advanceTimersByTimeAsync(1000);
    expect(version).toBe(before + 2);
  });

  it('that could not be followed makes the list old, so that the next answer asks for it again', async () => {
    let down = false;
    const { discovery, catalog } = await setUp(
      ['s'],
      async (server, attempt) => {
        if (down) throw new ServerConnectionError(server, 'refused');
        return listing(server, [`version_${attempt}`]);
      },
      { attempts: 0 },
    );
    await discovery.refresh('s');
    down = true;
    discovery.changed('s');
    await vi.advanceTimersByTimeAsync(1000);
    expect(discovery.isOld('s')).toBe(true);
    down = false;
    await vi.advanceTimersByTimeAsync(61_000);
    discovery.refreshBehind(['s']);
    await discovery.idle();
    expect([discovery.isOld('s'), catalog.tools('s')[0]?.name]).toEqual([false, 'version_3']);
  });

  it('is paced across a reload as before it', async () => {
    const one = await setUp(['s'], async (server) => listing(server, ['a']));
    let discovery = one.discovery;
    let asked = 0;
    for (let second = 0; second < 300; second++) {
      const next = await setUp(['s'], async (server) => {
        asked++;
        return listing(server, ['a']);
      });
      discovery.stop(next.discovery);
      discovery = next.discovery;
      discovery.changed('s');
      await vi.advanceTimersByTimeAsync(1000);
    }
    expect(asked).toBeLessThan(25);
  });
});

describe('stopping', () => {
  it('ends waits, drops notices and lets a late list change nothing', async () => {
    let answer = (_listing: Listing) => {};
    const { discovery, catalog, asked, log } = await setUp(['late', 'down', 'noisy'], (server) =>
      server === 'late'
        ? new Promise<Listing>((resolve) => (answer = resolve))
        : Promise.reject(new ServerConnectionError(server, 'refused')),
    );
    const waiting = [discovery.refresh('late'), discovery.refresh('down')];
    discovery.changed('noisy');
    await tick();
    discovery.stop();
    answer(listing('late', ['a']));
    expect(await Promise.all(waiting)).toEqual([false, false]);
    expect(catalog.isSeen('late')).toBe(false);
    await vi.advanceTimersByTimeAsync(60_000);
    discovery.changed('noisy');
    expect(asked).toEqual(['late', 'down']);
    expect(log.lines).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
    expect(await discovery.refresh('unknown')).toBe(false);
  });
});

describe('a successor', () => {
  const slowly = async (server: string, attempt: number) => {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    return listing(server, [`version_${attempt}`]);
  };
  const names = (catalog: Catalog, server: string) => catalog.tools(server).map(({ name }) => name);

  it('takes over a list that is being read, and its waiting callers get it', async () => {
    const [old, middle, fresh] = await Promise.all([1, 2, 3].map(() => setUp(['s'], slowly)));
    if (!old || !middle || !fresh) throw new Error('three were set up');
    const waited = old.discovery.refresh('s');
    await vi.advanceTimersByTimeAsync(500);
    old.discovery.stop(middle.discovery);
    middle.discovery.stop(fresh.discovery);
    const joined = fresh.discovery.refresh('s');
    await vi.advanceTimersByTimeAsync(500);
    expect(await Promise.all([waited, joined])).toEqual([true, true]);
    for (const { catalog, discovery } of [old, middle, fresh]) {
      expect(names(catalog, 's')).toEqual(['version_1']);
      expect(discovery.isRunning('s')).toBe(false);
    }
    expect([old, middle, fresh].map(({ asked }) => asked.length)).toEqual([1, 0, 0]);
  });

  it('is asked by callers that still hold the one before', async () => {
    const [old, fresh] = [await setUp(['s'], never), await setUp(['s'], slowly)];
    old.discovery.stop(fresh.discovery);
    const waited = old.discovery.refresh('s');
    await vi.advanceTimersByTimeAsync(1000);
    expect(await waited).toBe(true);
    expect([names(old.catalog, 's'), names(fresh.catalog, 's')]).toEqual([['version_1'], ['version_1']]);
  });

  it('goes on with attempts and their failures, until it is stopped itself', async () => {
    const [old, fresh] = [
      await setUp(['s'], async (server) => {
        throw new ServerConnectionError(server, 'refused');
      }),
      await setUp(['s'], never),
    ];
    const waited = old.discovery.refresh('s');
    await tick();
    old.discovery.stop(fresh.discovery);
    expect(fresh.discovery.failure('s')?.message).toBe('refused');
    await vi.advanceTimersByTimeAsync(1000);
    expect(old.asked).toHaveLength(2);
    fresh.discovery.stop();
    expect(await waited).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('takes nothing from a connection that is no longer the same', async () => {
    const [old, fresh] = [await setUp(['s'], slowly), await setUp(['s'], never, { fingerprint: 'other' })];
    const waited = old.discovery.refresh('s');
    old.discovery.stop(fresh.discovery);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await waited).toBe(false);
    expect(fresh.discovery.isRunning('s')).toBe(false);
    expect(await old.discovery.refresh('s')).toBe(false);
  });

  it('takes over a change that was not followed yet', async () => {
    const [old, fresh] = [await setUp(['s'], never), await setUp(['s'], slowly)];
    old.discovery.changed('s');
    old.discovery.stop(fresh.discovery);
    await vi.advanceTimersByTimeAsync(6000);
    expect(names(fresh.catalog, 's')).toEqual(['version_1']);
  });
});

it('a note keeps the command that says what to do, however long the folder is called', async () => {
  const folder = `/home/somebody/${'a-long-folder/'.repeat(8)}`;
  const message = `here is not started: run \`anygpt mcp trust ${folder}\` if you trust what is in that folder; its entry uses it.`;
  const { discovery } = await setUp(['here'], async () => {
    throw new DiscoveryError('CONFIGURATION_ERROR', message);
  });
  await discovery.firstLists(['here'], 100);
  expect(searchNotes(discovery, ['here'], [], 0)).toEqual([
    `here not searched: not started: run \`anygpt mcp trust ${folder}\``,
  ]);
});

it('a note names its server once, whatever the error repeats', async () => {
  const message = 'slow keeps failing; the next attempt is in 30 s. Last: slow could not be connected: slow: gone.';
  const { discovery } = await setUp(['slow'], async () => {
    throw new DiscoveryError('CONFIGURATION_ERROR', message);
  });
  await discovery.firstLists(['slow'], 100);
  expect(searchNotes(discovery, ['slow'], [], 0)).toEqual([
    'slow not searched: keeps failing; the next attempt is in 30 s. Last: could not be connected: gone.',
  ]);
});

it('notes name a few servers and count the rest', async () => {
  const names = Array.from({ length: 7 }, (_, i) => `s${i}`);
  const { discovery } = await setUp(names, async (server) => {
    throw new DiscoveryError('CONFIGURATION_ERROR', `${server}: ${'x'.repeat(500)}`);
  });
  await discovery.firstLists(names, 100);
  const notes = searchNotes(discovery, names, [], 0);
  expect(notes).toHaveLength(5);
  expect(notes[0]).toMatch(/^s0 not searched: x+…$/);
  expect(notes[0]?.length).toBeLessThan(130);
  expect(notes[4]).toBe('3 more servers not searched; list_mcp_servers says why');
});

it('a note that has no room for the advice of an error ends before it, not inside', async () => {
  const message = `gone could not be started: the command "no-such-program-here" was not found (ENOENT); install it or write its full path.`;
  const { discovery } = await setUp(['gone'], async () => {
    throw new DiscoveryError('SERVER_CONNECTION_ERROR', message, { retryable: false });
  });
  await discovery.firstLists(['gone'], 100);
  expect(searchNotes(discovery, ['gone'], [], 0)).toEqual([
    'gone not searched: could not be started: the command "no-such-program-here" was not found (ENOENT)',
  ]);
});
