import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeIo } from '../../../test/fixtures/gateway/fake-io.ts';
import { tempFolder } from '../../../test/fixtures/gateway/kit.ts';
import { startTestServer, type TestServer } from '../../testing/index.ts';
import { main } from '../main.ts';

let server: TestServer;
const folder = tempFolder();
const file = join(folder.path, 'config.json');
beforeAll(async () => {
  server = await startTestServer({
    tools: { read_note: { call: () => 'a note' }, erase_note: { call: () => 'gone' } },
  });
  const { connection } = server;
  const servers = ['notes', 'secret'].map((name) => ({ name, connection }));
  const team = { servers: ['notes'], toolRules: [{ pattern: ['erase_*'], enabled: false }] };
  writeFileSync(file, JSON.stringify({ servers, profiles: { team } }));
});
afterAll(async () => {
  await server.close();
  folder[Symbol.dispose]();
});

async function run(...argv: string[]) {
  const io = fakeIo({ env: { ANYGPT_HOME: join(folder.path, 'home') }, cwd: folder.path });
  const code = await main(['mcp', ...argv, '--config', file], io);
  return { code, said: io.out() + io.err() };
}

describe('a command with --profile', () => {
  it('sees and calls what callers with that profile do', async () => {
    expect(await run('tools', 'notes', '--all', '--profile', 'team')).toMatchObject({
      code: 0,
      said: expect.not.stringContaining('erase_note'),
    });
    expect((await run('tools', 'secret', '--profile', 'team')).code).toBe(2);
    expect((await run('search', 'erase a note', '--profile', 'team')).said).not.toMatch(/erase_note|secret/);
    expect(await run('execute', 'notes', 'read_note', '--profile', 'team')).toMatchObject({ code: 0 });
    expect(await run('execute', 'notes', 'erase_note', '--profile', 'team')).toMatchObject({ code: 2 });
    expect(await run('execute', 'notes', 'erase_note')).toMatchObject({ code: 0 });
  });

  it('is refused for a profile that is not configured', async () => {
    for (const argv of [['search', 'x'], ['tools', 'notes'], ['serve']])
      expect(await run(...argv, '--profile', 'absent')).toMatchObject({
        code: 2,
        said: expect.stringContaining('"absent"'),
      });
  });
});
