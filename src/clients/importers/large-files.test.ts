/** Claude Code keeps the history of all projects in `~/.claude.json`: files of 5 to 250 MB are normal. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigurationLoader } from '../../config/configuration-loader.ts';
import { excerptText, type Policy, readExcerpt } from '../../config/json-excerpt.ts';
import { previewFile, trustableFileAt } from '../../config/project-files.ts';
import type { World } from '../../config/world.ts';
import { planInstall, planUninstall } from '../installers/plan-install.ts';

let home: string;
let world: World;
let file: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'anygpt-large-'));
  world = { home, cwd: join(home, 'app'), env: {}, platform: 'linux' };
  file = join(home, '.claude.json');
  mkdirSync(world.cwd);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function put(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** Text that a user typed and pasted, with everything that trips a careless parser. */
const history = (bytes: number): unknown[] => {
  const entry = { display: '"mcpServers": { \\ } [ // /* é 😀', pastedContents: { 1: { text: 'x\n'.repeat(500) } } };
  return Array.from({ length: Math.ceil(bytes / JSON.stringify(entry).length) }, () => entry);
};
const MEMORY = { type: 'stdio', command: 'memory', args: [], env: {} };
const large = (bytes = 6_000_000, changes: object = {}) => ({
  numStartups: 7,
  projects: {
    [join(home, 'other')]: { mcpServers: { other: MEMORY }, history: history(bytes / 2) },
    [join(home, 'app')]: { history: history(bytes / 2), mcpServers: { local: { ...MEMORY, command: 'local' } } },
  },
  mcpServers: { memory: MEMORY },
  userID: 'u',
  ...changes,
});
const LOCAL = ['/node', '/discovery.js'] as const;
const load = (options: object = {}) =>
  new ConfigurationLoader({ ...world, ...options }).resolve({ sources: [{ type: 'claude-code' }] });
const install = async (options: object = {}) => {
  const plan = await planInstall('claude-code', file, { local: LOCAL, ...options }, world);
  await plan.write();
  return plan;
};
const uninstall = async () => {
  const plan = await planUninstall('claude-code', file, {}, world);
  await plan.write();
  return plan;
};

describe('a large ~/.claude.json', () => {
  it('gives its servers, and those of the project at hand', async () => {
    put(file, JSON.stringify(large()));
    const { servers, warnings } = await load();
    expect(servers.map(({ name }) => name)).toEqual(['local', 'memory']);
    expect(warnings).toEqual([]);
  });

  it.each([
    ['on one line', (value: object) => JSON.stringify(value)],
    ['indented', (value: object) => JSON.stringify(value, undefined, 2)],
    [
      'with a byte order mark and CRLF',
      (value: object) => `\ufeff${JSON.stringify(value, undefined, 2).replaceAll('\n', '\r\n')}\r\n`,
    ],
    [
      'with comments and trailing commas',
      (value: object) => `// { mine\n${JSON.stringify(value, undefined, 1).replace(/\n\}$/, ', /* } */\n}')}`,
    ],
    ['without servers yet', (value: object) => JSON.stringify({ ...value, mcpServers: undefined }, undefined, 2)],
    ['with none', (value: object) => JSON.stringify({ ...value, mcpServers: {} }, undefined, '\t')],
    [
      'with null',
      (value: object) =>
        JSON.stringify({ mcpServers: null, ...value, projects: undefined, history: history(6e6) }).replace(
          '"mcpServers":{',
          '"x":{',
        ),
    ],
  ])('is installed into and left again to the byte, %s', async (_, write) => {
    const text = put(file, write(large())) && readFileSync(file, 'utf8');
    expect((await install()).status).toBe('installed');
    const now = readFileSync(file, 'utf8');
    expect(now).toContain('/discovery.js');
    expect(now.length - text.length).toBeLessThan(1_000);
    expect(readFileSync(`${file}.anygpt-backup`, 'utf8') === text).toBe(true);
    expect((await planInstall('claude-code', file, { local: LOCAL }, world)).status).toBe('unchanged');
    expect((await uninstall()).status).toBe('removed');
    expect(readFileSync(file, 'utf8') === text).toBe(true);
  });

  it('keeps what the client wrote meanwhile, when servers are taken over and when they come back', async () => {
    const text = JSON.stringify(large(), undefined, 2);
    put(file, text);
    const { servers } = await install({ takeOver: true });
    expect(servers).toEqual(['memory']);
    expect((await load()).servers.map(({ name }) => name)).toEqual(['local', 'memory']);
    const used = readFileSync(file, 'utf8').replace('"numStartups": 7', '"numStartups": 8, "history": ["x"]');
    put(file, used);
    await uninstall();
    const now = JSON.parse(readFileSync(file, 'utf8'));
    expect(now).toEqual({ ...JSON.parse(text), numStartups: 8, history: ['x'] });
    expect(readFileSync(file, 'utf8') === text.replace('"numStartups": 7', '"numStartups": 8, "history": ["x"]')).toBe(
      true,
    );
  });

  it('is left alone when the client writes between plan and change', async () => {
    put(file, JSON.stringify(large()));
    const plan = await planInstall('claude-code', file, { local: LOCAL }, world);
    const other = put(file, JSON.stringify(large(6_000_000, { userID: 'v' }))) && readFileSync(file, 'utf8');
    await expect(plan.write()).rejects.toThrow('was changed by another program just now');
    expect(readFileSync(file, 'utf8') === other).toBe(true);
  });

  it('may have been small when it was installed into, and be large when that is undone', async () => {
    const { projects, ...small } = large();
    put(file, JSON.stringify(small, undefined, 2));
    await install();
    const grown = { ...JSON.parse(readFileSync(file, 'utf8')), projects };
    put(file, JSON.stringify(grown, undefined, 2));
    await uninstall();
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ ...small, projects });
  });

  it('has a key twice, ten thousand projects, and names with colons: the last one counts, as in the client', async () => {
    const names = Array.from({ length: 10_000 }, (_, index) => [`${home}/p:${index}`, { history: history(600) }]);
    const text = JSON.stringify({ mcpServers: { old: MEMORY }, projects: Object.fromEntries(names), x: {} });
    put(file, text.replace('"x":{}', `"mcpServers":{"a:b":${JSON.stringify(MEMORY)}}`));
    expect(statSync(file).size).toBeGreaterThan(5 * 1024 * 1024);
    const { servers, warnings } = await load();
    expect(servers.map(({ name }) => name)).toEqual(['a:b']);
    expect(warnings).toEqual([`${file}: "mcpServers" is written twice; the last one counts.`]);
    await install();
    expect(readFileSync(file, 'utf8')).toMatch(/"mcpServers":\{"anygpt":.*"a:b"/);
  });

  it.each([
    ['half written', (text: string) => text.slice(0, -1_000)],
    ['no JSON', (text: string) => text.replace('{', '<')],
    ['with something behind it', (text: string) => `${text}{}`],
    ['small and broken', () => '{"projects": '],
  ])('that is broken (%s) hides neither a project’s trusted servers nor another client’s', async (_, broken) => {
    put(file, broken(JSON.stringify(large())));
    put(join(world.cwd, '.mcp.json'), JSON.stringify({ mcpServers: { shared: MEMORY } }));
    put(join(home, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers: { web: { url: 'https://web.test' } } }));
    const loader = new ConfigurationLoader({ ...world, trustProject: true });
    const { servers, sources, warnings } = await loader.resolve({ sources: [{ type: 'auto' }] });
    expect(servers.map(({ name }) => name).sort()).toEqual(['shared', 'web']);
    expect(sources.find(({ path }) => path === file)).toMatchObject({ status: 'error' });
    expect(warnings.join('\n')).toContain(`${file} cannot be read, so its switched-off servers are unknown`);
    const before = readFileSync(file, 'utf8');
    await expect(install()).rejects.toThrow(file);
    expect(readFileSync(file, 'utf8') === before).toBe(true);
    const preview = await previewFile(trustableFileAt(join(world.cwd, '.mcp.json'), world), world);
    expect(preview.readings.flatMap(({ servers }) => servers.map(({ name }) => name))).toEqual(['shared']);
  });

  it('still says which of a project’s servers are switched off', async () => {
    const projects = { [world.cwd]: { history: history(6_000_000), disabledMcpjsonServers: ['shared'] } };
    put(file, JSON.stringify({ projects }));
    put(join(world.cwd, '.mcp.json'), JSON.stringify({ mcpServers: { shared: MEMORY } }));
    expect((await load({ trustProject: true })).servers).toMatchObject([{ name: 'shared', enabled: false }]);
  });

  it('of 60 MB costs a few megabytes of memory', async () => {
    const chunk = JSON.stringify(history(1_000_000));
    const members = Array.from({ length: 60 }, (_, index) => `"h${index}":${chunk}`).join(',');
    put(file, `{${members},"mcpServers":{"memory":${JSON.stringify(MEMORY)}}}`);
    const before = process.memoryUsage();
    let peak = 0;
    const timer = setInterval(() => {
      const { rss } = process.memoryUsage();
      peak = Math.max(peak, rss - before.rss);
    }, 1);
    expect((await load()).servers.map(({ name }) => name)).toEqual(['memory']);
    await install();
    clearInterval(timer);
    // Far below the size of the file, and far above the few chunks in memory at a time.
    expect(peak).toBeLessThan(50_000_000);
  });
});

describe('an excerpt', () => {
  const policy: Policy = ([first, second]) =>
    second === undefined ? (first?.startsWith('k') ? 'keep' : first?.startsWith('l') ? 'look' : 'skip') : 'keep';

  it('has what is wanted, whatever stands around it and wherever the file is cut into chunks', async () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    const key = fc.oneof(fc.constantFrom('k', 'l', 's', 'k"\\', 'é😀'), fc.string());
    await fc.assert(
      fc.asyncProperty(fc.dictionary(key, value, { maxKeys: 6 }), fc.constantFrom('', '  '), async (object, indent) => {
        // Long enough that the wanted parts cross chunk boundaries.
        const text = JSON.stringify({ s0: 'é"\\'.repeat(262_100), ...object }, undefined, indent);
        put(file, text);
        const excerpt = await readExcerpt(file, policy);
        const found = JSON.parse(excerptText(file, excerpt));
        for (const [name, member] of Object.entries(JSON.parse(text) as object)) {
          const looked =
            name.startsWith('l') && typeof member === 'object' && member !== null && !Array.isArray(member);
          expect(found[name]).toEqual(name.startsWith('k') || looked ? member : 0);
        }
        const cut = excerpt.cuts.reduce((sum, { start, end }) => sum + end - start - 1, 0);
        expect(excerpt.bytes.length + cut).toBe(statSync(file).size);
      }),
      { numRuns: 60 },
    );
  });

  it('of a broken file is an error that names the place', async () => {
    for (const text of [
      '',
      '[]',
      '{"k":}',
      '{"k" 1}',
      '{k:1}',
      '{"s":[',
      '{"s":"\\',
      '{} x',
      '{"k":1}/',
      '/',
      '{"\\x":1}',
    ])
      await expect(readExcerpt(put(file, text), policy)).rejects.toThrow(/is not valid JSON: expected .* at byte \d+/);
    for (const text of ['{}', ' {"s":1,} // x', '/* */{"s":"a"/**/}\n'])
      expect((await readExcerpt(put(file, text), policy)).bytes.toString()).toBe(text.replace(/1|"a"/, '0'));
  });
});
