import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aTool, Journal, type JournalTool } from '../../test/fixtures/approvals/journal.ts';
import { engineIn, type Folder, folder } from '../../test/fixtures/engine.ts';
import type { EngineCore } from './engine-core.ts';

const SEND = aTool('send', 'Sends a letter.');
const READ = aTool('read', 'Reads a letter.');

/** A server under review, unless said otherwise, in an engine that keeps its state in the folder. */
const engineOf = (home: Folder, journal: Journal, more: object = { registry: 'io.example/mail@1.0.0' }): EngineCore =>
  engineIn(home, { servers: [{ name: 'mail', connection: journal.connection, ...more }] });
const journalIn = (home: Folder, tools: readonly JournalTool[] = [SEND, READ]): Journal =>
  new Journal(join(home.path, 'server'), tools);
const call = async (engine: EngineCore, tool = 'send') => {
  const result = await engine.call({ server: 'mail', tool });
  return result.success ? 'ok' : result.error.code;
};
const approve = async (engine: EngineCore, ...names: readonly string[]) => {
  const pending = await engine.pending('mail');
  const wanted = pending.map(({ definition }) => definition).filter(({ name }) => names.includes(name));
  await engine.approve('mail', wanted);
  await engine.reload({ ifChanged: true });
};

describe('a server under review', () => {
  it('shows, finds, describes and executes nothing until a person approves, and says what to type', async () => {
    using home = folder();
    const journal = journalIn(home);
    await using engine = engineOf(home, journal);
    expect(await engine.listTools('mail')).toEqual([]);
    expect(await engine.listTools('mail', true)).toEqual([]);
    expect(await engine.searchTools('send a letter', { includeDisabled: true })).toEqual([]);
    expect(await engine.definitionsOf('mail')).toMatchObject({ data: [] });
    const described = await engine.describe('mail', 'send');
    expect(described).toMatchObject({ error: { code: 'TOOL_NOT_APPROVED', outcome: 'not_sent' } });
    const called = await engine.call({ server: 'mail', tool: 'send' });
    expect(called).toMatchObject({
      error: {
        code: 'TOOL_NOT_APPROVED',
        message: expect.stringContaining('run `anygpt mcp approve mail:send`'),
        outcome: 'not_sent',
        retryable: false,
      },
    });
    expect(
      await engine.call({ server: 'anygpt', tool: 'read_schema', arguments: { server: 'mail', tool: 'send' } }),
    ).toMatchObject({
      error: { code: 'TOOL_NOT_APPROVED' },
    });
    expect(await engine.listServers()).toMatchObject([{ name: 'mail', enabledCount: 0, unapprovedCount: 2 }]);
    expect(journal.executed()).toEqual([]);
    await approve(engine, 'send');
    expect(await engine.listServers()).toMatchObject([{ name: 'mail', enabledCount: 1, unapprovedCount: 1 }]);
    expect((await engine.searchTools('send a letter')).map(({ tool }) => tool)).toEqual(['send']);
    expect((await engine.describe('mail', 'send')).success).toBe(true);
    expect(await call(engine)).toBe('ok');
    expect(await call(engine, 'read')).toBe('TOOL_NOT_APPROVED');
    expect(journal.executed()).toEqual(['Sends a letter.']);
  });
});
