import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { engineIn, entry, type Folder, folder, until } from '../../test/fixtures/engine.ts';
import { evil } from '../../test/fixtures/evil.ts';
import { silentLogger } from '../core/log.ts';
import { fail, ok, type ToolResult } from '../core/result.ts';
import type { Caller, CallToolResult, SearchResult } from '../core/types.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import { configFile } from '../engine/engine-world.ts';
import { UsageLearning } from './usage-learning.ts';
import { UsageStore } from './usage-store.ts';

const START = 1_700_000_000_000;
const MINUTE = 60_000;
const WORKED: ToolResult<CallToolResult> = ok({ content: [] });
const hits = (...tools: string[]): SearchResult[] =>
  tools.map((tool) => ({ server: 'tracker', tool, summary: '', relevance: 0.5, tags: [] }));

/** Learning in a folder, with an adjustable clock. */
function learningIn(home: Folder) {
  const clock = { now: START };
  const now = () => clock.now;
  const store = new UsageStore({ folder: join(home.path, 'usage'), keepQueries: false, logger: silentLogger, now });
  const learning = new UsageLearning(store, now);
  const use = (tool: string, caller?: Caller, result = WORKED) =>
    learning.settled({ server: 'tracker', tool }, caller, result);
  const learnt = async (query: string, caller?: Caller) => {
    await learning.flush();
    return (await learning.learntFor(query, caller)).map(({ tool, uses }) => [tool, uses]);
  };
  return { learning, clock, use, learnt };
}

describe('a call', () => {
  it('counts for the latest search that showed its tool', async () => {
    using home = folder();
    const { learning, use, learnt } = learningIn(home);
    learning.shown('open ticket', {}, hits('search_issues', 'create_issue'));
    learning.shown('file problem', {}, hits('search_issues', 'create_issue'));
    learning.shown('weather', {}, hits('forecast'));
    use('create_issue');
    expect(await learnt('file problem')).toEqual([['create_issue', 1]]);
    expect(await learnt('open ticket')).toEqual([]);
    expect(await learnt('weather')).toEqual([]);
  });

  it('counts once a search, however often it is made', async () => {
    using home = folder();
    const { learning, use, learnt } = learningIn(home);
    learning.shown('open ticket', {}, hits('search_issues', 'create_issue'));
    for (let at = 0; at < 5; at++) use('create_issue');
    expect(await learnt('open ticket')).toEqual([['create_issue', 1]]);
  });

  it('teaches little when its tool stood first already', async () => {
    using home = folder();
    const { learning, use } = learningIn(home);
    learning.shown('open ticket', {}, hits('create_issue', 'search_issues'));
    use('create_issue');
    await learning.flush();
    expect((await learning.learntFor('open ticket'))[0]?.score).toBeCloseTo(0.1 / 1.1);
    learning.shown('close ticket', {}, hits('create_issue', 'close_issue'));
    use('close_issue');
    await learning.flush();
    expect((await learning.learntFor('close ticket'))[0]?.score).toBeGreaterThan(0.4);
  });

  it('does not count when no search showed its tool, or too long ago', async () => {
    using home = folder();
    const { learning, clock, use, learnt } = learningIn(home);
    use('create_issue');
    learning.shown('open ticket', {}, hits('search_issues'));
    learning.shown('open ticket', {}, []);
    use('create_issue');
    clock.now += 10 * MINUTE + 1;
    use('search_issues');
    expect(await learnt('open ticket')).toEqual([]);
    learning.shown('open ticket', {}, hits('search_issues'));
    clock.now += 10 * MINUTE;
    use('search_issues');
    expect(await learnt('open ticket')).toEqual([['search_issues', 1]]);
  });

  it.each<[string, ToolResult<CallToolResult>]>([
    ['failed', fail('TOOL_EXECUTION_ERROR', 'No.')],
    ['was cancelled', fail('CANCELLED', 'No.')],
    ['came back as an error', ok({ content: [], isError: true })],
    ['asks for more', ok({ resultType: 'input_required' })],
  ])('that %s does not count, and one that works afterwards does', async (_, result) => {
    using home = folder();
    const { learning, use, learnt } = learningIn(home);
    learning.shown('open ticket', {}, hits('search_issues', 'create_issue'));
    use('create_issue', {}, result);
    expect(await learnt('open ticket')).toEqual([]);
    use('create_issue');
    expect(await learnt('open ticket')).toEqual([['create_issue', 1]]);
  });

  it('counts only for the caller that searched', async () => {
    using home = folder();
    const { learning, use, learnt } = learningIn(home);
    const [ann, bob] = [{ principal: 'ann' }, { principal: 'bob' }];
    learning.shown('open ticket', { ...ann, session: '1' }, hits('search_issues', 'create_issue'));
    use('create_issue', { ...ann, session: '2' });
    use('create_issue', { ...bob, session: '1' });
    use('create_issue', { session: '1' });
    use('create_issue');
    for (const caller of [ann, bob, {}]) expect(await learnt('open ticket', caller)).toEqual([]);
    use('create_issue', { ...ann, session: '1' });
    // What a principal has taught applies to all its sessions, and to no other principal's.
    expect(await learnt('open ticket', { ...ann, session: '2' })).toEqual([['create_issue', 1]]);
    expect(await learnt('open ticket', { ...bob, session: '1' })).toEqual([]);
    expect(await learnt('open ticket')).toEqual([]);
  });

  it('is left until the answer has left, and is not lost by a flush before that', async () => {
    using home = folder();
    const { learning, use, learnt } = learningIn(home);
    let read = false;
    const [first, ...others] = hits('search_issues', 'create_issue') as [SearchResult, ...SearchResult[]];
    const watched = {
      ...first,
      get server() {
        read = true;
        return first.server;
      },
    };
    learning.shown('open ticket', {}, [watched, ...others]);
    await Promise.resolve();
    expect(read).toBe(false);
    await turn();
    expect(read).toBe(true);
    learning.shown('close ticket', {}, hits('search_issues', 'create_issue'));
    use('create_issue');
    await learning.flush();
    expect(await learningIn(home).learnt('close ticket')).toEqual([['create_issue', 1]]);
    expect(await learnt('close ticket')).toEqual([['create_issue', 1]]);
  });

  it('finds the last searches of the last callers only', async () => {
    using home = folder();
    const { learning, use, learnt } = learningIn(home);
    learning.shown('open ticket', { session: 'old' }, hits('search_issues', 'create_issue'));
    for (let at = 0; at < 1000; at++) learning.shown('other', { session: `${at}` }, hits('other'));
    use('create_issue', { session: 'old' });
    learning.shown('open ticket', {}, hits('search_issues', 'create_issue'));
    for (let at = 0; at < 16; at++) learning.shown('other', {}, hits('other'));
    use('create_issue');
    expect(await learnt('open ticket')).toEqual([]);
  });
});

const TOOLS = ['send_note', 'post_note', 'pin_note', 'drop_note'];
const notes = () =>
  evil({
    era: 'legacy',
    tools: TOOLS.map((name) => ({ name, description: 'Puts a note on the board.', inputSchema: { type: 'object' } })),
    on: [{ method: 'tools/call', tool: 'drop_note', do: [{ result: { content: [], isError: true } }] }],
  });
const placeOf = async (engine: EngineCore, query: string, tool: string, caller?: Caller): Promise<number> =>
  (await engine.searchTools(query, { caller, limit: 10, waitMs: 20_000 })).findIndex((hit) => hit.tool === tool);
/** Reads what is on disk for a query. */
const keptIn = async (home: Folder, query: string, principal?: string) => {
  const options = { folder: join(home.path, 'usage'), keepQueries: false, logger: silentLogger, now: Date.now };
  return (await new UsageStore(options).recordOf(principal))
    .learntFor(query, Date.now())
    .map(({ server, tool, uses }) => [`${server}:${tool}`, uses]);
};

describe('an engine', () => {
  it('raises what was used for like queries, also after a restart, and never above an exact name', async () => {
    using home = folder();
    using board = notes();
    const config = { servers: [entry('board', board)] };
    {
      await using engine = engineIn(home, config);
      const before = await placeOf(engine, 'note for the board', 'send_note', { principal: 'else' });
      expect(before).toBeGreaterThan(0);
      expect(await placeOf(engine, 'a note on the board', 'send_note')).toBeGreaterThan(0);
      expect(await engine.call({ server: 'board', tool: 'send_note' })).toMatchObject({ success: true });
      expect(await placeOf(engine, 'note for the board', 'send_note')).toBe(0);
      expect(await placeOf(engine, 'post_note', 'post_note')).toBe(0);
      expect(await placeOf(engine, 'note for the board', 'send_note', { principal: 'else' })).toBe(before);
    }
    await using engine = engineIn(home, config);
    expect(await placeOf(engine, 'note for the board', 'send_note')).toBe(0);
  });

  it('learns from successful calls and streams of the caller that searched, and writes when it closes', async () => {
    using home = folder();
    using board = notes();
    {
      await using engine = engineIn(home, { servers: [entry('board', board)] });
      await engine.find('a note on the board', { waitMs: 20_000, limit: 10, caller: { principal: 'ann' } });
      await engine.find('a note on the board', { limit: 10 });
      await engine.call({ server: 'board', tool: 'drop_note' });
      await engine.call({ server: 'board:send_note', tool: '' });
      for await (const _ of engine.executeStream('board', 'post_note'));
      await engine.call({ server: 'board', tool: 'pin_note', caller: { principal: 'ann' } });
    }
    expect((await keptIn(home, 'note board')).sort()).toEqual([
      ['board:post_note', 1],
      ['board:send_note', 1],
    ]);
    expect(await keptIn(home, 'note board', 'ann')).toEqual([['board:pin_note', 1]]);
  });

  it('that is told not to learn keeps and uses nothing, from the moment it is told', async () => {
    using home = folder();
    using board = notes();
    const file = join(home.path, 'test.config.json');
    const write = (search: object) =>
      writeFileSync(file, JSON.stringify({ discovery: { search, servers: [entry('board', board)] } }));
    write({ learn: false });
    await using engine = engineIn(home, configFile(file));
    const use = async () => {
      await engine.find('a note on the board', { waitMs: 20_000, limit: 10 });
      await engine.call({ server: 'board', tool: 'pin_note' });
    };
    await use();
    write({ learn: true });
    await engine.reload();
    await engine.call({ server: 'board', tool: 'send_note' });
    expect(existsSync(join(home.path, 'usage'))).toBe(false);
    await use();
    // A reload that does not change learning keeps what was learnt; one that switches it off saves it.
    await engine.reload();
    write({ learn: false });
    await engine.reload();
    await use();
    await engine.close();
    // In the background; the reload does not wait for it.
    await until(async () => (await keptIn(home, 'note board')).length > 0);
    expect(await keptIn(home, 'note board')).toEqual([['board:pin_note', 1]]);
  });
});
