import { describe, expect, it } from 'vitest';
import { engineIn, entry, folder, isAlive } from '../fixtures/engine.ts';
import { type Evil, type EvilStep, evil } from '../fixtures/evil.ts';

const NEVER: readonly EvilStep[] = [];
const pids = (server: Evil): number[] => [...new Set(server.journal().map(({ pid }) => pid))];

describe('a server that can no longer be heard', () => {
  it('is given up when it closes its stdout and lives on, and started anew for the next call', async () => {
    using home = folder();
    using server = evil({
      era: 'legacy',
      ignoreEof: true,
      on: [{ method: 'tools/call', spawn: 1, nth: 2, do: [{ close: true }] }],
    });
    await using engine = engineIn(home, { servers: [entry('s', server)] });
    const call = () => engine.call({ server: 's', tool: 'echo', arguments: { text: 'x' } });
    expect(await call()).toMatchObject({ success: true });
    // The limit of a call is a minute: it is the end of stdout that is noticed.
    const began = performance.now();
    expect(await call()).toMatchObject({
      success: false,
      error: { outcome: 'unknown', message: expect.stringContaining('closed its stdout') },
    });
    expect(performance.now() - began).toBeLessThan(20_000);
    expect(await call()).toMatchObject({ success: true });
    expect(server.received('tools/call')).toHaveLength(3);
    const [first] = pids(server);
    await expect.poll(() => isAlive(first as number), { timeout: 15_000 }).toBe(false);
  });

  it('is started anew when it hangs, although calls keep coming', { timeout: 60_000 }, async () => {
    using home = folder();
    using server = evil({
      era: 'legacy',
      on: [
        { method: 'tools/call', spawn: 1, nth: [2, null], do: NEVER },
        { method: 'ping', spawn: 1, do: NEVER },
      ],
    });
    await using engine = engineIn(home, {
      servers: [entry('s', server, { timeouts: { call: 1000 } })],
      limits: { breaker: { failures: 10_000, minimum: 10_000 } },
    });
    const call = () => engine.call({ server: 's', tool: 'echo', arguments: { text: 'x' } });
    expect(await call()).toMatchObject({ success: true });
    let isBack = false;
    const caller = async () => {
      while (!isBack) {
        const result = await call();
        isBack ||= result.success;
        if (!result.success) expect(result.error.outcome).toBe('unknown');
      }
    };
    await Promise.all([caller(), caller()]);
    expect(pids(server).length).toBeGreaterThan(1);
  });

  it('is left alone when it is slow and answers pings, or a caller waits for it on purpose', {
    timeout: 60_000,
  }, async () => {
    for (const ping of [[{ default: true }], NEVER]) {
      using home = folder();
      using server = evil({
        era: 'legacy',
        on: [
          { method: 'tools/call', do: [{ delay: 7000 }, { default: true }] },
          { method: 'ping', do: ping },
        ],
      });
      await using engine = engineIn(home, { servers: [entry('s', server, { timeouts: { call: 1000 } })] });
      const args = { server: 's', tool: 'echo', arguments: { text: 'x' } };
      const slow = engine.call({ ...args, timeout: 30_000 });
      // Others give up meanwhile.
      expect(await engine.call(args)).toMatchObject({ error: { code: 'TOOL_EXECUTION_TIMEOUT' } });
      expect(await slow).toMatchObject({ success: true });
      expect(pids(server)).toHaveLength(1);
    }
  });
});
