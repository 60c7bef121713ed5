import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { engineIn, entry, folder } from '../fixtures/engine.ts';
import { evil } from '../fixtures/evil.ts';
import { freePort } from './sandbox.ts';

describe('what only a person can mend', () => {
  it.each([
    ['an unset variable', { type: 'stdio', command: process.execPath, env: { A: '${NOT_SET_ANYWHERE}' } }],
    ['an unset variable in an address', { type: 'http', url: '${NOT_SET_ANYWHERE}' }],
    ['an address that is none', { type: 'http', url: '${HOME}' }],
    ['a missing program', { type: 'stdio', command: 'no-such-program-anywhere' }],
    ['a missing folder', { type: 'stdio', command: process.execPath, cwd: '/no/such/folder' }],
  ])('is told as it is, at once, every time: %s', async (_, connection) => {
    using home = folder();
    const tools = [{ name: 'known', inputSchema: { type: 'object' } }];
    await using engine = engineIn(home, { servers: [{ name: 's', connection, tools }] }, { env: { HOME: home.path } });
    const began = performance.now();
    const codes = new Set<string>();
    for (let n = 0; n < 8; n++) {
      for (const tool of ['known', 'unknown']) {
        const result = await engine.call({ server: 's', tool, arguments: {} });
        if (!result.success) codes.add(result.error.code);
        expect(result).toMatchObject({ success: false, error: { outcome: 'not_sent' } });
      }
    }
    // With any waiting it was half a minute; the room is for a busy machine.
    expect(performance.now() - began).toBeLessThan(5000);
    expect([...codes].filter((code) => code === 'SERVER_UNAVAILABLE')).toEqual([]);
  });

  it('works as soon as it is mended', async () => {
    using home = folder();
    const env: Record<string, string> = {};
    using server = evil({ era: 'legacy' });
    const { connection } = entry('s', server);
    await using engine = engineIn(
      home,
      { servers: [{ name: 's', connection: { ...connection, env: { A: `\${file:${join(home.path, 'token')}}` } } }] },
      { env },
    );
    const call = () => engine.call({ server: 's', tool: 'echo', arguments: { text: 'x' } });
    for (let n = 0; n < 4; n++) expect((await call()).success).toBe(false);
    writeFileSync(join(home.path, 'token'), 'x');
    expect(await call()).toMatchObject({ success: true });
  });
});

describe('a server that nobody has listed and that is not there', () => {
  // The pauses between the attempts of one call were 7 s.
  it('is told as such after one attempt, by every call', { timeout: 15_000 }, async () => {
    using home = folder();
    const connection = { type: 'http', url: `http://127.0.0.1:${await freePort()}/mcp` };
    await using engine = engineIn(home, { servers: [{ name: 's', connection }] });
    const codes: unknown[] = [];
    for (let n = 0; n < 4; n++) {
      const result = await engine.call({ server: 's', tool: 'any', arguments: {} });
      expect(result).toMatchObject({ success: false, error: { outcome: 'not_sent' } });
      if (!result.success) codes.push(result.error.code);
    }
    expect(codes[0]).toBe('SERVER_CONNECTION_ERROR');
    expect(codes).toContain('SERVER_UNAVAILABLE');
  });
});

describe('servers that take long to start', () => {
  it('do not make another one wait, be they ever so many', { timeout: 60_000 }, async () => {
    using home = folder();
    const slow = { era: 'legacy', on: [{ method: 'initialize', do: [{ delay: 12_000 }, { default: true }] }] } as const;
    using quick = evil({ era: 'legacy' });
    const sleepers = Array.from({ length: 8 }, () => evil(slow));
    await using engine = engineIn(home, {
      servers: [...sleepers.map((server, n) => entry(`slow${n}`, server)), entry('quick', quick)],
    });
    const call = (server: string) => engine.call({ server, tool: 'echo', arguments: { text: 'x' } });
    let woken = 0;
    const waking = sleepers.map((_, n) => call(`slow${n}`).finally(() => woken++));
    expect(await call('quick')).toMatchObject({ success: true });
    expect(woken).toBe(0);
    await engine.close();
    await Promise.all(waking);
    for (const sleeper of sleepers) sleeper[Symbol.dispose]();
  });
});
