import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApprovalStore } from '../approvals/approval-store.ts';
import { Approvals } from '../approvals/approvals.ts';
import type { ToolRule } from '../core/types.ts';
import { compileRules } from '../rules/compile-rules.ts';
import { rulesOf } from '../rules/rules-of.ts';
import { ToolPolicy } from '../rules/tool-policy.ts';
import { ConfigurationLoader } from './configuration-loader.ts';
import { previewFile, trustableFileAt } from './project-files.ts';
import { settingsSchema } from './settings-schema.ts';
import { realWorld } from './world.ts';

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
/** Loads a trusted project's settings together with the user's own. */
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

it('a project’s configuration cannot add registries, which would answer for the names of the user’s', async () => {
  const mine = [{ url: 'https://registry.example.com' }];
  const config = await load({ registries: [{ url: 'https://evil.example.com' }] }, { registries: mine });
  expect(config.registries).toEqual(mine);
  expect(config.warnings.join()).toContain('registries is ignored');
});

describe('approvals in a project’s configuration', () => {
  const servers = [{ name: 'a', connection: { type: 'stdio', command: 'x' }, approval: 'off' }];
  const modes = ({ servers }: Awaited<ReturnType<typeof load>>) => servers.map(({ approval = 'off' }) => approval);

  it('cannot be switched off, neither for all servers nor for one, and that is said', async () => {
    const config = await load({ approval: 'off', servers });
    expect(modes(config)).toEqual(['all']);
    expect(config.warnings.join()).toMatch(/approval is ignored.*servers\[0\]\.approval is ignored/s);
    expect(modes(await load({ servers }, { approval: 'new' }))).toEqual(['all']);
  });

  it('can be made stricter than the user’s own setting', async () => {
    expect(modes(await load({ servers }, { approval: 'off' }))).toEqual(['off']);
    expect(modes(await load({ approval: 'new', servers }, { approval: 'off' }))).toEqual(['all']);
    expect(modes(await load({ servers: [{ ...servers[0], approval: 'changed' }] }, { approval: 'off' }))).toEqual([
      'changed',
    ]);
  });
});

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
    // The servers are those of the first file found.
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
        // The user must resolve values that exclude each other.
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

  describe('beside servers that the user has', () => {
    const program = (command: string, more: object = {}) => ({ type: 'stdio', command, ...more });
    const USER = {
      sources: [{ type: 'cursor' }, { type: 'windsurf' }, { type: 'gemini-cli' }],
      servers: [
        { name: 'prod-db', enabled: false },
        { name: 'windsurf/github', concurrency: 1 },
        { name: 'own', connection: program('own') },
      ],
      toolRules: [
        { pattern: ['delete*'], server: 'github', enabled: false },
        { pattern: ['windsurf/github:drop'], enabled: false },
      ],
    };
    const writeClients = () => {
      write('home/.cursor/mcp.json', {
        mcpServers: { github: { command: 'u1' }, 'prod-db': { command: 'u2' }, off: { command: 'u3', disabled: true } },
      });
      write('home/.codeium/windsurf/mcp_config.json', { mcpServers: { github: { command: 'u4' } } });
      write('home/.gemini/settings.json', { mcpServers: { gem: { command: 'u5', excludeTools: ['delete_all'] } } });
    };
    const isUsers = (server: { connection: object }) =>
      'command' in server.connection && /^u\d/.test(String(server.connection.command));
    const commandOf = (server: { connection: object }) => (server.connection as { command: string }).command;

    it('takes no name, switches nothing on and opens nothing, whatever it says and brings', async () => {
      writeClients();
      write('home/.anygpt/mcp-discovery.config.json', USER);
      const folders = { home: join(root, 'home'), env: {}, trustProject: true };
      const before = await new ConfigurationLoader({ ...folders, cwd: join(root, 'home') }).load();
      const rulesBefore = await rulesOf(before);
      const known = new Map(before.servers.map((server) => [commandOf(server), server]));
      expect([...known.keys()].sort()).toEqual(['own', 'u1', 'u2', 'u3', 'u4', 'u5']);
      const name = fc.constantFrom('github', 'cursor/github', 'windsurf/github', 'prod-db', 'off', 'gem', 'own');
      const command = fc.constantFrom('evil', 'true', 'u1', 'u2', 'u3', 'u4');
      const entry = fc.record({ command, more: fc.constantFrom({}, { env: { A: '1' } }) });
      const own = fc.record(
        {
          name,
          connection: entry.map(({ command: run, more }) => program(run, more)),
          enabled: fc.boolean(),
          trusted: fc.constant(true),
          concurrency: fc.constant(99),
        },
        { requiredKeys: ['name', 'connection'] },
      );
      const word = fc.record({ name, enabled: fc.boolean(), trusted: fc.constant(true) }, { requiredKeys: ['name'] });
      const config = fc.record(
        {
          extends: fc.constant('~/.anygpt/mcp-discovery.config.json'),
          sources: fc.subarray([...USER.sources, { type: 'auto' }], { minLength: 1 }),
          servers: fc.uniqueArray(fc.oneof(own, word), { selector: (each) => each.name, maxLength: 4 }),
          toolRules: fc.constant([{ pattern: ['*'], enabled: true }]),
        },
        { requiredKeys: [] },
      );
      const client = fc.dictionary(
        name,
        entry.map(({ command: run, more }) => ({ command: run, ...more })),
        { maxKeys: 3 },
      );
      await fc.assert(
        fc.asyncProperty(fc.option(config), client, client, async (project, cursor, vscode) => {
          rmSync(join(root, 'clone', '.anygpt'), { recursive: true, force: true });
          write('clone/.cursor/mcp.json', { mcpServers: cursor });
          write('clone/.vscode/mcp.json', { servers: vscode });
          if (project) write('clone/.anygpt/mcp-discovery.config.json', project);
          const loader = new ConfigurationLoader({ ...folders, cwd: join(root, 'clone') });
          const after = await loader.load().catch((error: Error) => error);
          // The entry adjusts a server that no source has.
          if (after instanceof Error) {
            expect(after.message).toContain('no source has a server called');
            return;
          }
          const rules = await rulesOf(after);
          for (const server of after.servers.filter(isUsers)) {
            const { cwd, env } = server.connection as { cwd?: string; env: object };
            // A server with the same program that the project defines itself is the project's.
            if (cwd !== undefined || Object.keys(env).length > 0) continue;
            const users = known.get(commandOf(server));
            if (users?.enabled === false) expect(server.enabled, server.name).toBe(false);
            expect([server.trusted, server.concurrency]).toEqual([false, users?.concurrency]);
            for (const tool of ['delete_all', 'drop', 'get']) {
              if (!rulesBefore.decide(users?.name ?? '', tool).enabled)
                expect(rules.decide(server.name, tool).enabled, `${server.name}:${tool}`).toBe(false);
            }
            if (project) expect(server.name).toBe(users?.name);
          }
        }),
        { numRuns: 150 },
      );
    });

    it('approves nothing with a rule, and no rule approves anything of its servers', async () => {
      write('home/.anygpt/mcp-discovery.config.json', {
        discovery: { toolRules: [{ pattern: ['read_*'], approve: true }] },
      });
      write('clone/.anygpt/mcp-discovery.config.json', {
        discovery: {
          servers: [{ name: 'mail', connection: { type: 'stdio', command: 'evil' } }],
          toolRules: [{ pattern: ['*'], approve: 'always' }],
        },
      });
      const folders = { home: join(root, 'home'), env: {}, trustProject: true };
      const config = await new ConfigurationLoader({ ...folders, cwd: join(root, 'clone') }).load();
      expect(config.warnings.join()).toContain('approve is ignored in a project’s configuration');
      expect(config.servers).toMatchObject([{ name: 'mail', approval: 'all', isProjects: true }]);
      const rules = await rulesOf(config);
      expect(rules.decide('mail', 'send').approve).toBeUndefined();
      expect(rules.decide('mail', 'read_letter').approve).toEqual({ rule: 'rule 1 (read_*)', always: false });
      const store = new ApprovalStore(undefined);
      const source = { server: 'mail', identity: 'evil', mode: 'all' } as const;
      const definition = { name: 'read_letter', inputSchema: {} };
      const decide = async (isProjects: boolean) => {
        const approvals = await Approvals.open(store, [{ ...source, isProjects }]);
        approvals.vouch('mail', [definition]);
        return new ToolPolicy(rules, approvals).decide('mail', definition).enabled;
      };
      expect([await decide(true), await decide(false)]).toEqual([false, true]);
    });

    it('is renamed where it has a name of theirs, and rules for either mean it', async () => {
      writeClients();
      const config = await load(
        {
          sources: [{ type: 'cursor' }],
          servers: [{ name: 'github', connection: program('theirs') }],
          toolRules: [{ pattern: ['push'], server: 'github', enabled: false }],
        },
        USER,
      );
      const shown = config.servers.map((server) => [server.name, commandOf(server), server.enabled]);
      expect(shown).toEqual([
        ['project/github', 'theirs', true],
        ['github', 'u1', true],
        ['prod-db', 'u2', false],
        ['off', 'u3', false],
      ]);
      const rules = await rulesOf(config);
      expect(rules.decide('project/github', 'push').enabled).toBe(false);
      expect(rules.decide('project/github', 'delete_all').enabled).toBe(false);
      expect(rules.decide('github', 'delete_all').enabled).toBe(false);
      expect(config.warnings.join()).toContain('server "github" is called "project/github" here');
    });

    it('is not what an allow of theirs means, even where only the name is there', async () => {
      const allow = { toolRules: [{ pattern: ['own:*'], enabled: true }], servers: USER.servers.slice(2) };
      const config = await load({ servers: [{ name: 'own', connection: program('evil') }] }, allow);
      expect((await rulesOf(config)).decide('own', 'anything').enabled).toBe(false);
      const same = await load({ extends: '~/.anygpt/mcp-discovery.config.json' }, allow);
      expect((await rulesOf(same)).decide('own', 'anything').enabled).toBe(true);
    });

    it('says which of theirs are not used, and how they would be', async () => {
      writeClients();
      const project = { sources: [{ type: 'cursor' }], servers: [{ name: 'a', connection: program('a') }] };
      const own = join(root, 'home', '.anygpt', 'mcp-discovery.config.json');
      const { warnings } = await load(project, USER);
      expect(warnings.join('\n')).toContain(`windsurf/github, own, gem of ${own} are not used here`);
      const all = await load({ ...project, extends: own }, USER);
      expect(all.servers.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['own', 'gem', 'windsurf/github', 'a']),
      );
      expect(all.warnings.join('\n')).not.toContain('not used here');
      const world = realWorld({ home: join(root, 'home'), cwd: join(root, 'clone'), env: {} });
      const file = join(root, 'clone', '.anygpt', 'mcp-discovery.config.json');
      const { notes } = await previewFile(trustableFileAt(file, world), world);
      expect(notes.join('\n')).toContain('your own configuration, so its servers are used here too');
    });

    it('gets nothing of an entry that it builds on, and does not decide where that starts', async () => {
      const secret = { name: 'own', connection: program('npx', { env: { TOKEN: 'secret' } }) };
      const base = '~/.anygpt/mcp-discovery.config.json';
      const config = await load(
        { extends: base, servers: [{ name: 'own', connection: program('evil') }] },
        { servers: [secret] },
      );
      expect(config.servers).toMatchObject([
        { name: 'project/own', connection: { command: 'evil', env: {}, cwd: join(root, 'clone') } },
        { name: 'own', connection: { command: 'npx', env: { TOKEN: 'secret' } } },
      ]);
      expect(config.servers[1]?.connection).toMatchObject({ cwd: undefined });
    });
  });

  it('is an error where the user’s own file is, and not used without it', async () => {
    await expect(load({ servers: [] }, { servrs: [] })).rejects.toThrow('did you mean `servers`');
  });
});
