import { describe, expect, it } from 'vitest';
import { LIMITS } from '../core/limits.ts';
import { ByteRoom } from './byte-room.ts';
import { SessionEvents, streamIn } from './session-events.ts';

const note = (n: number) => ({ jsonrpc: '2.0', method: 'notifications/message', params: { n } }) as const;
const replay = async (events: SessionEvents, after: string) => {
  const sent: unknown[] = [];
  await events.replayEventsAfter(after, { send: async (_id, message) => void sent.push(message) });
  return sent;
};

describe('the events of a session', () => {
  it('are sent again from where the client stopped, of that stream alone', async () => {
    const events = new SessionEvents(new ByteRoom(LIMITS.wire.events));
    // The first event of a stream only tells the client an id.
    const first = await events.storeEvent('a', {} as never);
    await events.storeEvent('b', note(1));
    const second = await events.storeEvent('a', note(2));
    await events.storeEvent('a', note(3));
    expect(await replay(events, first)).toEqual([note(2), note(3)]);
    expect(await replay(events, second)).toEqual([note(3)]);
    expect(streamIn(first)).toBe('a');
    for (const odd of ['', 'x', '1', '_a', `1_${'x'.repeat(200)}`]) expect(streamIn(odd)).toBeUndefined();
  });

  it('are few: the oldest are forgotten', async () => {
    const events = new SessionEvents(new ByteRoom(LIMITS.wire.events));
    const first = await events.storeEvent('a', note(0));
    for (let n = 1; n <= 300; n++) await events.storeEvent('a', note(n));
    const sent = await replay(events, first);
    expect([sent.length, sent.at(-1)]).toEqual([256, note(300)]);
  });

  it('say of an answer that is too large to keep that the call was executed', async () => {
    const events = new SessionEvents(new ByteRoom(LIMITS.wire.events));
    const first = await events.storeEvent('a', {} as never);
    const text = 'x'.repeat(2 * 1024 * 1024);
    await events.storeEvent('a', { jsonrpc: '2.0', id: 7, result: { content: [{ type: 'text', text }] } });
    expect(await replay(events, first)).toEqual([
      { jsonrpc: '2.0', id: 7, error: { code: -32603, message: expect.stringContaining('was executed') } },
    ]);
  });

  it('of all sessions share a room, and the session that was quiet longest gives way', async () => {
    const room = new ByteRoom(LIMITS.wire.events);
    const sessions = Array.from({ length: 100 }, () => new SessionEvents(room));
    const result = { text: 'x'.repeat(900_000) };
    for (const events of sessions) await events.storeEvent('a', { jsonrpc: '2.0', id: 1, result });
    const kept = await Promise.all(sessions.map(async (events) => (await replay(events, '0_a')).length));
    expect(kept[0]).toBe(0);
    expect(kept.at(-1)).toBe(1);
    expect(kept.filter(Boolean).length).toBeLessThanOrEqual(75);
  });
});
