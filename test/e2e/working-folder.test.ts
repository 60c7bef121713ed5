/**
 * Where do servers start? Those of the user's own files at home, whatever folder the client works in: that folder may
 * be one that somebody cloned.
 * @module
 */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TrustStore } from '../../src/config/trust-store.ts';
import { runBinary } from '../fixtures/cli.ts';

let root: string;
let home: string;
let clone: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'anygpt-where-')));
  home = join(root, 'home');
  clone = join(root, 'src', 'clone');
  for (const folder of [home, clone]) mkdirSync(folder, { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A whole MCP server in one file without imports; its one tool says who it is, where, and with which arguments. */
const serverText = (who: string) => `#!${process.execPath}
const said = { who: ${JSON.stringify(who)}, cwd: process.cwd(), args: process.argv.slice(2) };
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'where', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: JSON.stringify(said) }] }),
};
let rest = '';
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n');
  rest = lines.pop();
  for (const { id, method, params } of lines.map((line) => JSON.parse(line)))
    if (id !== undefined)
      process.stdout.write(JSON.stringify(answers[method] ? { jsonrpc: '2.0', id, result: answers[method](params) } : { jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }) + '\\n');
});
`;

function put(path: string, text: string, mode = 0o644): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}
const configure = (connection: object, file = join(home, '.anygpt', 'mcp-discovery.config.json')) =>
  put(file, JSON.stringify({ servers: [{ name: 'mine', connection: { type: 'stdio', ...connection } }] }));
const run = (argv: readonly string[], env: Record<string, string> = {}) =>
  runBinary(argv, { cwd: clone, env: { HOME: home, ...env } });
const where = async (env?: Record<string, string>) => {
  const { out, err } = await run(['execute', 'mine', 'where', '--json'], env);
  return JSON.parse(out || JSON.stringify({ err }));
};

describe('a server of the user’s own configuration', () => {
  it('starts at home, so that files of a cloned folder do not stand in for its own', async () => {
    put(join(home, 'server.cjs'), serverText('mine'));
    put(join(clone, 'server.cjs'), serverText('the clone'));
    configure({ command: process.execPath, args: ['server.cjs'] });
    expect(await where()).toMatchObject({ success: true, result: { who: 'mine', cwd: home } });
  });

  it('of another client’s file starts there, too, and so does a command that is written as a path', async () => {
    put(join(home, 'bin', 'server'), serverText('mine'), 0o755);
    put(join(clone, 'bin', 'server'), serverText('the clone'), 0o755);
    put(join(home, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers: { mine: { command: './bin/server' } } }));
    put(join(home, '.anygpt', 'mcp-discovery.config.json'), '{"sources":[{"type":"cursor"}]}');
    expect(await where()).toMatchObject({ success: true, result: { who: 'mine', cwd: home } });
  });

  it('is not looked for in the client’s folder by a search path with relative or empty parts', async () => {
    put(join(clone, 'tool'), serverText('the clone'), 0o755);
    put(join(clone, 'bin', 'tool'), serverText('the clone'), 0o755);
    put(join(home, 'tool'), serverText('home'), 0o755);
    configure({ command: 'tool', cwd: clone });
    const { success, error } = await where({ PATH: `.::bin:${process.env.PATH}` });
    expect({ success, message: error.message }).toEqual({
      success: false,
      message: expect.stringContaining('the command "tool" was not found'),
    });
  });

  it('starts where its entry says; a relative folder begins at home', async () => {
    const text = put(join(root, 'server.cjs'), serverText('mine'));
    mkdirSync(join(home, 'data'));
    configure({ command: process.execPath, args: [text], cwd: 'data' });
    expect(await where()).toMatchObject({ result: { cwd: join(home, 'data') } });
  });

  it('gets the client’s folder for ${workspaceFolder} once a person has trusted that folder, and not before', async () => {
    const text = put(join(root, 'server.cjs'), serverText('mine'));
    configure({
      command: process.execPath,
      args: [text, '${workspaceFolder}/sub', '$${workspaceFolder}', '${workspaceFolderBasename}'],
      cwd: '${workspaceFolder}',
    });
    const refused = await where();
    expect(refused).toMatchObject({ success: false, error: { code: 'CONFIGURATION_ERROR' } });
    expect(refused.error.message).toContain(`anygpt mcp trust ${clone}`);
    const doctor = JSON.parse((await run(['doctor', '--json'])).out);
    expect(doctor.checks).toContainEqual(
      expect.objectContaining({
        subject: 'mine',
        check: 'folder',
        status: 'warn',
        fix: `anygpt mcp trust ${clone}`,
      }),
    );
    const store = new TrustStore(join(home, '.anygpt'));
    await store.trustFolder(join(root, 'src'));
    expect(await where()).toMatchObject({
      result: { cwd: clone, args: [`${clone}/sub`, '${workspaceFolder}', 'clone'] },
    });
    await store.revokeInside(join(root, 'src'));
    expect(await where()).toMatchObject({ success: false });
    writeFileSync(store.file, '{');
    expect((await where()).error.message).toContain('cannot be read');
  });
});

it('a server of a project’s trusted configuration starts in the project, which is its ${workspaceFolder}', async () => {
  put(join(clone, 'server.cjs'), serverText('the project'));
  configure(
    { command: process.execPath, args: ['server.cjs', '${workspaceFolder}'] },
    join(clone, '.anygpt', 'mcp-discovery.config.json'),
  );
  const trusting = { ANYGPT_TRUST_PROJECT: '1' };
  expect(await where(trusting)).toMatchObject({ error: { code: 'TOOL_NOT_APPROVED' } });
  expect((await run(['approve', 'mine'], trusting)).code).toBe(0);
  expect(await where(trusting)).toMatchObject({
    success: true,
    result: { who: 'the project', cwd: clone, args: [clone] },
  });
});

it('doctor and init point at arguments that meant the client’s folder, and say what to write instead', async () => {
  const entry = { command: process.execPath, args: ['./server.cjs', '--config=conf.yaml', '.', '@scope/name', 'a/b'] };
  put(join(home, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers: { mine: entry } }));
  const { out } = await run(['init', '--yes']);
  const said = out.replaceAll(/\s+/g, ' ');
  expect(said).toContain(
    'mine has "./server.cjs", "conf.yaml", "." in its arguments. Behind the gateway it starts in your home folder',
  );
  expect(said).toContain('"${workspaceFolder}/server.cjs" for the folder the client works in');
  const doctor = JSON.parse((await run(['doctor', '--offline', '--json'])).out);
  expect(doctor.checks).toContainEqual(
    expect.objectContaining({
      subject: 'mine',
      check: 'arguments',
      status: 'warn',
      fix: expect.stringContaining('"${workspaceFolder}/server.cjs"'),
    }),
  );
});
