import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { documentOf } from '../../../test/fixtures/cli.ts';
import { fakeIo } from '../../../test/fixtures/gateway/fake-io.ts';
import { tempFolder } from '../../../test/fixtures/gateway/kit.ts';
import { main } from '../main.ts';

const OWN = `{
  // mine
  "discovery": {
    "sources": [{ "type": "cursor" }],
    "servers": [
      // the notes
      { "name": "notes", "connection": { "type": "stdio", "command": "notes-server", "env": { "KEY": "\${NOTES_KEY}", "PLAIN_SECRET": "abc-123-def" } } },
      { "name": "web", "connection": { "type": "http", "url": "https://web.example/mcp" }, "registry": "io.example/web@1.0.0" } // the web
    ]
  }
}
`;
const CURSOR = '{ "mcpServers": { "drawing": { "command": "draw", "args": ["--fast"] } } }\n';

let folder: ReturnType<typeof tempFolder>;
let config: string;
let cursor: string;
const write = (name: string, text: string): string => {
  const path = join(folder.path, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
};
const read = (path: string): string => readFileSync(path, 'utf8');
beforeEach(() => {
  folder = tempFolder();
  config = write('.anygpt/mcp-discovery.config.json', OWN);
  cursor = write('.cursor/mcp.json', CURSOR);
});
afterEach(() => folder[Symbol.dispose]());

const run = async (argv: readonly string[], env: Record<string, string> = {}) => {
  const io = fakeIo({ cwd: folder.path, env: { HOME: folder.path, USERPROFILE: folder.path, ...env } });
  const code = await main(['mcp', ...argv], io);
  return { code, out: io.out(), err: io.err() };
};
const isEnabled = async (name: string): Promise<boolean> =>
  (await documentOf('get', (await run(['get', name, '--json'])).out)).enabled;

it('get leaves a command on one line of a narrow terminal, so that it can be copied', async () => {
  const args = ['--first', 'one two', '--second', '/a/long/path/of/a/folder/that/no/line/can/hold'];
  write('.cursor/mcp.json', JSON.stringify({ mcpServers: { drawing: { command: 'draw', args } } }));
  const io = fakeIo({ cwd: folder.path, env: { HOME: folder.path, USERPROFILE: folder.path } });
  Object.assign(io.stdout, { isTTY: true, columns: 40 });
  expect(await main(['mcp', 'get', 'drawing'], io)).toBe(0);
  expect(io.out()).toContain(
    '\n  Runs: draw --first "one two" --second /a/long/path/of/a/folder/that/no/line/can/hold\n',
  );
});

it('get shows what a server runs and where it is written, and no secret', async () => {
  const { code, out } = await run(['get', 'notes']);
  expect(code).toBe(0);
  expect(out).toContain('notes (stdio)\n  Runs: notes-server\n');
  expect(out).toContain('Environment: KEY=${NOTES_KEY}\n  Environment: PLAIN_SECRET\n');
  expect(out).toContain('Written in: ~/.anygpt/mcp-discovery.config.json');
  expect((await run(['get', 'drawing'])).out).toContain('Written in: Cursor, in ~/.cursor/mcp.json');
  expect(await documentOf('get', (await run(['get', 'web', '--json'])).out)).toMatchObject({
    enabled: true,
    transport: 'http',
    url: 'https://web.example/mcp',
    registry: 'io.example/web@1.0.0',
    file: config,
  });
  const missing = await run(['get', 'note']);
  expect(missing).toMatchObject({ code: 2 });
  expect(missing.err).toContain('Did you mean "notes"?');
});

it('remove takes an entry out and leaves the rest of the file', async () => {
  expect((await run(['remove', 'web', '--dry-run'])).out).toContain('Would remove "web"');
  expect(read(config)).toBe(OWN);
  const document = await documentOf('remove', (await run(['rm', 'web', '--json'])).out);
  expect(document).toEqual({ name: 'web', file: config, status: 'removed' });
  expect(read(config)).toContain('// mine\n');
  expect(read(config)).toContain('// the notes\n');
  expect(read(config)).not.toContain('web.example');
  expect(await run(['get', 'web'])).toMatchObject({ code: 2 });
});

it('remove says where the server of a client is, and changes nothing', async () => {
  const { code, err } = await run(['remove', 'drawing']);
  expect(code).toBe(2);
  expect(err).toContain('It is written in Cursor, in ~/.cursor/mcp.json');
  expect(err).toContain('anygpt mcp disable drawing');
  expect([read(config), read(cursor)]).toEqual([OWN, CURSOR]);
});

it('disable and enable switch an own server and leave the file as it was', async () => {
  expect((await run(['disable', 'notes'])).out).toBe('✓ Disabled "notes" in ~/.anygpt/mcp-discovery.config.json\n');
  expect(await isEnabled('notes')).toBe(false);
  expect((await run(['disable', 'notes'])).out).toBe('"notes" is already disabled\n');
  expect(await documentOf('enable', (await run(['enable', 'notes', '--json'])).out)).toMatchObject({
    status: 'enabled',
  });
  expect(await isEnabled('notes')).toBe(true);
  expect(read(config)).toBe(OWN);
});

it('disable and enable switch the server of a client here only', async () => {
  const off = await run(['disable', 'drawing']);
  expect(off).toMatchObject({ code: 0 });
  expect(off.err).toContain('"drawing" is written in Cursor, in ~/.cursor/mcp.json, which was not changed.');
  expect(await isEnabled('drawing')).toBe(false);
  const on = await documentOf('enable', (await run(['enable', 'drawing', '--json'])).out);
  expect(on).toMatchObject({ status: 'enabled', client: 'cursor', writtenIn: cursor });
  expect(await isEnabled('drawing')).toBe(true);
  expect(read(cursor)).toBe(CURSOR);
});

it('enable also switches on what a client has switched off, and names a variable that is in the way', async () => {
  write('.cursor/mcp.json', '{ "mcpServers": { "drawing": { "command": "draw", "disabled": true } } }');
  expect(await isEnabled('drawing')).toBe(false);
  expect(await documentOf('enable', (await run(['enable', 'drawing', '--json'])).out)).toMatchObject({
    status: 'enabled',
  });
  expect(await isEnabled('drawing')).toBe(true);
  expect((await run(['enable', 'notes'], { NOTES_MCP_ENABLED: 'false' })).err).toContain('NOTES_MCP_ENABLED is set');
});
