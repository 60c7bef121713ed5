/**
 * What a hostile server may send, through a real engine: what is too much is refused unread, and nobody else waits.
 * The figures are in `npm run bench:hostile`; here the loop may be held up for much longer than there, on any machine.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { EngineCore } from '../../src/engine/engine-core.ts';
import { engineIn, entry, folder } from '../fixtures/engine.ts';
import { evil } from '../fixtures/evil.ts';
import { processorShare } from '../fixtures/processor-share.ts';

const FLOODER = {
  command: process.execPath,
  args: [fileURLToPath(new URL('../../bench/servers/flooder.mjs', import.meta.url))],
};
/** Several times what we promise, and a fraction of what it was. */
const LONGEST_MS = 1500;

/** The longest that the event loop did not turn while `act` ran. */
async function longestBlock<T>(act: () => Promise<T>): Promise<{ readonly result: T; readonly longest: number }> {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 5);
  const result = await act();
  longest = Math.max(longest, performance.now() - last);
  clearInterval(timer);
  return { result, longest };
}

async function withFlooder(act: (engine: EngineCore, echo: () => Promise<unknown>) => Promise<void>): Promise<void> {
  using home = folder();
  using neighbour = evil({});
  const engine = engineIn(home, { servers: [entry('evil', FLOODER), entry('good', neighbour)] });
  const echo = async () => {
    const result = await engine.call({ server: 'good', tool: 'echo', arguments: { text: 'hello' } });
    expect(result).toMatchObject({ success: true });
  };
  try {
    await engine.call({ server: 'evil', tool: 'flood', arguments: { kind: 'nothing at all', ms: 0 } });
    await echo();
    await act(engine, echo);
  } finally {
    await engine.close();
  }
}

const answer = (engine: EngineCore, kind: string) =>
  engine.call({ server: 'evil', tool: 'answer', arguments: { kind } });

describe('a result', { timeout: 60_000 }, () => {
  it.each(['names 700,000', 'blocks 200,000'])('with too many values is refused unread: %s', async (kind) => {
    await withFlooder(async (engine, echo) => {
      const { result, longest } = await longestBlock(() => answer(engine, kind));
      expect(result).toMatchObject({ success: false, error: { code: 'RESULT_TOO_LARGE', outcome: 'unknown' } });
      expect(result).toMatchObject({ error: { message: expect.stringContaining('limits.messageValues') } });
      expect(longest).toBeLessThan(LONGEST_MS);
      // The server is as well as before.
      await echo();
      expect(await answer(engine, 'text 4 MB')).toMatchObject({ success: true });
    });
  });

  it('with many content blocks is handed over in pages', async () => {
    await withFlooder(async (engine) => {
      const { result, longest } = await longestBlock(() => answer(engine, 'blocks 60,000'));
      expect(longest).toBeLessThan(LONGEST_MS);
      const content = result.success ? (result.data.content ?? []) : [];
      expect(content).toHaveLength(2001);
      expect(content.at(-1)?.text).toContain('page 1 of 30');
    });
  });

  it('does not add up with others to a block of the loop, though each is as large as a message may be', async () => {
    await withFlooder(async (engine, echo) => {
      let isOver = false;
      let calls = 0;
      const neighbour = async () => {
        for (; !isOver; calls++) await echo();
      };
      const { longest } = await longestBlock(async () => {
        const calling = neighbour();
        const results = await Promise.all(Array.from({ length: 4 }, () => answer(engine, 'text 15.9 MiB')));
        isOver = true;
        for (const result of results) expect(result).toMatchObject({ success: true });
        await calling;
      });
      expect(longest).toBeLessThan(LONGEST_MS);
      expect(calls).toBeGreaterThan(4);
    });
  });
});

describe('a flood', { timeout: 60_000 }, () => {
  it.each(['ping', 'sampling', 'log', 'answers to nothing', 'malformed lines', '1-byte lines'])(
    'leaves the loop to a neighbour: %s',
    async (kind) => {
      await withFlooder(async (engine, echo) => {
        await engine.call({ server: 'evil', tool: 'flood', arguments: { kind, ms: 2500 } });
        await sleep(300);
        const before = processorShare();
        await sleep(1200);
        // Nobody else has anything to do.
        expect(before()).toBeLessThan(0.6);
        await echo();
      });
    },
  );

  it.each(['notification of 700,000 names', 'answer to nothing of 700,000 names', 'notification of 40,000 names'])(
    'of large messages that nobody asked for is not even read: %s',
    async (kind) => {
      await withFlooder(async (engine, echo) => {
        let heard = 0;
        engine.connections.onNotification(() => heard++);
        const { longest } = await longestBlock(async () => {
          await engine.call({ server: 'evil', tool: 'flood', arguments: { kind, ms: 3000 } });
          await expect.poll(() => engine.connections.log('evil'), { timeout: 20_000 }).toContain('[stdout] ');
        });
        expect(heard).toBe(0);
        expect(longest).toBeLessThan(LONGEST_MS);
        await echo();
      });
    },
  );
});
