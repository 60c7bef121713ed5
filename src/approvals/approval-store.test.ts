import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { APPROVAL_MODES, type ApprovalMode, modeOf } from '../core/approval-mode.ts';
import type { ToolDefinition } from '../core/types.ts';
import { type ApprovalSource, ApprovalStore } from './approval-store.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'anygpt-approvals-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const tool = (name: string, description = 'A tool.'): ToolDefinition => ({
  name,
  description,
  inputSchema: { type: 'object' },
});
const source = (mode: ApprovalMode, server = 'mail', identity = 'npx mail'): ApprovalSource => ({
  server,
  identity,
  mode,
});
const opened = async (...sources: readonly ApprovalSource[]): Promise<ApprovalStore> => {
  const store = new ApprovalStore(folder);
  await store.read(sources);
  return store;
};
const files = async (): Promise<string[]> =>
  (await readdir(join(folder, 'approvals'))).filter((name) => name.endsWith('.json') && !name.includes('definitions'));
const file = async (): Promise<string> => join(folder, 'approvals', String((await files())[0]));

describe('modeOf', () => {
  it('follows the source unless the user is stricter, or turns approvals off', () => {
    expect(modeOf('trusted')).toBe('off');
    expect(modeOf('first-sight')).toBe('new');
    expect(modeOf('review')).toBe('all');
    expect(modeOf('trusted', 'changed')).toBe('changed');
    expect(modeOf('first-sight', 'changed')).toBe('new');
    expect(modeOf('first-sight', 'all')).toBe('all');
    expect(modeOf('review', 'changed')).toBe('all');
    expect(modeOf('review', 'off')).toBe('off');
    expect(modeOf('trusted', 'all', 'off')).toBe('off');
    expect(modeOf('review', 'off', 'all')).toBe('all');
    expect(modeOf('review', undefined, 'changed')).toBe('changed');
  });
});

describe('ApprovalStore', () => {
  it('lets nothing of a server under review pass until it is approved, and knows a change and the way back', async () => {
    const all = source('all');
    const store = await opened(all);
    const [old, changed] = [tool('send'), tool('send', 'A tool!')];
    await store.sight(all, [old]);
    expect(store.statusOf(all, old)).toBe('pending');
    expect(await store.approve(all, [old])).toEqual([]);
    expect(store.statusOf(all, old)).toBe('approved');
    expect(store.statusOf(all, changed)).toBe('changed');
    expect(store.statusOf(all, tool('other'))).toBe('pending');
    expect(store.statusOf(all, { ...old })).toBe('approved');
    const again = await opened(all);
    expect([old, changed].map((one) => again.statusOf(all, one))).toEqual(['approved', 'changed']);
    await again.approve(all, [changed]);
    expect([old, changed].map((one) => again.statusOf(all, one))).toEqual(['approved', 'approved']);
    expect(await again.approvedDefinition(all, 'send')).toEqual(changed);
    // Another program under this name has approved nothing.
    const other = source('all', 'mail', 'npx mail@2');
    await again.read([other]);
    expect(again.statusOf(other, old)).toBe('pending');
  });

  it('pins the first list on sight; a later tool is pending, a changed one is changed', async () => {
    const imported = source('new');
    const store = await opened(imported);
    expect(store.statusOf(imported, tool('a'))).toBe('pending');
    await store.sight(imported, []);
    await store.sight(imported, [tool('a'), tool('held')], ({ name }) => name === 'held');
    await store.sight(imported, [tool('a', 'changed'), tool('b'), tool('held')]);
    const status = (...tools: ToolDefinition[]) => tools.map((one) => store.statusOf(imported, one));
    expect(status(tool('a'), tool('a', 'changed'), tool('b'), tool('held'))).toEqual([
      'approved',
      'changed',
      'pending',
      'pending',
    ]);
    expect(await store.approvedDefinition(imported, 'a')).toEqual(tool('a'));
    // What waits for a person is not approved by a milder setting or a new name.
    const milder = source('changed');
    await store.sight(milder, [tool('a', 'changed'), tool('b'), tool('c'), tool('held')]);
    expect([tool('b'), tool('c'), tool('held')].map((one) => store.statusOf(milder, one))).toEqual([
      'pending',
      'approved',
      'pending',
    ]);
    const renamed = source('new', 'post');
    await store.sight(renamed, [tool('a', 'changed'), tool('b'), tool('c')]);
    expect([tool('a'), tool('a', 'changed'), tool('b'), tool('c')].map((one) => store.statusOf(renamed, one))).toEqual([
      'pending',
      'pending',
      'pending',
      'approved',
    ]);
  });

  it('costs a trusted server nothing: no pin, no file', async () => {
    const trusted = source('off');
    const store = await opened(trusted);
    await store.sight(trusted, [tool('a')]);
    const odd = { ...tool('a'), bad: 1n } as ToolDefinition;
    expect(store.statusOf(trusted, odd)).toBe('approved');
    expect(await readdir(folder)).toEqual([]);
  });

  it('approves nothing of a damaged file, says so, and starts anew only when a person approves', async () => {
    const imported = source('new');
    await (await opened(imported)).sight(imported, [tool('a')]);
    const path = await file();
    const whole = await readFile(path, 'utf8');
    const odd = [
      '',
      '{',
      'null',
      '[]',
      '{"version":2}',
      whole.slice(0, -5),
      whole.replace(/[0-9a-f]{64}/, 'x'),
      '{"version":1,"writes":1,"servers":{"mail":[]}}',
    ];
    for (const text of odd) {
      await writeFile(path, text);
      const store = await opened(imported);
      expect(store.statusOf(imported, tool('a'))).toBe('pending');
      expect(store.problems()).toEqual([expect.stringMatching(/cannot be read: .*approve them again/)]);
      await store.sight(imported, [tool('a')]);
      expect(store.statusOf(imported, tool('a'))).toBe('pending');
      expect(await readFile(path, 'utf8')).toBe(text);
    }
    const store = await opened(imported);
    await store.approve(imported, [tool('a')]);
    expect(store.statusOf(imported, tool('a'))).toBe('approved');
    expect(store.problems()).toEqual([]);
    expect(await readdir(join(folder, 'approvals'))).toContainEqual(expect.stringMatching(/\.json\.bak$/));
  });

  it('does not take the list after a loss for the first one, and says so', async () => {
    const imported = source('new');
    await (await opened(imported)).sight(imported, [tool('a')]);
    await rm(join(folder, 'approvals'), { recursive: true });
    const store = await opened(imported);
    expect(store.problems()).toEqual([expect.stringContaining('is gone')]);
    await store.sight(imported, [tool('a', 'changed')]);
    expect(store.statusOf(imported, tool('a', 'changed'))).toBe('pending');
  });

  it.runIf(process.platform === 'linux')(
    'keeps what is pinned on sight in memory where nothing can be written, says so, and does not claim an approval',
    async () => {
      const store = new ApprovalStore('/proc/self/nowhere');
      const imported = source('new');
      await store.sight(imported, [tool('a')]);
      await store.read([imported]);
      await store.sight(imported, [tool('a', 'changed'), tool('b')]);
      const statuses = [tool('a'), tool('a', 'changed'), tool('b')].map((one) => store.statusOf(imported, one));
      expect(statuses).toEqual(['approved', 'changed', 'pending']);
      expect(store.problems()).toEqual([expect.stringContaining('kept only until this process ends')]);
      await expect(store.approve(imported, [tool('b')])).rejects.toThrow();
    },
  );

  it('forgets with the process what is kept without a folder', async () => {
    const memory = new ApprovalStore(undefined);
    const imported = source('new');
    await memory.sight(imported, [tool('a')]);
    await memory.approve(imported, [tool('a', 'changed')]);
    await memory.read([imported]);
    expect([tool('a'), tool('a', 'changed')].map((one) => memory.statusOf(imported, one))).toEqual([
      'approved',
      'approved',
    ]);
    expect(await memory.approvedDefinition(imported, 'a')).toEqual(tool('a', 'changed'));
    expect(await readdir(folder)).toEqual([]);
  });

  it('treats names such as __proto__ as any other, and writes files that only their owner can read', async () => {
    const odd = source('all', '__proto__', '__proto__');
    const store = await opened(odd);
    await store.approve(odd, [tool('__proto__'), tool('constructor')]);
    const again = await opened(odd);
    expect(again.statusOf(odd, tool('__proto__'))).toBe('approved');
    expect(again.statusOf(odd, tool('constructor'))).toBe('approved');
    expect(again.statusOf(odd, tool('toString'))).toBe('pending');
    expect(await again.approvedDefinition(odd, '__proto__')).toEqual(tool('__proto__'));
    if (process.platform !== 'win32') expect((await stat(await file())).mode & 0o777).toBe(0o600);
  });

  it('names the tools that are too large to be approved', async () => {
    const all = source('all');
    const store = await opened(all);
    expect(await store.approve(all, [tool('a', 'x'.repeat(5_000_000)), tool('b')])).toEqual(['a']);
    expect(store.statusOf(all, tool('b'))).toBe('approved');
  });

  it('gives another digest after every decision, and the same for the same decisions', async () => {
    const all = source('all');
    const store = await opened(all);
    const before = store.digest([all]);
    await store.approve(all, [tool('a')]);
    const after = store.digest([all]);
    expect(after).not.toBe(before);
    expect((await opened(all)).digest([all])).toBe(after);
    expect(store.digest([source('new')])).not.toBe(after);
    expect(store.digest([source('off', 'mail', 'x')])).toBe(store.digest([source('off', 'mail', 'y')]));
  });

  it('loses nothing when several processes approve at once', async () => {
    const script = `
      const [path, folder, id, source] = process.argv.slice(1);
      const { createJiti } = await import('jiti');
      const { ApprovalStore } = await createJiti(path, { fsCache: false }).import(path);
      const store = new ApprovalStore(folder);
      for (let at = 0; at < 5; at++)
        await store.approve(JSON.parse(source), [
          { name: 'tool-' + id + '-' + at, description: 'A tool.', inputSchema: { type: 'object' } },
        ]);`;
    const path = join(import.meta.dirname, 'approval-store.ts');
    const start = (id: number) => [
      '--input-type=module',
      '-e',
      script,
      path,
      folder,
      `${id}`,
      JSON.stringify(source('all')),
    ];
    await Promise.all([1, 2, 3].map((id) => promisify(execFile)(process.execPath, start(id))));
    const store = await opened(source('all'));
    for (const one of [1, 2, 3])
      for (let at = 0; at < 5; at++) expect(store.statusOf(source('all'), tool(`tool-${one}-${at}`))).toBe('approved');
    expect((await readdir(join(folder, 'approvals'))).filter((name) => !name.endsWith('.json'))).toEqual([]);
  });
});

/** One step of an arbitrary history. Numbers choose a server, a tool, a version of its definition. */
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('list' as const),
      mode: fc.constantFrom('new' as const, 'new' as const, ...APPROVAL_MODES),
      server: fc.nat(2),
      versions: fc.array(fc.tuple(fc.nat(1), fc.nat(1)), { minLength: 1, maxLength: 3 }),
      held: fc.nat(6),
      store: fc.nat(1),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('approve' as const),
      server: fc.nat(2),
      version: fc.tuple(fc.nat(1), fc.nat(1)),
      store: fc.nat(1),
    }),
  },
  fc.record({ do: fc.constant('restart' as const), store: fc.nat(1) }),
  fc.record({ do: fc.constantFrom('backup' as const, 'restore' as const, 'lose' as const, 'damage' as const) }),
);
/** Two names of one program, and another program under the first name. */
const PLACES = [
  ['mail', 'npx mail'],
  ['post', 'npx mail'],
  ['mail', 'npx other'],
] as const;

it('after any history of lists, changes, approvals, restarts, losses, damage and restored backups, only what was approved is callable', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20, size: 'max' }), async (steps) => {
      await rm(folder, { recursive: true, force: true });
      const backup = `${folder}-backup`;
      await rm(backup, { recursive: true, force: true });
      const at = (server: number, mode: ApprovalMode = 'all') =>
        source(mode, ...(PLACES[server] as readonly [string, string]));
      const places = [0, 1, 2].map((server) => at(server));
      const definition = ([name, version]: readonly [number, number]) => tool(`tool${name}`, `version ${version}`);
      const stores = [await opened(...places), await opened(...places)] as [ApprovalStore, ApprovalStore];
      // What this test remembers, whatever happens to the files: `server/tool/version` that may be callable, and what was seen.
      const legal = new Set<string>();
      const seen = new Set<string>();
      const listed = new Set<number>();
      let isWhole = true;
      const sameProgram = (server: number) => [0, 1, 2].filter((one) => PLACES[one]?.[1] === PLACES[server]?.[1]);
      for (const one of steps) {
        if (one.do === 'list') {
          const store = stores[one.store] as ApprovalStore;
          // Of one name the first counts.
          const versions = one.versions.filter(
            ([name], index) => one.versions.findIndex(([other]) => other === name) === index,
          );
          const isFirst = !listed.has(one.server);
          await store.sight(
            at(one.server, one.mode),
            versions.map(definition),
            ({ name }) => name === `tool${one.held}`,
          );
          if (one.mode !== 'off' && versions.length > 0) {
            listed.add(one.server);
            for (const [name, version] of versions) {
              const isKnownHere = seen.has(`${one.server}/${name}`);
              const isKnown = sameProgram(one.server).some((other) => seen.has(`${other}/${name}`));
              const isLegalThere = sameProgram(one.server).some((other) => legal.has(`${other}/${name}/${version}`));
              const pins = one.mode === 'changed' || (one.mode === 'new' && isFirst);
              if (pins && !isKnownHere && name !== one.held && (!isKnown || isLegalThere))
                legal.add(`${one.server}/${name}/${version}`);
            }
            for (const [name] of versions) seen.add(`${one.server}/${name}`);
          }
        } else if (one.do === 'approve') {
          const [name, version] = one.version;
          await (stores[one.store] as ApprovalStore).approve(at(one.server), [definition(one.version)]);
          legal.add(`${one.server}/${name}/${version}`);
          seen.add(`${one.server}/${name}`);
          listed.add(one.server);
        } else if (one.do === 'restart') {
          stores[one.store as 0 | 1] = await opened(...places);
        } else if (one.do === 'backup') {
          await rm(backup, { recursive: true, force: true });
          await cp(join(folder, 'approvals'), backup, { recursive: true }).catch(() => undefined);
        } else {
          isWhole = false;
          if (one.do === 'damage')
            for (const name of await files().catch(() => []))
              await writeFile(join(folder, 'approvals', name), '{"version":1,');
          else await rm(join(folder, 'approvals'), { recursive: true, force: true });
          if (one.do === 'restore')
            await cp(backup, join(folder, 'approvals'), { recursive: true }).catch(() => undefined);
        }
        const fresh = await opened(...places);
        for (const server of [0, 1, 2])
          for (const name of [0, 1])
            for (const version of [0, 1]) {
              const key = `${server}/${name}/${version}`;
              const statuses = [fresh, ...stores].map((store) =>
                store.statusOf(at(server), definition([name, version])),
              );
              if (!legal.has(key)) expect(statuses, key).not.toContain('approved');
              // Back to an approved definition, it works again.
              else if (isWhole) expect(statuses[0], key).toBe('approved');
            }
      }
      await rm(backup, { recursive: true, force: true });
    }),
    { numRuns: 40 },
  );
});
