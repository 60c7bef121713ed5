import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/fixtures/gateway/kit.ts';
import { createLogger } from '../core/log.ts';
import { EngineCore } from './engine-core.ts';
import { configFile } from './engine-world.ts';
import { touchReloadStamp, touchTrustStamp, watchConfig } from './watch-config.ts';

let folder: ReturnType<typeof tempFolder>;
beforeEach(() => {
  folder = tempFolder();
  mkdirSync(join(folder.path, 'config'));
});
afterEach(() => folder[Symbol.dispose]());

const at = (name: string) => join(folder.path, name);
const server = { command: 'x' };
/** What Claude Code keeps in its file beside servers changes all the time. */
const client = (clicks: number, servers: object = { notes: server }) =>
  writeFileSync(at('claude.json'), JSON.stringify({ numStartups: clicks, mcpServers: servers }));
const settled = () => new Promise((resolve) => setTimeout(resolve, 150));

async function watched() {
  const lines: string[] = [];
  const config = at('config/config.json');
  writeFileSync(config, JSON.stringify({ sources: [{ type: 'claude-code', path: at('claude.json') }] }));
  const home = at('home');
  const engine = new EngineCore(configFile(config), { cwd: folder.path, env: { ANYGPT_HOME: home } });
  let reloads = 0;
  engine.onReload(() => reloads++);
  const logger = createLogger((line) => lines.push(line), 'debug');
  const stop = await watchConfig(engine, { logger, files: true, settleMs: 10 });
  return {
    engine,
    config,
    home,
    lines,
    reloads: () => reloads,
    async [Symbol.asyncDispose]() {
      stop();
      await engine.close();
    },
  };
}

describe('watching a configuration', () => {
  it('does not reload for a file that is written again as it was', async () => {
    client(1);
    await using all = await watched();
    for (let time = 0; time < 3; time++) {
      client(1);
      utimesSync(at('claude.json'), time, time);
      await settled();
    }
    expect([all.reloads(), all.lines]).toEqual([0, []]);
  });

  it('does not reload when a client changes what is not imported', async () => {
    client(1);
    await using all = await watched();
    for (let time = 2; time < 5; time++) {
      client(time);
      await settled();
    }
    expect([all.reloads(), all.lines]).toEqual([0, []]);
    client(5, { notes: server, more: server });
    await expect.poll(() => all.reloads()).toBe(1);
    expect(await all.engine.serverNames()).toEqual(['notes', 'more']);
    client(6, { notes: server, more: server });
    await settled();
    expect(all.reloads()).toBe(1);
  });

  it('reports once what is wrong with a file, and loads it once it is fixed', async () => {
    client(1);
    await using all = await watched();
    const fine = JSON.stringify({ servers: [{ name: 'own', connection: { type: 'stdio', command: 'x' } }] });
    for (let time = 0; time < 2; time++) {
      writeFileSync(all.config, '{ nope');
      await expect.poll(() => all.lines).toHaveLength(1);
      await settled();
    }
    expect(all.lines).toEqual([expect.stringContaining('the current one stays')]);
    writeFileSync(all.config, fine);
    await expect.poll(() => all.reloads()).toBe(1);
    expect(await all.engine.serverNames()).toEqual(['own']);
  });

  it('reloads whenever it is told to, whatever changed', async () => {
    client(1);
    await using all = await watched();
    touchReloadStamp(all.home);
    await expect.poll(() => all.reloads()).toBe(1);
  });
});

/** A gateway in a folder, with the file it is told to use or finds. */
async function watchedIn(
  more: { config?: string; cwd?: string; env?: Record<string, string>; lossMs?: number; files?: boolean } = {},
) {
  const lines: string[] = [];
  const engine = new EngineCore(configFile(more.config), {
    cwd: more.cwd ?? folder.path,
    env: { HOME: folder.path, ANYGPT_HOME: at('home'), ...more.env },
  });
  const logger = createLogger((line) => lines.push(line), 'debug');
  const { lossMs = 100, files = true } = more;
  const stop = await watchConfig(engine, { logger, files, settleMs: 10, partialMs: 50, lossMs });
  return {
    engine,
    lines,
    names: () => engine.serverNames(),
    async [Symbol.asyncDispose]() {
      stop();
      await engine.close();
    },
  };
}

const put = (name: string, content: unknown): string => {
  mkdirSync(dirname(at(name)), { recursive: true });
  writeFileSync(at(name), typeof content === 'string' ? content : JSON.stringify(content));
  return at(name);
};
const own = (...names: string[]) => ({
  servers: names.map((name) => ({ name, connection: { type: 'stdio', command: 'x' } })),
});

describe('a file that vanishes', () => {
  it('after it was found by search stays in force, and is loaded again once it is back', async () => {
    const file = put('home/mcp-discovery.config.json', own('one'));
    await using all = await watchedIn();
    rmSync(file);
    await expect.poll(() => all.lines).toEqual([expect.stringContaining(`${file} is missing`)]);
    expect(await all.names()).toEqual(['one']);
    put('home/mcp-discovery.config.json', own('one', 'two'));
    await expect.poll(all.names).toEqual(['one', 'two']);
  });

  it('is dropped by `config reload`, and loaded again once it is back', async () => {
    const file = put('home/mcp-discovery.config.json', own('one'));
    await using all = await watchedIn();
    rmSync(file);
    touchReloadStamp(at('home'));
    await expect.poll(all.names).toEqual([]);
    put('home/mcp-discovery.config.json', own('two'));
    await expect.poll(all.names).toEqual(['two']);
  });

  it('with its folder is loaded again once both are back', async () => {
    const config = put('deep/config/config.json', own('one'));
    await using all = await watchedIn({ config });
    rmSync(at('deep'), { recursive: true });
    await expect.poll(() => all.lines).toEqual([expect.stringContaining('was not found')]);
    put('deep/config/config.json', own('two'));
    await expect.poll(all.names).toEqual(['two']);
    rmSync(at('deep'), { recursive: true });
    await settled();
    put('deep/config/config.json', own('three'));
    await expect.poll(all.names).toEqual(['three']);
  });

  it.each([
    ['extended', { extends: './other.json' }],
    ['a source', { sources: [{ type: 'claude-code', path: './other.json' }], servers: own('mine').servers }],
  ])('and is %s is loaded again once it is back', async (what, content) => {
    const other = (name: string) =>
      put('other.json', what === 'extended' ? own(name) : { mcpServers: { [name]: server } });
    other('one');
    await using all = await watchedIn({ config: put('config.json', content) });
    expect(await all.names()).toContain('one');
    unlinkSync(at('other.json'));
    await settled();
    other('two');
    await expect.poll(all.names).toContain('two');
    expect(await all.names()).not.toContain('one');
  });
});

describe("the user's own file beside a trusted project's", () => {
  const deny = { toolRules: [{ pattern: ['*delete*'], enabled: false }] };
  const setUp = () => {
    put('project/.git/HEAD', '');
    put('project/.anygpt/mcp-discovery.config.json', own('one'));
    return put('home/mcp-discovery.config.json', { extends: './base.json' });
  };
  const floored = () => watchedIn({ cwd: at('project'), env: { ANYGPT_TRUST_PROJECT: '1' } });
  const denies = async ({ engine }: { engine: EngineCore }) =>
    (await engine.getConfig()).floorRules?.toolRules.some(({ enabled }) => enabled === false) === true;

  it.each(['mcp-discovery.config.json', 'base.json'])(
    'keeps its denials in force when %s vanishes, until it is back',
    async (name) => {
      put('home/base.json', deny);
      setUp();
      await using all = await floored();
      expect([await all.names(), await denies(all)]).toEqual([['one'], true]);
      renameSync(at(`home/${name}`), at('away.json'));
      await expect.poll(() => all.lines).toEqual([expect.stringContaining(name)]);
      touchTrustStamp(at('home'));
      await settled();
      expect(await denies(all)).toBe(true);
      renameSync(at('away.json'), at(`home/${name}`));
      put('home/base.json', {});
      await expect.poll(() => denies(all)).toBe(false);
    },
  );

  it('is dropped by `config reload`', async () => {
    put('home/base.json', deny);
    const file = setUp();
    await using all = await floored();
    expect(await denies(all)).toBe(true);
    rmSync(file);
    await expect.poll(() => all.lines).toEqual([expect.stringContaining(`${file} is missing`)]);
    touchReloadStamp(at('home'));
    await expect.poll(() => denies(all)).toBe(false);
  });
});

describe('a file that is replaced', () => {
  it('by a rename is loaded every time', async () => {
    const config = put('config.json', own('zero'));
    await using all = await watchedIn({ config });
    for (const name of ['one', 'two', 'three']) {
      renameSync(put('config.json.tmp', own(name)), config);
      await expect.poll(all.names).toEqual([name]);
    }
  });

  it('by another link is loaded, also if the link is a parent folder', async () => {
    for (const name of ['one', 'two', 'three']) put(`versions/${name}/config.json`, own(name));
    symlinkSync(at('versions/one'), at('current'));
    symlinkSync(at('current/config.json'), at('config.json'));
    await using all = await watchedIn({ config: at('config.json') });
    expect(await all.names()).toEqual(['one']);
    symlinkSync(at('versions/two'), at('next'));
    renameSync(at('next'), at('current'));
    await expect.poll(all.names).toEqual(['two']);
    symlinkSync(at('versions/three/config.json'), at('link'));
    renameSync(at('link'), at('config.json'));
    await expect.poll(all.names).toEqual(['three']);
  });
});

describe('a file that is being written', () => {
  const entries = (names: readonly string[]) =>
    names.map((name) => `  - { name: ${name}, connection: { type: stdio, command: x } }\n`).join('');
  const rules = "toolRules:\n  - pattern: ['*delete*']\n    enabled: false\n";
  const denies = async (all: { engine: EngineCore }) => {
    const { toolRules } = await all.engine.getConfig();
    return toolRules.some(({ pattern, enabled }) => pattern.includes('*delete*') && enabled === false);
  };

  it('never takes effect before its rules are written, however complete its beginning looks', async () => {
    const config = put('config.yaml', `servers:\n${entries(['one'])}${rules}`);
    await using all = await watchedIn({ config, lossMs: 60_000 });
    const pieces = `servers:\n${entries(['one', 'two'])}${rules}`.match(/.*\n/g) ?? [];
    writeFileSync(config, '');
    for (const piece of pieces) {
      expect([piece, await denies(all)]).toEqual([piece, true]);
      // Halves of lines, too.
      for (const half of [piece.slice(0, -4), piece.slice(-4)]) {
        appendFileSync(config, half);
        await settled();
        expect([piece, await denies(all)]).toEqual([piece, true]);
      }
    }
    await expect.poll(all.names).toEqual(['one', 'two']);
    expect(await denies(all)).toBe(true);
  });

  it('never takes effect in part, even if the part is valid code', async () => {
    const code = (...names: string[]) => `const config = ${JSON.stringify(own(...names))};\nexport default config;\n`;
    const more = "config.toolRules = [{ pattern: ['*delete*'], enabled: false }];\n";
    const config = put('config.mjs', code('one') + more);
    await using all = await watchedIn({ config, lossMs: 60_000 });
    writeFileSync(config, code('one', 'two'));
    await settled();
    await settled();
    expect([await denies(all), await all.names()]).toEqual([true, ['one']]);
    appendFileSync(config, more);
    await expect.poll(all.names, { timeout: 10_000 }).toEqual(['one', 'two']);
    expect(await denies(all)).toBe(true);
  });

  it.each([
    ['`trust`', touchTrustStamp, true],
    ['`trust` with nobody who watches files', touchTrustStamp, false],
    ['`config reload`', touchReloadStamp, true],
    ['`config reload` with nobody who watches files', touchReloadStamp, false],
  ])('is not loaded without its rules because of %s', async (_what, touch, files) => {
    const config = put('config.yaml', `servers:\n${entries(['one'])}${rules}`);
    await using all = await watchedIn({ config, lossMs: 60_000, files });
    expect(await denies(all)).toBe(true);
    writeFileSync(config, `servers:\n${entries(['one'])}`);
    touch(at('home'));
    for (let time = 0; time < 4; time++) await settled();
    expect(await denies(all)).toBe(true);
    // Once it is whole, what was asked for is done.
    writeFileSync(config, `servers:\n${entries(['one', 'two'])}${rules}`);
    await expect.poll(all.names, { timeout: 10_000 }).toEqual(['one', 'two']);
    expect(await denies(all)).toBe(true);
  });

  it('is loaded at once by `config reload` if it was written a while ago, whatever it lacks', async () => {
    const config = put('config.yaml', `servers:\n${entries(['one'])}${rules}`);
    await using all = await watchedIn({ config, lossMs: 60_000, files: false });
    expect(await denies(all)).toBe(true);
    writeFileSync(config, `servers:\n${entries(['one'])}`);
    utimesSync(config, 1, 1);
    touchReloadStamp(at('home'));
    await expect.poll(() => denies(all)).toBe(false);
  });

  it('takes effect without a rule after a long quiet time', async () => {
    const config = put('config.yaml', `servers:\n${entries(['one'])}${rules}`);
    await using all = await watchedIn({ config, lossMs: 3_000 });
    writeFileSync(config, `servers:\n${entries(['one'])}`);
    await settled();
    expect(await denies(all)).toBe(true);
    await expect.poll(() => denies(all), { timeout: 20_000 }).toBe(false);
  });

  it('takes effect soon if its format can only be read as a whole', async () => {
    const deny = { toolRules: [{ pattern: ['*delete*'], enabled: false }] };
    const config = put('config.json', { ...own('one'), ...deny });
    await using all = await watchedIn({ config, lossMs: 60_000 });
    put('config.json', own('one'));
    await expect.poll(() => denies(all)).toBe(false);
  });

  it('keeps its servers, as a source, until it is complete again', async () => {
    const whole = JSON.stringify({ mcpServers: { notes: server, mail: server } });
    put('claude.json', whole);
    const sources = [{ type: 'claude-code', path: at('claude.json') }];
    await using all = await watchedIn({ config: put('config.json', { sources }), lossMs: 60_000 });
    put('claude.json', whole.slice(0, 40));
    await settled();
    expect(await all.names()).toEqual(['notes', 'mail']);
    put('claude.json', JSON.stringify({ mcpServers: { notes: server } }));
    await expect.poll(all.names).toEqual(['notes']);
  });
});
