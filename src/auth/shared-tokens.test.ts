/** Static tokens that several replicas share. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { tempFolder } from '../../test/fixtures/gateway/kit.ts';
import { LIMITS } from '../core/limits.ts';
import { isIdentity } from './identity.ts';
import { SharedTokens, syncTokens, type TokenPlace } from './shared-tokens.ts';
import { StaticTokens } from './static-tokens.ts';

const HOUR = 3_600_000;
const YEAR = 365 * 24 * HOUR;

/** A place in memory that can be away, or lose everything. */
function place() {
  let bytes: Uint8Array | undefined;
  const heard = new Set<() => void>();
  const it = {
    isAway: false,
    writes: 0,
    lose: () => {
      bytes = undefined;
    },
    read: async () => {
      if (it.isAway) throw new Error('away');
      return bytes;
    },
    change: async (edit: (now: Uint8Array | undefined) => Promise<Uint8Array | undefined>) => {
      bytes = (await edit(await it.read())) ?? bytes;
      it.writes += 1;
      for (const tell of heard) tell();
    },
    onChange: (listener: () => void) => {
      heard.add(listener);
      return () => heard.delete(listener);
    },
  };
  return it satisfies TokenPlace;
}

const letsIn = async (tokens: Pick<StaticTokens, 'check'>, text: string) => isIdentity(await tokens.check(text));
const warn = () => {};

it('lets nobody in by a static token that may have been revoked, once the replicas were not heard of for minutes', async () => {
  using folder = tempFolder();
  let now = 0;
  const [own, redis] = [new StaticTokens(folder.path), place()];
  const { text, token } = await own.create({ expiresAt: Date.now() + YEAR });
  const tokens = new SharedTokens(own, { warn }, () => now);
  expect(await letsIn(tokens, text)).toBe(true);
  redis.isAway = true;
  await tokens.follow(redis);
  // It may have been revoked before this replica started.
  expect(await tokens.check(text)).toMatchObject({ refused: 'unavailable' });
  redis.isAway = false;
  await redis.change(async (bytes) => bytes);
  await expect.poll(() => letsIn(tokens, text)).toBe(true);
  now += LIMITS.cluster.tokens;
  expect([await letsIn(tokens, text), tokens.has(token.id)]).toEqual([true, true]);
  now += 1;
  expect(await tokens.check(text)).toMatchObject({ refused: 'unavailable' });
  expect(tokens.has(token.id)).toBe(false);
  tokens.close();
});

it('writes nothing when there is nothing new, and leaves alone what a later version shares', async () => {
  using folder = tempFolder();
  const [own, redis] = [new StaticTokens(folder.path), place()];
  await syncTokens(own, redis);
  expect([redis.writes, own.exist]).toEqual([0, false]);
  await own.create({ expiresAt: Date.now() + HOUR });
  for (let times = 0; times < 3; times += 1) await syncTokens(own, redis);
  expect(redis.writes).toBe(1);
  await redis.change(async () => Buffer.from('{"tokens":{}}'));
  await expect(syncTokens(own, redis)).rejects.toThrow('another version');
  expect(String(await redis.read())).toBe('{"tokens":{}}');
});

it('keeps what was revoked in the file until it would have expired', async () => {
  using folder = tempFolder();
  let now = Date.now();
  const own = new StaticTokens(folder.path, () => now);
  const { token } = await own.create({ expiresAt: now + HOUR });
  await own.revoke(token.id);
  const file = () => readFileSync(join(folder.path, 'tokens.json'), 'utf8');
  expect(file()).toContain(token.id);
  now += 2 * HOUR;
  await own.merge({ tokens: [], revoked: [{ id: 'other', until: now + HOUR }] });
  expect(file()).not.toContain(token.id);
});

it('forgets what has expired also where tokens are only created and revoked', async () => {
  using folder = tempFolder();
  let now = Date.now();
  const own = new StaticTokens(folder.path, () => now);
  const ids: string[] = [];
  for (let times = 0; times < 3; times += 1) {
    const { token } = await own.create({ expiresAt: now + HOUR });
    await own.revoke(token.id);
    ids.push(token.id);
    now += 2 * HOUR;
  }
  const file = readFileSync(join(folder.path, 'tokens.json'), 'utf8');
  expect(ids.map((id) => file.includes(id))).toEqual([false, false, true]);
});

it('ends with the same tokens on all replicas, none of them revoked, in whatever order things happen', async () => {
  const step = fc.record({
    at: fc.nat(2),
    act: fc.constantFrom('create', 'revoke', 'sync', 'lose'),
    which: fc.nat(9),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
      using folder = tempFolder();
      const redis = place();
      const replicas = [0, 1, 2].map((at) => new StaticTokens(join(folder.path, String(at))));
      const created: string[] = [];
      const revoked = new Set<string>();
      for (const { at, act, which } of steps) {
        const tokens = replicas[at] as StaticTokens;
        if (act === 'create') created.push((await tokens.create({ expiresAt: Date.now() + HOUR })).token.id);
        if (act === 'revoke') for (const { id } of await tokens.revoke(created[which] ?? 'none')) revoked.add(id);
        if (act === 'sync') await syncTokens(tokens, redis);
        if (act === 'lose') redis.lose();
      }
      for (const tokens of [...replicas, ...replicas]) await syncTokens(tokens, redis);
      const left = created.filter((id) => !revoked.has(id)).sort();
      for (const tokens of replicas)
        expect(
          tokens
            .list()
            .map(({ id }) => id)
            .sort(),
        ).toEqual(left);
    }),
    { numRuns: 40 },
  );
});
