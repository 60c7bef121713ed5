import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fakeIo } from '../../../test/fixtures/gateway/fake-io.ts';
import { tempFolder } from '../../../test/fixtures/gateway/kit.ts';
import { DiscoveryEngine } from '../../discovery-engine.ts';
import { configFile } from '../../engine-world.ts';
import { main } from '../main.ts';

let folder: ReturnType<typeof tempFolder>;
beforeEach(() => {
  folder = tempFolder();
  mkdirSync(join(folder.path, 'project', '.anygpt'), { recursive: true });
});
afterEach(() => folder[Symbol.dispose]());

const project = () => join(folder.path, 'project');
const file = () => join(project(), '.anygpt', 'mcp-discovery.config.json');
const env = () => ({ ANYGPT_HOME: join(folder.path, 'home') });
const trust = async (...argv: string[]) => {
  const io = fakeIo({ cwd: project(), env: env() });
  return { code: await main(['mcp', 'trust', ...argv], io), out: io.out(), err: io.err() };
};
const serversSeen = async () => {
  await using engine = new DiscoveryEngine(configFile(), { cwd: project(), home: folder.path, env: env() });
  return engine.serverNames();
};
const writeConfig = (name: string) =>
  writeFileSync(
    file(),
    JSON.stringify({ servers: [{ name, connection: { type: 'http', url: 'http://127.0.0.1:9/mcp' } }] }),
  );

describe('trust', () => {
  it('lets this folder’s configuration be used, until its content changes', async () => {
    writeConfig('first');
    expect(await serversSeen()).toEqual([]);
    const { code, out } = await trust();
    expect(code).toBe(0);
    expect(out).toContain(`Trusted ${file()} (sha256 `);
    expect(await serversSeen()).toEqual(['first']);
    writeConfig('second');
    expect(await serversSeen()).toEqual([]);
  });

  it('takes a file, and names what it extends', async () => {
    writeFileSync(join(project(), 'base.json'), '{"servers":[]}');
    writeFileSync(file(), JSON.stringify({ extends: '../base.json' }));
    const { code, out } = await trust(file());
    expect(code).toBe(0);
    expect(out).toContain(`  with ${join(project(), 'base.json')}`);
  });

  it('ends with 2 when there is nothing to trust', async () => {
    expect(await trust()).toMatchObject({ code: 2, err: expect.stringContaining('no configuration') });
    expect(await trust('no-such-file.json')).toMatchObject({ code: 2, err: expect.stringContaining('no-such-file') });
  });
});
