import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigurationLoader } from '../../config/configuration-loader.ts';
import type { ResolvedConfig } from '../../config/resolved-config.ts';
import type { World } from '../../config/world.ts';
import { CLIENT_TYPES, type ClientType, clientOf } from './clients.ts';
import { importSource } from './import-source.ts';

interface Neutral {
  readonly transport: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly enabled: boolean;
}
interface Fixture {
  readonly client: string;
  readonly file: string;
  readonly scope: string;
  readonly expected: Readonly<Record<string, Neutral>>;
}
interface More {
  readonly fixtures: readonly Fixture[];
  readonly timeouts: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly rules: Readonly<Record<string, readonly object[]>>;
  readonly leftOut: Readonly<Record<string, readonly string[]>>;
}

const fixtures = fileURLToPath(new URL('../../../test/fixtures/', import.meta.url));
const readIndex = <T>(name: string): T => JSON.parse(readFileSync(join(fixtures, 'clients', name), 'utf8')) as T;
const index = readIndex<{ fixtures: readonly Fixture[] }>('INDEX.json');
const more = readIndex<More>('MORE.json');
const all = [...index.fixtures, ...more.fixtures];
const typeOf = (client: string) => (client === 'docker' ? 'docker-mcp' : client) as ClientType;

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'anygpt-clients-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));
let counter = 0;

const PLATFORMS = ['linux', 'darwin', 'win32'] as const;

/** Copies a fixture to the client's own place in a new home or project. */
async function stage(fixture: Fixture, platform: NodeJS.Platform, scope: 'user' | 'project') {
  const home = join(root, `${counter++}`);
  const project = join(home, 'src', 'app');
  const world: World = { home, cwd: project, env: {}, platform };
  const client = clientOf(typeOf(fixture.client));
  const [file = ''] = fixture.file.split('#');
  const name = file.endsWith('spec-dot-windsurf-mcp.json') ? 'mcp.json' : basename(file);
  const patterns = scope === 'user' ? client.user(world) : (client.project ?? []).map((path) => join(project, path));
  const pattern =
    patterns.find((path) => basename(path) === name && !path.includes('*')) ??
    patterns.find((path) => path.includes('*') && name.endsWith(basename(path).replace('*', ''))) ??
    (scope === 'project' ? patterns[0] : undefined);
  if (pattern === undefined) throw new Error(`the table has no place for ${file}`);
  const place = pattern.replace('*', name.slice(0, name.lastIndexOf('.')));
  await mkdir(dirname(place), { recursive: true });
  await mkdir(project, { recursive: true });
  await cp(join(fixtures, file), place);
  return { world, place, project };
}

const load = ({ world }: { world: World }, type: ClientType, trustProject = false): Promise<ResolvedConfig> =>
  new ConfigurationLoader({ ...world, trustProject }).resolve({ sources: [{ type }] });

/** Converts a definition to the neutral shape; an inherited variable becomes a reference to it. */
function toNeutral({ connection, enabled }: ResolvedConfig['servers'][number]): Neutral {
  if (connection.type !== 'stdio') {
    return { transport: connection.type, url: connection.url, headers: connection.headers, enabled };
  }
  const passed = connection.inheritEnv.map((name) => [name, `\${${name}}`]);
  const { command, args, cwd } = connection;
  const env = { ...connection.env, ...Object.fromEntries(passed) };
  return { transport: 'stdio', command, args, env, ...(cwd !== undefined && { cwd }), enabled };
}

/** The expected entry with every dialect's references converted to ours, by code independent of the importer. */
function expectedFor(entry: Neutral, type: ClientType, world: World, workspace?: string): Neutral {
  const ours = (text: string) => {
    let result = text
      .replace('${input:github-pat}', '${INPUT_GITHUB_PAT}')
      .replace('${input:region}', '${INPUT_REGION:-us}')
      .replaceAll(/\$\{env:(\w+)\}/g, '${$1}')
      .replaceAll(/\$\{\{ secrets\.(\w+) \}\}/g, '${$1}')
      .replaceAll('${userHome}', world.home)
      .replaceAll('${/}', world.platform === 'win32' ? '\\' : '/');
    if (type === 'opencode') result = result.replaceAll(/\{(?:env:)?(file:)?([^}]+)\}/g, '${$1$2}');
    result = result.replaceAll('${file:~', `\${file:${world.home}`);
    if (['gemini-cli', 'qwen-code', 'copilot-cli', 'crush'].includes(type)) {
      result = result.replaceAll(/\$(\w+)/g, '${$1}');
    }
    if (workspace === undefined) return result;
    return result
      .replaceAll('${workspaceFolder}', workspace)
      .replaceAll('${workspaceFolderBasename}', basename(workspace));
  };
  const map = (values: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, ours(value)]));
  const transport = ['auto', 'ws'].includes(entry.transport) ? 'http' : entry.transport;
  if (entry.transport !== 'stdio') {
    return { transport, url: ours(entry.url ?? ''), headers: map(entry.headers), enabled: entry.enabled };
  }
  const cwd = entry.cwd === undefined ? undefined : ours(entry.cwd);
  return {
    transport,
    command: entry.command ?? '',
    args: (entry.args ?? []).map(ours),
    env: map(entry.env),
    // A project's servers start in the project, others at home; relative folders start there too.
    ...(cwd === undefined
      ? workspace !== undefined && { cwd: workspace }
      : { cwd: cwd.includes('${') ? cwd : resolve(workspace ?? world.home, cwd) }),
    enabled: entry.enabled,
  };
}

function compare(config: ResolvedConfig, fixture: Fixture, world: World, workspace?: string) {
  const type = typeOf(fixture.client);
  const found = Object.fromEntries(config.servers.map((server) => [server.name, toNeutral(server)]));
  const expected = Object.fromEntries(
    Object.entries(fixture.expected).map(([name, entry]) => [name, expectedFor(entry, type, world, workspace)]),
  );
  expect(found).toEqual(expected);
}

const isLocal = ({ scope }: Fixture) => scope === 'local';

describe('every fixture gives its expected servers', () => {
  const users = all.filter(({ scope }) => scope.includes('user'));
  it.each(PLATFORMS.flatMap((platform) => users.map((fixture) => [fixture.file, platform, fixture] as const)))(
    '%s as a user has it on %s',
    async (_file, platform, fixture) => {
      const staged = await stage(fixture, platform, 'user');
      const config = await load(staged, typeOf(fixture.client));
      expect(config.sources).toMatchObject([{ path: staged.place, scope: 'user', status: 'ok' }]);
      compare(config, fixture, staged.world);
      for (const server of config.servers)
        expect(server.origin).toMatchObject({ file: staged.place, client: typeOf(fixture.client) });
    },
  );

  const projects = all.filter(({ scope }) => scope.includes('project'));
  it.each(projects.map((fixture) => [fixture.file, fixture] as const))(
    '%s as a project has it, once it is trusted and not before',
    async (_file, fixture) => {
      const staged = await stage(fixture, 'linux', 'project');
      const before = await load(staged, typeOf(fixture.client));
      expect(before.sources).toMatchObject([
        { path: staged.place, scope: 'project', status: 'untrusted', serverCount: 0 },
      ]);
      expect(before.servers).toEqual([]);
      const after = await load(staged, typeOf(fixture.client), true);
      compare(after, fixture, staged.world, staged.project);
    },
  );

  it('the servers Claude Code keeps for one project count in that project', async () => {
    const fixture = all.find(isLocal) as Fixture;
    const staged = await stage(fixture, 'darwin', 'user');
    const world = { ...staged.world, cwd: '/Users/ada/src/app/packages/x' };
    const config = await load({ world }, 'claude-code');
    expect(config.servers.map(({ name, enabled }) => [name, enabled])).toEqual([
      ['stripe', true],
      ['context7', true],
      ['memory', false],
    ]);
    const stripe = config.servers.filter(({ name }) => name === 'stripe');
    compare({ ...config, servers: stripe }, fixture, world);
    expect(stripe[0]?.origin.path).toBe('projects["/Users/ada/src/app"].mcpServers["stripe"]');
    expect(stripe[0]?.timeouts.call).toBe(600_000);
  });

  it('covers every client of the table', () => {
    expect(CLIENT_TYPES.filter((type) => !all.some(({ client }) => typeOf(client) === type))).toEqual([]);
  });
});

describe('beyond the neutral shape', () => {
  const inUserFiles = (type: string) =>
    all.filter(({ client, scope }) => typeOf(client) === type && scope.includes('user'));

  it.each(Object.entries(more.timeouts).filter(([client]) => client !== 'claude-code'))(
    'time-outs of %s are in milliseconds',
    async (type, expected) => {
      const [fixture] = inUserFiles(type);
      const { servers } = await load(await stage(fixture as Fixture, 'linux', 'user'), type as ClientType);
      const found = servers.filter(({ timeouts }) => timeouts.call !== undefined || timeouts.connect !== undefined);
      expect(Object.fromEntries(found.map(({ name, timeouts }) => [name, timeouts]))).toEqual(expected);
    },
  );

  it.each(CLIENT_TYPES)('tool lists of %s are rules for that server, and only they', async (type) => {
    const rules: object[] = [];
    for (const fixture of inUserFiles(type)) {
      rules.push(...(await load(await stage(fixture, 'linux', 'user'), type)).toolRules);
    }
    expect(rules).toEqual(more.rules[type] ?? []);
  });

  it.each(Object.entries(more.leftOut))('what %s does not use is left out: %s', async (type, names) => {
    const fixture = all.findLast(({ client }) => client === type) as Fixture;
    const scope = fixture.scope.startsWith('user') ? 'user' : 'project';
    const staged = await stage(fixture, 'linux', scope);
    const trusting = async () => true;
    const context = { world: staged.world, base: staged.project, isTrusted: trusting, isTrustedProject: trusting };
    const [imported] = await importSource({ type: type as ClientType }, context);
    const said = [...(imported?.skipped ?? []), ...(imported?.warnings ?? [])].join('\n');
    expect(readFileSync(staged.place, 'utf8')).toContain(names[0]);
    for (const name of names) {
      expect(imported?.entries.map(({ entry }) => entry.name)).not.toContain(name);
      expect(said).toContain(`["${name}"]: it `);
    }
  });

  it('says what VS Code would have asked, what needs a project, and what cannot be reached', async () => {
    const fixture = all.find(({ client }) => client === 'vscode') as Fixture;
    const { warnings } = await load(await stage(fixture, 'linux', 'user'), 'vscode');
    const text = warnings.join('\n');
    expect(text).toContain(
      'servers["github"]: VS Code asks for "github-pat" (GitHub Personal Access Token); set the environment variable INPUT_GITHUB_PAT instead.',
    );
    expect(text).toContain(
      'servers["memory"]: its `envFile` ${workspaceFolder}/.env contains a reference that is unknown here, so it is not read.',
    );
    expect(text).toContain('it uses ${workspaceFolder}; it starts only in folders you have trusted');
  });
});
