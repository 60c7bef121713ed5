import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tempFolder } from '../test/fixtures/gateway/kit.ts';
import { DiscoveryEngine } from './discovery-engine.ts';
import { configFile } from './engine-world.ts';
import { createLogger } from './log.ts';
import { touchReloadStamp, watchConfig } from './watch-config.ts';

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
  const engine = new DiscoveryEngine(configFile(config), { cwd: folder.path, env: { ANYGPT_HOME: home } });
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

  it('says once what is wrong with a file, and takes it over when it is mended', async () => {
    client(1);
    await using all = await watched();
    const fine = JSON.stringify({ servers: [{ name: 'own', connection: { type: 'stdio', command: 'x' } }] });
    for (let time = 0; time < 2; time++) {
      writeFileSync(all.config, '{ nope');
      await expect.poll(() => all.lines).toHaveLength(1);
      await settled();
    }
    expect(all.lines).toEqual([expect.stringContaining('the old one stays')]);
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
