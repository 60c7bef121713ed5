import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compileRules } from '../rules/compile-rules.ts';
import type { ToolRule } from '../types.ts';
import { ConfigurationLoader } from './configuration-loader.ts';
import { settingsSchema } from './settings-schema.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'narrow-'));
  mkdirSync(join(root, 'clone', '.git'), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const write = (name: string, content: unknown): void => {
  const path = join(root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(content));
};
/** What counts when a project says one thing and the user's own file another; the project's is trusted. */
const load = async (project: object, user?: object) => {
  if (user !== undefined) write('home/.anygpt/mcp-discovery.config.json', user);
  write('clone/.anygpt/mcp-discovery.config.json', project);
  const loader = new ConfigurationLoader({
    home: join(root, 'home'),
    cwd: join(root, 'clone'),
    env: {},
    trustProject: true,
  });
  return loader.load();
};
const DEFAULTS = settingsSchema.parse({});

describe('a project’s configuration', () => {
  it('cannot switch off or move audit, log and cache, and is told so by the key', async () => {
    const config = await load({
      audit: { enabled: false, file: '/tmp/evil', values: true, failClosed: true, maxBytes: 1024, files: 1 },
      log: { level: 'silent', file: './evil.log' },
      cache: { enabled: false, dir: './cache', ttl: 1 },
    });
    const state = join(root, 'home', '.anygpt');
    expect(config.audit).toEqual({ ...DEFAULTS.audit, file: join(state, 'audit', 'audit.jsonl') });
    expect(config.log).toEqual(DEFAULTS.log);
    expect(config.cache).toEqual({ enabled: true, ttl: 3600, dir: join(state, 'cache') });
    const said = config.warnings.join();
    for (const key of ['audit.enabled', 'audit.file', 'audit.values', 'log.file', 'log.level', 'cache.dir'])
      expect(said).toContain(key);
  });

  it('keeps what the user’s own file says of them', async () => {
    const user = {
      audit: { enabled: true, file: join(root, 'own.jsonl'), failClosed: true },
      log: { level: 'warn', file: join(root, 'own.log') },
      cache: { enabled: false },
      servers: [{ name: 'users', connection: { type: 'stdio', command: 'x' } }],
    };
    const config = await load({ audit: { enabled: false } }, user);
    expect(config).toMatchObject({ audit: user.audit, log: user.log, cache: user.cache });
    // Servers are those of the first file that is found.
    expect(config.servers).toEqual([]);
    expect(config.files).toContain(join(root, 'clone', '.anygpt', 'mcp-discovery.config.json'));
  });

  it('makes limits smaller and never larger, whatever it says', async () => {
    const keys = Object.entries(DEFAULTS.limits).filter(([, value]) => typeof value === 'number') as [string, number][];
    const limits = fc.record(
      Object.fromEntries(keys.map(([key]) => [key, fc.integer({ min: 1024, max: 2_000_000 })])),
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(limits, limits, async (ours, theirs) => {
        const users = await load({}, { limits: theirs }).catch(() => undefined);
        // Values that exclude each other are the user's to mend.
        if (users === undefined) return;
        const { limits: kept } = await load({ limits: ours }, { limits: theirs }).catch(() => ({
          limits: users.limits,
        }));
        for (const [key] of keys) {
          const [now, floor] = [kept, users.limits].map(
            (each) => (each as unknown as Record<string, number>)[key] ?? 0,
          );
          expect(now, key).toBeLessThanOrEqual(floor ?? 0);
        }
      }),
      { numRuns: 60 },
    );
    const config = await load(
      { limits: { tools: 5, result: 1e9, validation: 1, auditLine: 1024, breaker: { failures: 99 } } },
      {},
    );
    expect(config.limits).toEqual({ ...DEFAULTS.limits, tools: 5 });
    for (const key of ['limits.result', 'limits.validation', 'limits.auditLine', 'limits.breaker'])
      expect(config.warnings.join()).toContain(key);
  });

  it('can make results stricter, repeat less and search with less, and nothing of it the other way', async () => {
    const user = { validation: { output: 'warn' }, retry: { attempts: 2 }, search: { learn: false } } as const;
    const wide = {
      validation: { output: 'off' },
      retry: { attempts: 9, initial: 1 },
      search: { learn: true, keepQueries: true, phrases: './p.json' },
    };
    expect(await load(wide, user)).toMatchObject({
      ...user,
      retry: { attempts: 2, initial: 1000 },
      search: { learn: false, keepQueries: false, phrases: true },
    });
    const narrow = {
      validation: { output: 'strict' },
      retry: { attempts: 0 },
      search: { meaning: false, phrases: false },
    };
    expect(await load(narrow, user)).toMatchObject({ ...narrow, search: { ...narrow.search, learn: false } });
    const embedder = (url: string) => ({ search: { embedder: { type: 'openai', url, model: 'm' } } });
    expect((await load(embedder('https://p.test'), embedder('https://u.test'))).search.embedder?.url).toBe(
      'https://u.test',
    );
    expect((await load(embedder('https://p.test'), {})).search.embedder?.url).toBe('https://p.test');
  });

  it('does not switch on what the user has switched off', async () => {
    const servers = [{ name: 'a', connection: { type: 'stdio', command: 'x' } }];
    expect(await load({ enabled: true, servers }, { enabled: false })).toMatchObject({ enabled: false, servers: [] });
  });

  it('says nothing of repeating calls on a server of the user’s own', async () => {
    write('home/.claude.json', { mcpServers: { mine: { command: 'x' } } });
    const config = await load({
      sources: [{ type: 'claude-code' }],
      servers: [{ name: 'mine', trusted: true, idempotent: ['*'], concurrency: 99, description: 'd' }],
    });
    expect(config.servers).toMatchObject([
      { name: 'mine', trusted: false, idempotent: [], concurrency: undefined, description: 'd' },
    ]);
    expect(config.warnings.join()).toContain('trusted, idempotent, concurrency ignored');
  });

  it('undoes no rule of the user’s, whatever rules and precedence it has', async () => {
    const name = fc.string({ unit: fc.constantFrom('a', 'b', '_'), maxLength: 3 });
    const rule: fc.Arbitrary<ToolRule> = fc.record(
      {
        pattern: fc.array(fc.constantFrom('*', 'a*', '*b', '!*b*', 's:*'), { maxLength: 2 }),
        enabled: fc.boolean(),
      },
      { requiredKeys: ['pattern'] },
    );
    const rules = fc.array(rule, { maxLength: 3 });
    const precedence = fc.constantFrom<'first-match' | 'deny-wins'>('first-match', 'deny-wins');
    await fc.assert(
      fc.asyncProperty(rules, rules, precedence, precedence, name, async (ours, theirs, our, their, tool) => {
        const user = await compileRules(theirs, their);
        const alone = await compileRules(ours, our);
        const decided = (await compileRules(ours, our, user)).decide('s', tool);
        expect(decided.enabled).toBe(user.decide('s', tool).enabled && alone.decide('s', tool).enabled);
      }),
      { numRuns: 300 },
    );
    const config = await load(
      { toolRules: [{ pattern: ['*'], enabled: true }], rulePrecedence: 'first-match' },
      { toolRules: [{ pattern: ['*delete*'], enabled: false }] },
    );
    const floor = await compileRules(config.floorRules?.toolRules ?? [], config.floorRules?.rulePrecedence);
    const decided = (await compileRules(config.toolRules, config.rulePrecedence, floor)).decide('s', 'delete_all');
    expect(decided).toEqual({
      enabled: false,
      tags: [],
      reason: 'Disabled by rule 1 (*delete*), in your own configuration.',
    });
  });

  it('is an error where the user’s own file is, and not used without it', async () => {
    await expect(load({ servers: [] }, { servrs: [] })).rejects.toThrow('did you mean `servers`');
  });
});
