import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { documentOf, root } from '../../../test/fixtures/cli.ts';
import { type FakeIo, fakeIo } from '../../../test/fixtures/gateway/fake-io.ts';
import { tempFolder } from '../../../test/fixtures/gateway/kit.ts';
import { silentLogger } from '../../core/log.ts';
import { startTestServer, type TestServer } from '../../testing/index.ts';
import { UsageStore } from '../../usage/usage-store.ts';
import { main } from '../main.ts';
import { reload } from './config-reload.ts';
import { ageOf } from './list.ts';

const ESCAPE = '\u001b]0;owned\u0007\u001b[31m';
let github: TestServer;
let folder: ReturnType<typeof tempFolder>;
let config: Record<string, unknown>;

beforeAll(async () => {
  const issue = {
    type: 'object',
    properties: {
      repo: { type: 'string', description: 'Repository name (owner/repo)' },
      title: { type: 'string', description: 'Issue title' },
      labels: { type: 'array', items: { type: 'string' } },
    },
    required: ['repo', 'title'],
    examples: [{ repo: 'owner/repo', title: 'Bug' }],
  };
  github = await startTestServer({
    title: 'GitHub API integration',
    tools: {
      create_issue: {
        description: `Create a GitHub ${ESCAPE}issue in a repository.`,
        inputSchema: issue,
        call: ({ title, labels }) => ({ content: [], structuredContent: { title, labels } }),
      },
      delete_repo: { description: 'Delete a repository.', call: () => 'gone' },
      slow: {
        call: async (_args, { progress, signal }) => {
          await progress(1, 2, `half${ESCAPE}`);
          await new Promise((resolve) => {
            setTimeout(resolve, 100);
            signal.addEventListener('abort', resolve);
          });
          return `${ESCAPE}done\r\nline`;
        },
      },
      hang: {
        call: (_args, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve('late'))),
      },
      screenshot: {
        call: () => ({
          content: [{ type: 'image', mimeType: 'image/png', data: Buffer.from('picture').toString('base64') }],
        }),
      },
      huge: { call: () => 'x'.repeat(6 * 1024 * 1024) },
    },
  });
});
afterAll(() => github.close());
beforeEach(() => {
  folder = tempFolder();
  config = {
    servers: [
      { name: 'github', connection: github.connection },
      { name: 'away', description: 'Not there', connection: { type: 'http', url: 'http://127.0.0.1:9/mcp' } },
      { name: 'off', description: 'Switched off', enabled: false, connection: { type: 'stdio', command: 'x' } },
    ],
    toolRules: [
      { pattern: ['*issue*'], tags: ['issues'] },
      { server: 'github', pattern: ['delete_*'], enabled: false, tags: ['dangerous'] },
      { pattern: ['nothing_*'] },
    ],
    sources: [{ type: 'custom', path: './no-such.yaml' }],
  };
});
afterEach(() => folder[Symbol.dispose]());

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}
function start(
  argv: string[],
  { tty = false, env = {} as Record<string, string> } = {},
): { io: FakeIo; done: Promise<number> } {
  const path = join(folder.path, 'config.json');
  writeFileSync(path, JSON.stringify(config));
  const io = fakeIo({
    cwd: folder.path,
    env: { ANYGPT_HOME: join(folder.path, 'home'), ANYGPT_CONFIG: path, HOME: folder.path, ...env },
  });
  if (tty) for (const stream of [io.stdout, io.stderr]) Object.assign(stream, { isTTY: true, columns: 40 });
  return { io, done: main(['mcp', ...argv], io) };
}
async function run(argv: string[], options?: Parameters<typeof start>[1]): Promise<Ran> {
  const { io, done } = start(argv, options);
  const code = await done;
  return { code, out: io.out(), err: io.err() };
}
const MISSING = 'anygpt: Source custom:';

describe('list', () => {
  it('shows all configured servers without starting any', async () => {
    const { code, out, err } = await run(['list']);
    expect(code).toBe(0);
    const { command, args, url } = github.connection as { command?: string; args?: string[]; url?: string };
    expect(out).toBe(
      `MCP Servers (3 configured):\n\n· github\n  ${url ?? [command, ...(args ?? [])].join(' ')}\n\n· away\n  Not there\n  http://127.0.0.1:9/mcp\n\n- off (disabled)\n  Switched off\n  x\n`,
    );
    expect(err).toContain('anygpt: · means not tried yet; "anygpt mcp list --status" connects');
  });

  it('says what each server is and which client it is from, without secrets, and what keeps it from starting', async () => {
    mkdirSync(join(folder.path, '.cursor'));
    const args = ['-y', 'some-server', '--api-key', 'k3y-93jf02kd92', join(folder.path, 'notes')];
    const mcpServers = { a: { command: process.execPath, args }, b: { command: 'not-on-path' } };
    writeFileSync(join(folder.path, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers }));
    config = {
      sources: [{ type: 'cursor' }],
      servers: [
        { name: 'c', connection: { type: 'http', url: 'https://me:pa55word@example.com/mcp?key=AbCdEf123456789' } },
        { name: 'd', connection: { type: 'stdio', command: '${UNSET_HERE}' } },
      ],
    };
    const { out, err } = await run(['list']);
    expect(out).toContain(`· a\n  Cursor: ${process.execPath} -y some-server --api-key *** ~/notes\n`);
    expect(out).toContain(
      '✗ b\n  Cursor: not-on-path\n  Cannot start: the command "not-on-path" was not found on PATH\n',
    );
    expect(out).toContain('· c\n  https://***@example.com/mcp?key=***\n');
    expect(out).toContain('✗ d\n  ${UNSET_HERE}\n  Cannot start: UNSET_HERE is not set\n');
    expect(err).toContain('· means not tried yet');
    expect(err).toContain('✗ means failed or cannot start; "anygpt mcp doctor" says what to do.');
    const { servers } = await documentOf('list', (await run(['list', '--json'])).out);
    expect(servers.find(({ name }: Record<string, string>) => name === 'd')).toMatchObject({
      status: 'error',
      reason: 'Cannot start: UNSET_HERE is not set',
    });
    expect((await run(['config', 'show'])).out).toContain(
      'Servers: 4 configured, 0 connected (--status connects), 2 failed',
    );
    expect(servers.map(({ name, client }: Record<string, string>) => [name, client])).toEqual(
      expect.arrayContaining([
        ['a', 'cursor'],
        ['c', undefined],
      ]),
    );
    const narrow = (await run(['list'], { tty: true })).out.replace(/\u001b\[\d+m/g, '');
    for (const line of narrow.split('\n')) expect(line.length).toBeLessThanOrEqual(40);
  });

  it('hides the fragment of a URL and what follows -k or -t, whatever it looks like', async () => {
    const { execPath: command } = process;
    const local = (name: string, ...args: string[]) => ({ name, connection: { type: 'stdio', command, args } });
    config = {
      servers: [
        { name: 'a', connection: { type: 'http', url: 'https://example.com/mcp#hunter' } },
        local('b', 's', '-k', 'hunter', '-t', 'tiger', '-y', 'shown'),
        local('c', '-k', 'https://example.com/', '-t', '-v', '-k', '${HOME}'),
      ],
    };
    const { out } = await run(['list']);
    expect(out).toContain('· a\n  https://example.com/mcp#***\n');
    expect(out).toContain(`· b\n  ${command} s -k *** -t *** -y shown\n`);
    expect(out).toContain(`· c\n  ${command} -k https://example.com/ -t -v -k \${HOME}\n`);
  });

  it('says why a server failed without connecting again', async () => {
    await run(['list', '--status']);
    const { out } = await run(['list']);
    expect(out).toContain('✗ away\n  Not there\n  http://127.0.0.1:9/mcp\n  Failed last time: could not be reached');
    expect(out.match(/✗/g)).toHaveLength(1);
  });

  it('ticks only servers that answered, now or before, and then says when', async () => {
    config.servers = [
      ...(config.servers as object[]),
      { name: 'known', connection: { type: 'stdio', command: process.execPath }, tools: [{ name: 't' }] },
    ];
    expect((await run(['list', '--tools'])).out).toMatch(
      /✓ github \(5 tools, 1 disabled\)\n[\s\S]*✗ away\n[\s\S]*· known \(1 tool\)/,
    );
    const { out } = await run(['list']);
    expect(out).toMatch(/✓ github \(5 tools, 1 disabled, listed just now\)\n[\s\S]*✗ away\n[\s\S]*· known \(1 tool\)/);
    expect(ageOf(0, 59_999)).toBe('just now');
    expect([ageOf(0, 60_000), ageOf(0, 7_300_000), ageOf(0, 200_000_000), ageOf(9, 0)]).toEqual([
      '1 min ago',
      '2 h ago',
      '2 d ago',
      'just now',
    ]);
  });

  it('says of a server that is another one over again how to switch it off', async () => {
    const same = { type: 'stdio', command: 'x', env: { B: '1', A: '2' } };
    writeFileSync(
      join(folder.path, 'mcp.json'),
      JSON.stringify({ mcpServers: { theirs: { command: 'x', env: { A: '2', B: '1' } } } }),
    );
    config = {
      sources: [{ type: 'custom', path: './mcp.json' }],
      servers: [
        { name: 'one', connection: same },
        { name: 'two', connection: same },
        { name: 'off', enabled: false, connection: same },
        { name: 'other', connection: { ...same, env: { A: '2' } } },
      ],
    };
    const { out } = await run(['list']);
    expect(out).toContain(
      '✗ two\n  x\n  The same as one, so their tools compete. To disable this one, add "enabled": false to its entry in ~/config.json.\n',
    );
    expect(out).toContain('add {"name": "theirs", "enabled": false} to "servers" in ~/config.json.');
    expect(out.match(/The same as/g)).toHaveLength(2);
  });

  it('with --status says what is true now, because it connects', async () => {
    const { code, out } = await run(['list', '--status', '--tools']);
    expect(code).toBe(0);
    expect(out).toMatch(
      /✓ github \(5 tools, 1 disabled\)\n {2}GitHub API integration\n {2}\S.*\n {2}Status: Connected\n\n✗ away\n {2}Not there\n {2}\S.*\n {2}Status: Error - could not be reached/,
    );
    expect(out).toContain('- off (disabled)\n  Switched off\n  x\n  Status: Disabled\n');
  });

  it('with --status shows servers as healthy whose connection was closed to make room for others', async () => {
    const script = join(root, 'examples/servers/units.mjs');
    const local = (name: string) => ({
      name,
      connection: { type: 'stdio', command: process.execPath, args: [script] },
    });
    const names = ['one', 'two', 'three', 'four', 'five', 'six'];
    config.servers = names.map(local);
    config.limits = { localServers: 2 };
    const { servers } = await documentOf('list', (await run(['list', '--status', '--json', '--timeout', '60'])).out);
    expect(servers.map(({ name, status, reason }: Record<string, unknown>) => [name, status, reason])).toEqual(
      names.map((name) => [name, 'connected', undefined]),
    );
  });

  it('with --json has the shape of list_mcp_servers', async () => {
    const { out } = await run(['list', '--status', '--json']);
    const { servers, disabled } = await documentOf('list', out);
    expect(disabled).toEqual([{ name: 'off', description: 'Switched off' }]);
    expect(servers).toMatchObject([
      { name: 'github', description: 'GitHub API integration', toolCount: 5, disabledCount: 1, status: 'connected' },
      { name: 'away', toolCount: 0, status: 'error', reason: expect.any(String) },
    ]);
  });

  it('says why there is nothing to show', async () => {
    config = { enabled: false };
    expect(await run(['list'])).toMatchObject({ code: 0, err: expect.stringContaining('switched off') });
    const { out, err } = await run(['list'], { env: { ANYGPT_CONFIG: '' } });
    expect(out).toBe('MCP Servers (0 configured)\n');
    expect((await run(['config', 'show'], { env: { ANYGPT_CONFIG: '' } })).out).toContain(
      '\nSources (0)\n\nTool Rules (0)\n',
    );
    expect(err.match(/No configuration was found/g)).toHaveLength(1);
    // A configuration without servers is not created by `init` again, so it is edited.
    config = {};
    for (const argv of [['list'], ['search', 'x']]) {
      const { err: said } = await run(argv);
      expect(said).toContain('No servers are configured. You can add one to "servers" in ~/config.json.');
      expect(said).not.toMatch(/mcp init|nothing fits/);
    }
  });

  it('refuses to be offline and to say what is true now', async () => {
    expect(await run(['list', '--status', '--offline'])).toMatchObject({ code: 1, out: '' });
    expect(await run(['list', '--refresh', '--offline'])).toMatchObject({ code: 1, out: '' });
  });
});

describe('search', () => {
  it('prints hits as specified and everything else on stderr', async () => {
    const { code, out, err } = await run(['search', 'github', 'issue']);
    expect(code).toBe(0);
    expect(out).toMatch(
      /^Search results for "github issue" \(\d found\):\n\n1\. github:create_issue \(\d+% match\)\n {3}Create a GitHub issue in a repository\n {3}Tags: issues\n/,
    );
    expect(err).toContain('anygpt: away not searched: ');
    expect(out + err).not.toContain('\u001b');
  });

  it('filters by domain and category', async () => {
    const found = async (query: string) =>
      (await documentOf('search', (await run(['search', query, '--json'])).out)).results.map(
        ({ server, tool }: { server: string; tool: string }) => `${server}:${tool}`,
      );
    expect(await found('domain:github.issues category:crud.create')).toEqual(['github:create_issue']);
    expect(await found('domain:github -category:crud issue')).not.toContain('github:create_issue');
    expect(await found('domain:gitlab')).toEqual([]);
    const explained = await run(['search', 'category:crud.create open a ticket', '--explain', '--json']);
    expect((await documentOf('search', explained.out)).results[0]).toMatchObject({ tool: 'create_issue' });
  });

  it('shows progress and colour on a terminal, and fits it', async () => {
    const { out, err } = await run(['search', 'issue'], { tty: true });
    expect(err).toContain('\r\u001b[2KStarting servers: 0 of 2 ready, waiting');
    expect(out).toContain('\u001b[1mgithub:create_issue\u001b[22m');
    expect((await run(['search', 'issue'], { tty: true, env: { NO_COLOR: '1' } })).out).not.toContain('\u001b');
  });

  it('takes a server and a limit, and says what it cannot use', async () => {
    expect((await run(['search', 'repository', '--server', 'github', '--limit', '1'])).out).toContain('(1 found)');
    expect(await run(['search', 'x', '--server', 'gihub'])).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('Did you mean "github"?'),
    });
    for (const limit of ['0', '1.5', 'many', '101'])
      expect((await run(['search', 'x', '--limit', limit])).code).toBe(1);
  });

  it('names disabled servers if nothing likely was found, because one of them may have it', async () => {
    const hint = 'Not searched, because it is disabled: off. "anygpt mcp enable" switches a server on.';
    expect((await run(['search', 'play some music'])).err).toContain(hint);
    const found = await run(['search', 'create a github issue']);
    expect(Number(/\((\d+)% match\)/.exec(found.out)?.[1])).toBeGreaterThanOrEqual(60);
    for (const argv of [['create a github issue'], ['play music', '--server', 'github'], ['server:github music']])
      expect((await run(['search', ...argv])).err).not.toContain('disabled: off');
    const { notes } = await documentOf('search', (await run(['search', 'play some music', '--json'])).out);
    expect(notes).toContain(hint);
  });

  it('suggests servers for a filter that names none', async () => {
    const { code, out, err } = await run(['search', 'server:githb', 'issue']);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('anygpt: No server is called "githb". Did you mean server:github?');
    expect((await run(['search', 'issue -server:zzz'])).err).toContain('There are github, away.');
    expect((await run(['search', 'issue server:o*f'])).err).toContain('off is disabled.');
    expect((await run(['search', 'issue server:git*'])).err).not.toContain('No server is called');
    const { notes } = await documentOf('search', (await run(['search', 'server:githb', '--json'])).out);
    expect(notes[0]).toContain('server:github');
  });

  it('fits the terminal, however long the request is', async () => {
    const request = 'open an issue about the start page, which is empty since this morning';
    const { out } = await run(['search', request, '--explain'], { tty: true, env: { NO_COLOR: '1' } });
    expect(out.split('\n').filter((line) => line.length > 40)).toEqual([]);
    expect(out).toMatch(/^Search results for "open an issue about\nthe/);
  });

  it('explains the percentage it prints', async () => {
    const { out } = await run(['search', 'open an issue', '--explain']);
    const [, percent] = /1\. github:create_issue \((\d+%) match\)/.exec(out) ?? [];
    expect(out).toMatch(
      new RegExp(
        `\\n {3}Of the results with a score of \\d+, .* the next tool, about ${percent} are the right tool\\.\\n`,
      ),
    );
    expect(out).toMatch(/\n {3}Score \d+ of 100: words \d+, meaning -?\d+\.\n/);
    expect(out).toMatch(/\n {5}issue in name,/);
    expect(out).not.toMatch(/issu |parameterNames/);
    expect((await run(['search', 'create_issue', '--explain'])).out).toContain(
      '\n   100%: the query names this tool.\n',
    );
    const { results } = await documentOf('search', (await run(['search', 'issue', '--explain', '--json'])).out);
    expect(results[0].explanation.lead).toBeGreaterThan(0);
  });

  it('explains what it read in a query', async () => {
    const explained = async (query: string) => (await run(['search', query, '--explain'])).out;
    expect(await explained('create an issue about notes.xlsx')).toMatch(
      /\n {5}notes\.xlsx: excel spreadsheet\n {5}asks to create: issue\n/,
    );
    expect(await explained('open the issue, then search the repositories')).toMatch(
      /\n {5}asks "open the issue": \d+\n {5}asks "then search the repositories": \d+\n/,
    );
    expect(await explained('erstelle ein Ticket')).toMatch(/\n {5}in German: erstelle → create/);
    const read = async (query: string) =>
      (await documentOf('search', (await run(['search', query, '--explain', '--json'])).out)).results[0].explanation;
    expect(await read('create an issue about notes.xlsx')).toMatchObject({
      goal: { acts: ['create', 'open'], object: ['issue'] },
      things: [{ text: 'notes.xlsx', words: 'excel spreadsheet' }],
    });
    expect(await read('open the issue, then search the repositories')).toMatchObject({
      acts: [{ text: 'open the issue' }, { text: 'then search the repositories' }],
    });
  });

  it('names several failed servers in one note', async () => {
    config.servers = ['a', 'b'].map((name) => ({ name, connection: { type: 'http', url: 'http://127.0.0.1:9/mcp' } }));
    const { err } = await run(['search', 'x']);
    expect(err).toContain('anygpt: Not searched, because they failed: a, b. "anygpt mcp list" says why.\n');
    expect(err.match(/failed|reached/g)).toHaveLength(1);
  });

  it('shows no percentage where there are only filters', async () => {
    const { out } = await run(['search', 'server:github tag:issues']);
    expect(out).toContain('1. github:create_issue\n');
    expect(out).not.toContain('%');
  });

  it('ends with 2 when nothing was found', async () => {
    const { code, out, err } = await run(['search', 'zzzqqq', '--server', 'github']);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('No results found for "zzzqqq".');
    const json = await run(['search', 'zzzqqq', '--server', 'github', '--json']);
    expect(await documentOf('search', json.out)).toMatchObject({ results: [] });
  });

  it('waits no longer than told', async () => {
    await using silent = await startTestServer({ tools: { x: { call: () => 'x' } } });
    config = {
      servers: [
        {
          name: 'silent',
          connection: { type: 'stdio', command: process.execPath, args: ['-e', 'process.stdin.resume()'] },
        },
        { name: 'here', connection: silent.connection },
      ],
    };
    const { code, err } = await run(['search', 'x', '--timeout', '1s']);
    expect([code, err]).toEqual([0, expect.stringContaining('silent not searched')]);
    expect(await run(['tools', 'silent', '--timeout', '100ms'])).toMatchObject({
      code: 3,
      err: expect.stringContaining('did not list its tools within 0.1 s'),
    });
  });
});

describe('tools', () => {
  it('lists what is enabled, with --all also what is not', async () => {
    const some = await run(['tools', 'github']);
    expect(some.out).toMatch(
      /^Tools from github \(5 enabled, 1 disabled\):\n\n✓ create_issue\n {2}Create a GitHub issue in a repository\n\n/,
    );
    expect(some.out).not.toContain('delete_repo');
    const all = await run(['tools', 'github', '--all', '--tags']);
    expect(all.out).toContain('✗ delete_repo (disabled)\n  Delete a repository\n  Tags: dangerous\n');
  });

  it('ends with 2 for a server that is not there or switched off', async () => {
    expect(await run(['tools', 'nobody'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('"anygpt mcp list"'),
    });
    expect(await run(['tools', 'off'])).toMatchObject({ code: 2, err: expect.stringContaining('is disabled') });
    expect(await run(['tools', 'github', '--offline'])).toMatchObject({
      code: 3,
      err: expect.stringContaining('offline'),
    });
  });
});

describe('inspect', () => {
  it('prints description, parameters and examples as specified', async () => {
    const { out } = await run(['inspect', 'github', 'create_issue', '--examples']);
    expect(out).toBe(`Tool: github:create_issue

Description:
  Create a GitHub issue in a repository.

Parameters:
  repo (string, required)
    Repository name (owner/repo)

  title (string, required)
    Issue title

  labels (string[], optional)

Tags: issues
Domains: github, github.issues
Categories: crud.create

Examples:
  Example:
    repo: "owner/repo"
    title: "Bug"
`);
    expect((await run(['inspect', 'github:slow'])).out).toContain('Parameters:\n  (none)');
  });

  it('shows the domains and categories that a tool is inferred to have', async () => {
    const { out } = await run(['inspect', 'github', 'create_issue', '--json']);
    expect(await documentOf('inspect', out)).toMatchObject({
      domains: ['github', 'github.issues'],
      categories: ['crud.create'],
    });
    // Nothing in its name, description or annotations is a verb.
    expect((await run(['inspect', 'github:slow'])).out).not.toContain('Categories:');
  });

  it('suggests the tool that was meant', async () => {
    const { code, err } = await run(['inspect', 'github', 'create_isue']);
    expect([code, err]).toEqual([2, expect.stringMatching(/Did you mean "create_issue".*"anygpt mcp tools github"/)]);
    expect((await run(['inspect', 'github', 'slow', 'surplus'])).code).toBe(1);
    expect((await run(['inspect', 'away', 'x'])).code).toBe(3);
  });
});

describe('execute', () => {
  it('with --raw prints the result alone, and a failure on stderr', async () => {
    const raw = await run(['execute', 'github', 'create_issue', 'repo=a/b', 'title=x', '--raw']);
    expect([raw.code, JSON.parse(raw.out)]).toEqual([0, { title: 'x' }]);
    expect((await run(['execute', 'github', 'slow', '--raw'])).out).toBe(`${ESCAPE}done\r\nline`);
    expect((await run(['execute', 'github', 'screenshot', '--raw'])).out).toBe('picture');
    expect((await run(['execute', 'github', 'slow', '--raw'], { tty: true })).out).toBe('done\r\nline\n');
    const failed = await run(['execute', 'github', 'nope', '--raw']);
    expect(failed).toMatchObject({ code: 2, out: '', err: expect.stringContaining('nope') });
    expect((await run(['execute', 'github', 'slow', '--raw', '--json'])).code).toBe(1);
  });

  it('says where JSON belongs that stands beside the tool', async () => {
    const { code, err } = await run(['execute', 'github', 'create_issue', '{"repo": "a/b"}']);
    expect(code).toBe(1);
    expect(err).toContain(`--args '{"repo": "a/b"}'`);
  });

  it('names the parameter that was probably meant', async () => {
    const { code, err } = await run(['execute', 'github:create_issue', 'repo=a/b', 'titel=5']);
    expect(code).toBe(1);
    expect(err).toContain('create_issue has no parameter "titel". Did you mean "title"?');
  });

  it.each([
    ['a value has a wrong type', ['titel=x', 'labels:={']],
    ['the arguments are one JSON object', ['--args', '{"titel":"x"}']],
  ])('names that parameter also if %s', async (_, words) => {
    const { code, out, err } = await run(['execute', 'github:create_issue', ...words]);
    expect([code, out]).toEqual([1, expect.stringContaining('Code: TOOL_VALIDATION_ERROR')]);
    expect(err).toContain('create_issue has no parameter "titel". Did you mean "title"?');
  });

  it('names a key that no parameter resembles, once the call has failed', async () => {
    const { code, err } = await run(['execute', 'github:create_issue', 'zzzzzz=1']);
    expect(code).toBe(1);
    expect(err).toContain('create_issue has no parameter "zzzzzz".');
  });

  it('types pairs by the schema', async () => {
    const { code, out } = await run(['execute', 'github:create_issue', 'repo=a/b', 'title=5', 'labels=x', '--json']);
    expect(code).toBe(0);
    expect(await documentOf('execute', out)).toEqual({ success: true, result: { title: '5', labels: ['x'] } });
  });

  it('shows what servers say without what a terminal would obey', async () => {
    const { out, err } = await run(['execute', 'github', 'slow', '--stream']);
    expect(out).toBe('Executing: github:slow\n\n✓ Success\n\nResult:\n  done\n  line\n');
    expect(err).toContain('[1/2] half\n');
    const live = await run(['execute', 'github', 'slow'], { tty: true });
    expect(live.err).toContain('Calling github:slow … [1/2] half');
    expect(live.err.endsWith('\r\u001b[2K')).toBe(true);
  });

  it('saves pictures where it is told, and nothing over what is there', async () => {
    for (const name of ['screenshot-1.png', 'screenshot-1-2.png']) {
      const { out } = await run(['execute', 'github', 'screenshot', '--output', 'pictures', '--json']);
      const path = join(folder.path, 'pictures', name);
      expect((await documentOf('execute', out)).files).toEqual([{ block: 0, path, bytes: 7, mimeType: 'image/png' }]);
      expect(readFileSync(path, 'utf8')).toBe('picture');
    }
    expect((await run(['execute', 'github', 'screenshot', '--output', 'pictures'])).out).toContain('saved to');
    writeFileSync(join(folder.path, 'file'), '');
    const calls = github.calls.length;
    expect(await run(['execute', 'github', 'screenshot', '--output', 'file/x'])).toMatchObject({ code: 3 });
    expect(github.calls).toHaveLength(calls);
  });

  it('hands on a large result in one piece', async () => {
    const { out } = await run(['execute', 'github', 'huge', '--json']);
    expect(JSON.parse(out).result).toHaveLength(6 * 1024 * 1024);
  });

  it('ends a call that takes longer than told', async () => {
    const { code, out } = await run(['execute', 'github', 'hang', '--timeout', '3s']);
    expect(code).toBe(3);
    expect(out).toContain('Code: TOOL_EXECUTION_TIMEOUT');
  });

  it('ends on a signal, says no more, and at once on a second one', async () => {
    const before = github.calls.length;
    const { io, done } = start(['execute', 'github', 'hang']);
    await expect.poll(() => github.calls.length).toBe(before + 1);
    io.signal('SIGINT');
    io.signal('SIGINT');
    expect(await done).toBe(130);
    expect(io.exits[0]).toBe(130);
    expect(io.out()).toBe('Executing: github:hang\n\n');
    expect(io.listeners()).toBe(0);
  });

  it('refuses arguments it cannot read before anything starts', async () => {
    mkdirSync(join(folder.path, 'folder'));
    const bad = [
      ['--args', '['],
      ['--args', '[]'],
      ['--args', '@missing.json'],
      ['--args', '@folder'],
      ['stray'],
      ['x=1', 'stray'],
    ];
    for (const argv of bad) expect((await run(['execute', 'github', 'slow', ...argv])).code, argv.join(' ')).toBe(1);
    for (const argv of [[], ['github'], ['github', '--args', '{}']])
      expect((await run(['execute', ...argv])).code).toBe(1);
    const { io, done } = start(['execute', 'github', 'slow', '--args', '-']);
    io.stdin.end('\ufeff{}');
    expect(await done).toBe(0);
    const large = start(['execute', 'github', 'slow', '--args', '-']);
    large.io.stdin.end(Buffer.alloc(17 * 1024 * 1024, ' '));
    expect(await large.done).toBe(1);
    writeFileSync(join(folder.path, 'large.json'), Buffer.alloc(17 * 1024 * 1024, ' '));
    expect((await run(['execute', 'github', 'slow', '--args', '@large.json'])).err).toContain('larger than 16 MiB');
  });

  it('says where to find the server, the tool or the form of an argument that is missing', async () => {
    expect((await run(['execute'])).err).toContain('<server> is missing; "anygpt mcp list" shows all servers');
    expect((await run(['inspect', 'github'])).err).toContain('<tool> is missing; "anygpt mcp tools SERVER" shows');
    expect((await run(['execute', 'github', 'slow', 'stray'])).err).toContain(
      'unexpected argument "stray"; write arguments as key=value',
    );
  });

  it('says how to enable a disabled server, and suggests no other', async () => {
    const said = 'The server "off" is disabled. To switch it on, run "anygpt mcp enable off".';
    expect(await run(['tools', 'off'])).toMatchObject({ code: 2, err: expect.stringContaining(said) });
    const { error } = await documentOf('execute', (await run(['execute', 'off', 'x', '--json'])).out);
    expect(error.suggestions ?? []).toEqual([]);
  });

  it('names the parameter that a pair does not fit, and asks no server', async () => {
    const { code, out } = await run(['execute', 'github', 'create_issue', 'repo=a', 'repo=b', 'title=x']);
    expect([code, out]).toEqual([1, expect.stringContaining('Message: repo is given 2 times')]);
    expect((await run(['execute', 'github', 'delete_repo', 'x=1'])).code).toBe(4);
  });

  it('records every refused call, whatever form its arguments had', async () => {
    writeFileSync(join(folder.path, 'empty.json'), '{}');
    writeFileSync(join(folder.path, 'file'), '');
    const refused: [string[], string][] = [
      [['github', 'delete_repo'], 'TOOL_DISABLED'],
      [['github', 'delete_repo', 'x=1'], 'TOOL_DISABLED'],
      [['github:delete_repo', 'x:=[1]'], 'TOOL_DISABLED'],
      [['github', 'delete_repo', '--args', '{"x":1}'], 'TOOL_DISABLED'],
      [['github', 'delete_repo', 'y=1', '--args', '@empty.json'], 'TOOL_DISABLED'],
      [['github', 'delete_repo', '--args', '-'], 'TOOL_DISABLED'],
      [['github', 'create_issue', 'repo=a', 'repo=b', 'title=x'], 'TOOL_VALIDATION_ERROR'],
      [['github', 'create_issue', '{"repo":"a"}'], 'VALIDATION_ERROR'],
      [['github', 'create_issue', 'stray'], 'VALIDATION_ERROR'],
      [['github', 'create_issue', '--args', '{'], 'VALIDATION_ERROR'],
      [['github', 'create_issue', '--args', '@no-such-file'], 'VALIDATION_ERROR'],
      [['github', 'screenshot', '--output', 'file/x'], 'STORAGE_ERROR'],
      [['github', 'creat_issue', 'x=1'], 'TOOL_NOT_FOUND'],
      [['nobody', 'tool', 'x=1'], 'SERVER_NOT_FOUND'],
      [['away', 'tool', 'x=1'], 'SERVER_CONNECTION_ERROR'],
    ];
    for (const [argv] of refused) {
      const { io, done } = start(['execute', ...argv, '--timeout', '5']);
      io.stdin.end('{"z": 1}');
      expect(await done, argv.join(' ')).not.toBe(0);
    }
    const lines = readFileSync(join(folder.path, 'home', 'audit', 'audit.jsonl'), 'utf8')
      .trim()
      .split('\n');
    const recorded = lines.map((line) => JSON.parse(line));
    expect(recorded.map(({ code }) => code)).toEqual(refused.map(([, code]) => code));
    for (const { outcome } of recorded) expect(outcome).toBe('refused');
  });
});

describe('config', () => {
  it('show prints the block of the specification, with rules that do nothing', async () => {
    await run(['search', 'x']);
    const { code, out, err } = await run(['config', 'show']);
    expect(code).toBe(0);
    expect(out).toMatch(
      /^MCP Discovery Configuration:\n\nStatus: Enabled\nCache: Enabled \(TTL: 3600s\)\nFile: ~\/config\.json\n\nSources \(1\):\n {2}✗ custom \(~\/no-such\.yaml\) - not found\n\nTool Rules \(3\):\n {2}1\. \*issue\* → tags: \[issues\]\n {2}2\. server github: delete_\* → disabled, tags: \[dangerous\]\n {2}3\. nothing_\* → no effect\n\nWarnings \(1\):\n {2}- Rule 3 .*\n\nServers: 3 configured, 0 connected \(--status connects\), 1 failed, 1 disabled\nTools: 6 total, 5 enabled\n$/,
    );
    expect(err).toContain('"anygpt mcp doctor" says why servers failed');
    expect((await run(['config', 'show', '--status'])).out).toContain(
      'Servers: 3 configured, 1 connected, 1 failed, 1 disabled\n',
    );
    const { warnings, servers } = await documentOf('config-show', (await run(['config', 'show', '--json'])).out);
    expect([warnings, servers.configured]).toEqual([[expect.stringContaining('Rule 3')], 3]);
    expect((await run(['config', 'show', '--status', '--offline'])).code).toBe(1);
    config = { enabled: false, cache: { enabled: false } };
    expect((await run(['config', 'show'])).out).toContain('Status: Disabled\nCache: Disabled\n');
  });

  it('validate names shadowed rules without changing the exit code', async () => {
    config.toolRules = [
      { pattern: ['*'], enabled: true },
      { pattern: ['delete_*'], enabled: false },
    ];
    expect((await run(['config', 'validate'])).err).toContain('--refresh reads them');
    const { code, out } = await run(['config', 'validate', '--refresh']);
    expect(code).toBe(0);
    expect(out).toContain(
      '✓ ~/config.json is valid\n\nWarnings (1):\n  - Rule 2 (delete_*) should disable github:delete_repo',
    );
    const { warnings } = await documentOf('config-validate', (await run(['config', 'validate', '--json'])).out);
    expect(warnings.join()).toMatch(/no-such\.yaml.*Rule 2/);
  });

  it('validate names every problem', async () => {
    config = { servrs: [], cache: { ttl: 'x' } };
    const { code, out, err } = await run(['config', 'validate']);
    expect([code, err]).toEqual([2, '']);
    expect(out).toMatch(/^✗ The configuration is not valid\n\nProblems \(2\):\n {2}- ~\/config\.json: .*\n {2}- ~/);
    expect((await run(['config', 'validate'], { tty: true })).out).toMatch(/\n {2}- ~\/config\.json: .*\n {4}\S/);
    config = { toolRules: [{ pattern: ['/(/'] }] };
    expect((await run(['config', 'validate'])).out).toContain('Problems (1)');
    expect((await run(['config', 'validate', '--config', 'none.json'])).out).toContain('was not found');
  });

  it('sources lists files and clients', async () => {
    const { out, err } = await run(['config', 'sources']);
    expect(out).toBe('Files (1):\n  ~/config.json\n\nSources (1):\n  ✗ custom (~/no-such.yaml) - not found\n');
    expect(err).toContain(MISSING);
    const { sources } = await documentOf('config-sources', (await run(['config', 'sources', '--json'])).out);
    expect(sources).toMatchObject([{ type: 'custom', status: 'missing', servers: 0 }]);
    writeFileSync(join(folder.path, 'no-such.yaml'), 'servers: {}');
    expect((await run(['config', 'sources'])).out).toContain('✓ custom (~/no-such.yaml)\n');
    writeFileSync(join(folder.path, 'no-such.yaml'), '{');
    expect((await run(['config', 'sources'])).out).toContain('✗ custom (~/no-such.yaml) - ');
  });

  it('reload validates, reads what is new and tells running gateways', async () => {
    const { code, out, err } = await run(['config', 'reload']);
    expect(code).toBe(0);
    expect(out).toBe(
      '✓ Configuration reloaded: 2 servers, 1 of them without a tool list; running gateways will reload\n',
    );
    expect(err).toContain('away could not be reached');
    expect(readFileSync(join(folder.path, 'home', 'reload'), 'utf8')).toMatch(/^\d{4}-/);
    expect((await run(['search', 'issue', '--offline'])).code).toBe(0);
  });

  it('reload waits only briefly for a silent server', async () => {
    const connection = { type: 'stdio', command: process.execPath, args: ['-e', 'process.stdin.resume()'] };
    writeFileSync(join(folder.path, 'dead.json'), JSON.stringify({ servers: [{ name: 'dead', connection }] }));
    const io = fakeIo({ cwd: folder.path, env: { ANYGPT_HOME: join(folder.path, 'home'), HOME: folder.path } });
    expect(await reload({ config: join(folder.path, 'dead.json') }, io, 150)).toBe(0);
    expect(io.err()).toContain('dead did not list its tools within 0.15 s.');
  });

  it('knows its subcommands', async () => {
    expect((await run(['config', 'vaildate'])).err).toContain('Did you mean "validate"?');
    expect((await run(['config', 'frobnicate'])).err).toContain('Subcommands: show, validate');
    expect((await run(['config', 'show', 'surplus'])).code).toBe(1);
    expect((await run(['config', 'reload', '--status'])).code).toBe(1);
    expect((await run(['config', 'toString'])).code).toBe(1);
  });
});

describe('cache clear', () => {
  it('forgets one list, or all', async () => {
    await run(['search', 'issue']);
    expect((await run(['search', 'issue', '--offline'])).code).toBe(0);
    expect(await run(['cache', 'clear', 'github'])).toMatchObject({
      code: 0,
      out: 'Cleared the tool lists of github\n',
    });
    expect((await run(['search', 'issue', '--offline'])).code).toBe(2);
    const { servers } = await documentOf('cache-clear', (await run(['cache', 'clear', '--json'])).out);
    expect(servers).toEqual(['github', 'away']);
    expect(await run(['cache'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('<subcommand> is missing: clear'),
    });
  });

  it('leaves what was learnt from use, unless that is what should be forgotten', async () => {
    const usage = join(folder.path, 'home', 'usage');
    const options = { folder: usage, keepQueries: false, logger: silentLogger, now: Date.now };
    const store = new UsageStore(options);
    const learnt = async () =>
      (await new UsageStore(options).recordOf(undefined)).learntFor('open ticket', Date.now()).length;
    const use = { query: 'open ticket', server: 'github', tool: 'create_issue', at: Date.now(), weight: 1 };
    await store.add(undefined, use);
    await store.flush();
    await run(['search', 'issue']);
    await run(['cache', 'clear']);
    expect(await learnt()).toBe(1);
    await run(['search', 'issue']);
    expect((await run(['cache', 'clear', 'github', '--usage'])).code).toBe(1);
    expect(await run(['cache', 'clear', '--usage'])).toMatchObject({
      code: 0,
      out: 'Cleared what search has learnt\n',
    });
    expect(await learnt()).toBe(0);
    expect((await run(['search', 'issue', '--offline'])).code).toBe(0);
    await documentOf('cache-clear', (await run(['cache', 'clear', '--usage', '--json'])).out);
  });
});

describe('what all commands share', () => {
  it('is a level for messages, and warnings without one', async () => {
    expect((await run(['list', '--log-level', 'warn'])).err).toContain('anygpt: warn Source custom');
    expect((await run(['list', '--log-level', 'silent'])).err).toBe('');
    expect((await run(['list'])).err).toContain(MISSING);
    expect((await run(['list', '--log-level', 'loud'])).code).toBe(1);
    expect((await run(['list', '--timeout', 'soon'])).code).toBe(1);
  });
});
