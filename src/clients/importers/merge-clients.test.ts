import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigurationLoader, type LoaderOptions } from '../../config/configuration-loader.ts';
import { compileRules } from '../../rules/compile-rules.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'anygpt-merge-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

async function write(path: string, content: unknown): Promise<string> {
  const full = join(home, path);
  await mkdir(dirname(full), { recursive: true });
  await writeFile(full, typeof content === 'string' ? content : JSON.stringify(content));
  return full;
}
const loader = (options: LoaderOptions = {}) =>
  new ConfigurationLoader({ home, cwd: join(home, 'work', 'app'), env: {}, platform: 'linux', ...options });
const load = (config: unknown, options?: LoaderOptions) => loader(options).resolve(config);
const auto = { sources: [{ type: 'auto' }] };
const cursor = (servers: object) => write('.cursor/mcp.json', { mcpServers: servers });
const claude = (servers: object) => write('.config/Claude/claude_desktop_config.json', { mcpServers: servers });
const names = ({ servers }: { servers: readonly { name: string }[] }) => servers.map(({ name }) => name);

describe('auto', () => {
  it('reads every client that is there and is silent about the others', async () => {
    await claude({ files: { command: 'files' } });
    await cursor({ web: { url: 'https://web.test' } });
    await write('.codex/config.toml', '[mcp_servers.time]\ncommand = "time"\n');
    await write('.config/goose/config.yaml', 'extensions: { g: { type: stdio, cmd: goose-server } }');
    const config = await load(auto);
    expect(names(config)).toEqual(['files', 'web', 'time', 'g']);
    expect(config.warnings).toEqual([]);
    expect(config.sources.map(({ type, scope, status }) => [type, scope, status])).toEqual([
      ['claude-desktop', 'user', 'ok'],
      ['cursor', 'user', 'ok'],
      ['codex', 'user', 'ok'],
      ['goose', 'user', 'ok'],
    ]);
    expect(config.files).toHaveLength(4);
  });

  it('says so when there is no client at all, and takes no path', async () => {
    const config = await load(auto);
    expect(config.sources).toMatchObject([{ type: 'auto', status: 'missing' }]);
    expect(config.warnings).toEqual(['Source auto: no client with a configuration was found.']);
    await expect(load({ sources: [{ type: 'auto', path: 'x' }] })).rejects.toThrow(/finds the files itself/);
    await expect(load({ sources: [{ type: 'mcpb' }] })).rejects.toThrow(/an? mcpb source needs the path/);
  });

  it('keeps going when one client is broken', async () => {
    await claude({ files: { command: 'files' } });
    const broken = await write('.cursor/mcp.json', '{ "mcpServers": { "a": ');
    const config = await load(auto);
    expect(names(config)).toEqual(['files']);
    expect(config.sources[1]).toMatchObject({ type: 'cursor', path: broken, status: 'error' });
  });

  it('reads a file that two clients share once', async () => {
    const shared = await write('work/app/.mcp.json', { mcpServers: { a: { command: 'a' } } });
    const config = await load(auto, { trustProject: true });
    expect(config.sources.filter(({ path }) => path === shared)).toMatchObject([{ type: 'claude-code' }]);
  });
});

describe('the same server in two clients', () => {
  it('is listed once, under its first name, whatever it is called elsewhere', async () => {
    await claude({ notes: { command: 'npx', args: ['notes'] }, Linear: { command: 'x' } });
    const file = await cursor({
      notes: { command: 'npx', args: ['notes'] },
      notebook: { command: 'npx', args: ['notes'] },
      linear: { url: 'https://linear.test/mcp' },
    });
    await write('.config/Code/User/mcp.json', { servers: { 'linear-mcp': { url: 'https://LINEAR.test/mcp/' } } });
    const config = await load(auto);
    expect(names(config)).toEqual(['notes', 'Linear', 'linear']);
    expect(config.warnings.join('\n')).toContain(`${file}: server "notebook" is the same as "notes"`);
    expect(config.warnings.join('\n')).toContain('server "linear-mcp" is the same as "linear"');
  });

  it('is listed once, too, when its name means another server elsewhere', async () => {
    await claude({ a: { command: 'x', env: { K: '1' } }, b: { command: 'y' } });
    await cursor({ b: { command: 'x', args: [], env: { K: '1' } } });
    const config = await load(auto);
    expect(names(config)).toEqual(['a', 'b']);
    expect(config.warnings).toEqual([expect.stringContaining('server "b" is the same as "a"')]);
  });

  it('keeps its name when another entry of that name is the same', async () => {
    await claude({ a: { command: 'x' }, b: { command: 'x' } });
    await cursor({ b: { command: 'x' } });
    const config = await load(auto);
    expect([names(config), config.warnings]).toEqual([['a', 'b'], []]);
  });

  it('is two servers when one file lists it twice, or when it is given other values', async () => {
    await claude({ work: { command: 'gh', env: { TOKEN: 'a' } } });
    await cursor({ private: { command: 'gh', env: { TOKEN: 'b' } }, again: { command: 'gh', env: { TOKEN: 'b' } } });
    expect(names(await load(auto))).toEqual(['work', 'private', 'again']);
  });

  it('is two servers when two entries of one name disagree in a value, and says in which without showing it', async () => {
    const first = await claude({ gh: { command: 'gh', env: { TOKEN: 'aaaa', SAME: '1' } } });
    await cursor({ gh: { command: 'gh', env: { TOKEN: 'bbbb', SAME: '1', EXTRA: 'x' } } });
    const config = await load(auto);
    expect(config.servers).toMatchObject([
      { name: 'gh', connection: { env: { TOKEN: 'aaaa', SAME: '1' } } },
      { name: 'cursor/gh', connection: { env: { TOKEN: 'bbbb', SAME: '1', EXTRA: 'x' } }, origin: { name: 'gh' } },
    ]);
    expect(config.warnings).toEqual([
      `${join(home, '.cursor/mcp.json')}: server "gh" is called "cursor/gh" here, because ${first} has another server of that name, with another TOKEN, EXTRA. To keep both without this note, add {"name": "cursor/gh"} to "servers" in your configuration.`,
    ]);
  });

  it('never gets a value that stands in another entry: every server is one entry of one file', async () => {
    const value = fc.constantFrom('1', '2', '${A}');
    const values = fc.dictionary(fc.constantFrom('A', 'B', 'x-key', 'X-Key'), value, { maxKeys: 3 });
    const entry = fc.oneof(
      fc.record({
        command: fc.constantFrom('x', 'y'),
        args: fc.constantFrom<string[]>([], ['--a']),
        env: values,
      }),
      fc.record({ url: fc.constantFrom('https://a.test/mcp', 'https://b.test/mcp'), headers: values }),
    );
    const file = fc.dictionary(fc.constantFrom('s', 't', 'cursor/s', 's-2'), entry, { maxKeys: 3 });
    await fc.assert(
      fc.asyncProperty(file, file, file, async (one, two, three) => {
        await claude(one);
        await cursor(two);
        await write('.kiro/settings/mcp.json', { mcpServers: three });
        const servers = (await load(auto)).servers.map(({ connection }) =>
          connection.type === 'stdio'
            ? { command: connection.command, args: connection.args, env: connection.env }
            : { url: connection.url, headers: connection.headers },
        );
        // Claude Desktop treats references as text.
        const written = [one, two, three].flatMap((entries) => Object.values(entries));
        const known = new Set(written.map((each) => JSON.stringify(each).replaceAll('$${', '${')));
        const found = servers.map((each) => JSON.stringify(each).replaceAll('$${', '${'));
        expect(found.filter((each) => !known.has(each))).toEqual([]);
        expect(names(await load(auto))).toEqual(names(await load(auto)));
      }),
      { numRuns: 60 },
    );
  });

  it('is called after its client when it is another server of the same name', async () => {
    await claude({ github: { command: 'github-a' } });
    await cursor({ github: { command: 'github-b' } });
    await write('.config/Code/User/mcp.json', { servers: { github: { command: 'github-c' } } });
    await write('.config/Code - Insiders/User/mcp.json', { servers: { github: { command: 'github-d' } } });
    const config = await load(auto);
    expect(names(config)).toEqual(['github', 'cursor/github', 'vscode/github', 'vscode/github-2']);
    expect(config.warnings[0]).toMatch(/server "github" is called "cursor\/github" here, because .*claude_desktop/);
  });

  it('is off under any name it has here when its own name is switched off, and not noted once its name is written', async () => {
    await write('.cursor/mcp.json', { mcpServers: { db: { command: 'x', env: { A: '1' } } } });
    await write('.claude.json', { mcpServers: { db: { command: 'x', env: { A: '2' } } } });
    const both = { sources: [{ type: 'cursor' }, { type: 'claude-code' }] };
    const seen = async (servers: object[], env = {}) => {
      const config = await new ConfigurationLoader({ home, cwd: home, env, platform: 'linux' }).resolve({
        ...both,
        servers,
      });
      return { on: config.servers.filter(({ enabled }) => enabled).map(({ name }) => name), notes: config.warnings };
    };
    expect((await seen([])).on).toEqual(['db', 'claude-code/db']);
    expect((await seen([])).notes[0]).toMatch(
      /To keep both without this note, add \{"name": "claude-code\/db"\} to "servers"/,
    );
    expect((await seen([{ name: 'claude-code/db' }])).notes).toEqual([]);
    expect((await seen([{ name: 'db', enabled: false }])).on).toEqual([]);
    expect(
      (
        await seen([
          { name: 'db', enabled: false },
          { name: 'claude-code/db', enabled: true },
        ])
      ).on,
    ).toEqual(['claude-code/db']);
    expect((await seen([], { DB_MCP_ENABLED: 'false' })).on).toEqual([]);
  });

  it('is off when every client that has it switched it off, or when the configuration says so', async () => {
    await write('.codeium/windsurf/mcp_config.json', {
      mcpServers: { a: { command: 'a', disabled: true }, b: { command: 'b', disabled: true } },
    });
    await write('.kiro/settings/mcp.json', {
      mcpServers: { a: { command: 'a', disabled: true }, bb: { command: 'b' } },
    });
    const states = async (config: object) => (await load(config)).servers.map(({ name, enabled }) => [name, enabled]);
    expect(await states(auto)).toEqual([
      ['a', false],
      ['b', true],
    ]);
    expect(await states({ ...auto, servers: [{ name: 'b', enabled: false }] })).toEqual([
      ['b', false],
      ['a', false],
    ]);
  });
});

describe('tool lists', () => {
  const on = async (config: Awaited<ReturnType<typeof load>>, server: string, tools: readonly string[]) => {
    const rules = await compileRules(config.toolRules, config.rulePrecedence);
    return tools.filter((tool) => rules.decide(server, tool).enabled);
  };

  it('concern their own server under the name it has here, and no other', async () => {
    await claude({ 'a*': { command: 'other' } });
    await write('.codex/config.toml', '[mcp_servers."a*"]\ncommand = "x"\nenabled_tools = ["read", "we:ird", "*?"]\n');
    const config = await load(auto);
    expect(names(config)).toEqual(['a*', 'codex/a*']);
    expect(await on(config, 'codex/a*', ['read', 'write', 'we:ird', '*?', 'xy'])).toEqual(['read', 'we:ird', '*?']);
    expect(await on(config, 'a*', ['read', 'write'])).toEqual(['read', 'write']);
    expect(await on(config, 'codex/abc', ['write'])).toEqual(['write']);
  });

  it("come after the user's rules, which can allow what a client denies", async () => {
    await write('.kiro/settings/mcp.json', { mcpServers: { k: { command: 'k', disabledTools: ['a', 'b'] } } });
    const rules = [{ pattern: ['*'], server: 'k', enabled: true }];
    expect(await on(await load({ ...auto, toolRules: rules }), 'k', ['a', 'b', 'c'])).toEqual(['a', 'b', 'c']);
    expect(await on(await load(auto), 'k', ['a', 'b', 'c'])).toEqual(['c']);
  });

  it('may hold patterns where the client has them', async () => {
    const entry = { command: 'p', includeTools: ['browser_*', '!x', '/y/'] };
    await write('.config/amp/settings.json', { 'amp.mcpServers': { p: entry } });
    expect(await on(await load(auto), 'p', ['browser_a', 'other', '!x', '/y/', 'y'])).toEqual([
      'browser_a',
      '!x',
      '/y/',
    ]);
  });

  it('of the first client that has one count for a server of several', async () => {
    await cursor({ s: { command: 's' } });
    await write('.kiro/settings/mcp.json', { mcpServers: { s: { command: 's', disabledTools: ['a'] } } });
    await write('.factory/mcp.json', { mcpServers: { s: { command: 's', disabledTools: ['b'] } } });
    expect(await on(await load(auto), 's', ['a', 'b'])).toEqual(['b']);
  });

  it('that cannot be understood cost the entry, never the filter', async () => {
    const long = ['x'.repeat(300)];
    const many = Array.from({ length: 1_001 }, (_, index) => `t${index}`);
    await cursor({
      a: { command: 'a', disabledTools: [1] },
      b: { command: 'b', includeTools: long },
      c: { command: 'c', includeTools: many },
      d: { command: 'd', includeTools: null },
    });
    const config = await load(auto);
    expect(names(config)).toEqual(['d']);
    expect(config.warnings).toHaveLength(3);
  });
});

describe('files of a project', () => {
  it('are listed and not used before they are trusted, and no more after a change', async () => {
    const file = await write('work/app/.mcp.json', { mcpServers: { evil: { command: 'evil' } } });
    await write('work/app/.vscode/mcp.json', { servers: { worse: { command: 'worse' } } });
    const before = await load(auto);
    expect(names(before)).toEqual([]);
    expect(before.sources.map(({ type, scope, status }) => [type, scope, status])).toEqual([
      ['vscode', 'project', 'untrusted'],
      ['claude-code', 'project', 'untrusted'],
    ]);
    expect(before.warnings[1]).toContain(`anygpt mcp trust ${file}`);
    await loader().trust(file);
    expect(names(await load(auto))).toEqual(['evil']);
    await write('work/app/.mcp.json', { mcpServers: { evil: { command: 'other' } } });
    expect(names(await load(auto))).toEqual([]);
  });

  it('are found in every folder up to the repository, and not in the home folder', async () => {
    await write('work/.git/HEAD', '');
    await write('work/.mcp.json', { mcpServers: { outer: { command: 'o' } } });
    await write('work/app/.mcp.json', { mcpServers: { inner: { command: 'i' } } });
    await write('.mcp.json', { mcpServers: { home: { command: 'h' } } });
    expect(names(await load(auto, { trustProject: true }))).toEqual(['inner', 'outer']);
    expect(names(await load(auto, { trustProject: true, cwd: home }))).toEqual([]);
  });

  it('win over the user’s inside one client, except in Factory', async () => {
    await cursor({ a: { command: 'user' }, b: { command: 'b' } });
    await write('work/app/.cursor/mcp.json', { mcpServers: { a: { command: 'project' } } });
    await write('.factory/mcp.json', { mcpServers: { f: { command: 'user-f' } } });
    await write('work/app/.factory/mcp.json', { mcpServers: { f: { command: 'project-f' } } });
    const config = await load(auto, { trustProject: true });
    expect(config.servers.map(({ name, connection }) => [name, 'command' in connection && connection.command])).toEqual(
      [
        ['a', 'project'],
        ['b', 'b'],
        ['f', 'user-f'],
      ],
    );
    expect(config.sources.map(({ serverCount }) => serverCount)).toEqual([1, 1, 1, 0]);
  });

  it('are switched off by the user’s word in Claude Code', async () => {
    const app = join(home, 'work', 'app');
    await write('.claude.json', { projects: { [app]: { disabledMcpjsonServers: ['off'] } } });
    await write('work/app/.mcp.json', { mcpServers: { off: { command: 'x' }, on: { command: 'y' } } });
    const config = await load({ sources: [{ type: 'claude-code' }] }, { trustProject: true });
    expect(config.servers.map(({ name, enabled }) => [name, enabled])).toEqual([
      ['off', false],
      ['on', true],
    ]);
  });

  it('know their folder: variables and relative paths start there', async () => {
    const entry = { command: './run', cwd: 'sub', args: ['${workspaceFolder}'], envFile: '.env' };
    await write('work/app/.env', '# comment\nexport TOKEN="se cret" \nOTHER=1 # x\nnot a variable\nA.B=2');
    const file = await write('work/app/.vscode/mcp.json', { servers: { s: entry } });
    const app = join(home, 'work', 'app');
    const expected = {
      command: join(app, 'run'),
      cwd: join(app, 'sub'),
      args: [app],
      env: { TOKEN: `\${envFile:${app}/.env#TOKEN}`, OTHER: `\${envFile:${app}/.env#OTHER}` },
    };
    const found = await load(auto, { trustProject: true });
    expect(found.servers[0]?.connection).toMatchObject(expected);
    const named = await load({ sources: [{ type: 'vscode', path: file }] });
    expect(named.servers[0]?.connection).toMatchObject(expected);
    expect(named.sources[0]?.scope).toBeUndefined();
  });
});

describe('a source with a path', () => {
  it('may use ~ and variables', async () => {
    await write('elsewhere/mcp.json', { mcpServers: { a: { url: 'https://a.test' } } });
    for (const path of ['~/elsewhere/mcp.json', '${PLACE}/mcp.json', '${GONE:-~/elsewhere}/mcp.json']) {
      const config = await load({ sources: [{ type: 'cline', path }] }, { env: { PLACE: join(home, 'elsewhere') } });
      expect(config.servers).toMatchObject([{ name: 'a', connection: { type: 'sse' }, origin: { client: 'cline' } }]);
    }
  });

  it('reads shapes of other clients in a custom file', async () => {
    await write('a.toml', '[mcp_servers.a]\ncommand = "a"\n');
    await write('b.json', { mcp: { servers: { b: { command: 'b' } } } });
    await write('c.json', { context_servers: { c: { command: 'c' } } });
    await write('d.json', { d: { command: 'd' } });
    const sources = ['a.toml', 'b.json', 'c.json', 'd.json'].map((file) => ({ type: 'custom', path: `~/${file}` }));
    expect(names(await load({ sources }))).toEqual(['a', 'b', 'c', 'd']);
  });
});
