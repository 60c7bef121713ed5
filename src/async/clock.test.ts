import { describe, expect, it } from 'vitest';
import { engineIn, entry, folder } from '../../test/fixtures/engine.ts';
import { type EvilRule, evil } from '../../test/fixtures/evil.ts';
import { ageSince } from './clock.ts';

const DAY = 86_400_000;
const JUMPS = [
  ['a day back', -DAY],
  ['ten years ahead', 3652 * DAY],
  ['ten years back', -3652 * DAY],
] as const;

/** A wall clock that a test sets. */
const wall = () => {
  let off = 0;
  const jump = (ms: number) => {
    off += ms;
  };
  return { now: () => Date.now() + off, jump };
};
const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });
const twoLists: readonly EvilRule[] = [
  { method: 'tools/list', nth: 1, do: [{ result: { tools: [tool('old')] } }] },
  { method: 'tools/list', nth: [2, null], do: [{ result: { tools: [tool('new')] } }] },
];

it('takes what lies ahead for as old as it lies ahead', () => {
  expect(ageSince(100, 150)).toBe(50);
  expect(ageSince(150, 100)).toBe(50);
});

describe.each(JUMPS)('a wall clock that jumps %s', (_, ms) => {
  it('keeps no server out that failed before', async () => {
    using home = folder();
    const clock = wall();
    using server = evil({ era: 'legacy', start: [{ spawn: [1, 2], do: [{ exit: 1 }] }] });
    await using engine = engineIn(home, { servers: [entry('s', server)] }, { now: clock.now });
    const call = () => engine.call({ server: 's', tool: 'echo', arguments: { text: 'x' } });
    expect((await call()).success).toBe(false);
    clock.jump(ms);
    const later = await call();
    if (!later.success) expect(later.error.retryAfterMs ?? 0).toBeLessThan(10_000);
    await expect.poll(async () => (await call()).success, { timeout: 20_000, interval: 200 }).toBe(true);
  });

  it('makes no list immortal, and swallows no change', async () => {
    using home = folder();
    const clock = wall();
    const changed = { method: 'notifications/tools/list_changed' };
    using server = evil({
      era: 'legacy',
      on: [...twoLists, { method: 'tools/call', do: [{ default: true }, { notify: changed }] }],
    });
    // A list that was just asked for is left alone for a minute.
    let passed = 0;
    const elapsed = () => performance.now() + passed;
    await using engine = engineIn(home, { servers: [entry('s', server)] }, { now: clock.now, elapsed });
    const names = async () => (await engine.listTools('s')).map(({ name }) => name);
    expect(await names()).toEqual(['old']);
    clock.jump(ms);
    passed += 61_000;
    // It is not known how old the list is, so it is read again behind an answer.
    await engine.searchTools('old');
    await expect.poll(names).toEqual(['new']);
    clock.jump(-ms);
    const before = server.received('tools/list').length;
    await engine.call({ server: 's', tool: 'new', arguments: {} });
    await expect.poll(() => server.received('tools/list').length, { timeout: 15_000 }).toBeGreaterThan(before);
  });

  it('takes no list on disk for fresh that was written under another time', async () => {
    using home = folder();
    const clock = wall();
    const on = [1, 2].map((spawn) => ({ ...twoLists[spawn - 1], nth: undefined, spawn }) as EvilRule);
    using server = evil({ era: 'legacy', on });
    for (const expected of ['old', 'new']) {
      await using engine = engineIn(home, { servers: [entry('s', server)] }, { now: clock.now });
      await engine.searchTools('old', { waitMs: 10_000 });
      await expect.poll(async () => (await engine.listTools('s')).map(({ name }) => name)).toEqual([expected]);
      clock.jump(ms);
    }
  });

  it('neither closes connections that are in use nor keeps idle ones, and starves no list', async () => {
    using home = folder();
    const clock = wall();
    using server = evil({ era: 'legacy' });
    await using engine = engineIn(home, { servers: [entry('s', server)], limits: { idle: 2000 } }, { now: clock.now });
    const call = () => engine.call({ server: 's', tool: 'echo', arguments: { text: 'x' } });
    expect(await call()).toMatchObject({ success: true });
    clock.jump(ms);
    expect(await call()).toMatchObject({ success: true });
    expect(server.received('initialize')).toHaveLength(1);
    await expect
      .poll(async () => (await engine.listServers())[0]?.status, { timeout: 15_000, interval: 200 })
      .toBe('disconnected');
  });
});
