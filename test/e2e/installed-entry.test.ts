/**
 * What `install` writes starts this program and nothing else, in whatever folder a client works.
 * @module
 */

import { spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestServer } from '../../src/testing/index.ts';
import { root as packageRoot, runBinary } from '../fixtures/cli.ts';

let root: string;
let home: string;
let clone: string;
let mark: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'anygpt-entry-')));
  home = join(root, 'home');
  clone = join(root, 'clone');
  mark = join(root, 'the-clone-ran');
  for (const folder of [home, clone]) mkdirSync(folder, { recursive: true });
});
// A program that is just ending may still write.
afterEach(() => rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));

function put(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
}

/** A folder that tries to be whatever a client starts. */
function hostile(): void {
  const script = `#!/bin/sh\necho "$0" >> ${mark}\nexit 1\n`;
  for (const name of ['npx', 'npm', 'node', 'sh', 'discovery', 'anygpt', 'mcp-remote']) {
    put(join(clone, 'node_modules', '.bin', name), script, 0o755);
    put(join(clone, name), script, 0o755);
  }
  put(join(clone, 'evil.sh'), script, 0o755);
  put(
    join(clone, '.npmrc'),
    `script-shell=${join(clone, 'evil.sh')}\nregistry=http://127.0.0.1:9/\nprefix=${clone}\nnode-options=--require ${join(clone, 'evil.cjs')}\nignore-scripts=false\n`,
  );
  put(join(clone, 'evil.cjs'), `require('fs').appendFileSync(${JSON.stringify(mark)}, 'required')`);
  const own = { name: '@anygpt/discovery', version: '9.9.9', bin: { discovery: 'evil.cjs', anygpt: 'evil.cjs' } };
  put(
    join(clone, 'package.json'),
    JSON.stringify({ ...own, workspaces: ['packages/*'], scripts: { preinstall: './evil.sh' } }),
  );
  put(
    join(clone, 'node_modules', '@anygpt', 'discovery', 'package.json'),
    JSON.stringify({ ...own, main: 'evil.cjs' }),
  );
  put(join(clone, 'node_modules', '@anygpt', 'discovery', 'evil.cjs'), readFileSync(join(clone, 'evil.cjs'), 'utf8'));
  put(join(clone, 'dist', 'bin', 'discovery.js'), readFileSync(join(clone, 'evil.cjs'), 'utf8'));
}

interface Entry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Record<string, string>;
}

/** Starts an entry as a client in the hostile folder does, and asks for its tools. */
async function toolsOf({ command, args, env }: Entry): Promise<string[]> {
  const child = spawn(command, args, {
    cwd: clone,
    env: { HOME: home, PATH: `.::node_modules/.bin:${process.env.PATH}`, ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'test', version: '1' };
  send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
  send({ method: 'notifications/initialized' });
  send({ id: 2, method: 'tools/list' });
  let text = '';
  try {
    for await (const chunk of child.stdout) {
      text += chunk;
      const answer = text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line))
        .find(({ id }) => id === 2);
      if (answer) return answer.result.tools.map(({ name }: { name: string }) => name);
    }
    throw new Error(`it ended with ${JSON.stringify(text)}`);
  } finally {
    child.kill();
  }
}

const install = (...argv: string[]) => runBinary(['install', ...argv], { cwd: clone, env: { HOME: home } });
const entryIn = (path: string): Entry => JSON.parse(readFileSync(join(home, path), 'utf8')).mcpServers.anygpt;
const META_TOOLS = ['search_tools', 'get_tool_details', 'execute_tool', 'list_tools', 'list_mcp_servers'];

describe('the entry that install writes', () => {
  it('starts this program by full paths, and nothing of the folder a client works in', async () => {
    hostile();
    put(join(home, '.cursor', 'mcp.json'), '{}');
    expect(await install('cursor')).toMatchObject({ code: 0 });
    const entry = entryIn('.cursor/mcp.json');
    expect(entry).toMatchObject({
      command: process.execPath,
      args: [realpathSync(join(packageRoot, 'dist', 'bin', 'discovery.js'))],
    });
    expect(await toolsOf(entry)).toEqual(META_TOOLS);
    expect(existsSync(mark)).toBe(false);
  });

  it('reaches an address by this program, too, where a client starts programs only', async () => {
    hostile();
    await using server = await startTestServer({ tools: { greet: { call: () => 'hello' } } });
    put(join(home, '.config', 'Claude', 'claude_desktop_config.json'), '{}');
    expect(await install('claude-desktop', '--url', server.url)).toMatchObject({ code: 0 });
    const entry = entryIn('.config/Claude/claude_desktop_config.json');
    expect(entry.args.slice(1)).toEqual(['--url', server.url]);
    expect(await toolsOf(entry)).toEqual(['greet']);
    expect(existsSync(mark)).toBe(false);
  });

  it('names a copy in the state folder where the program runs from a cache that may vanish', async () => {
    const cached = join(root, '_npx', '0123', 'node_modules');
    const program = join(cached, '@anygpt', 'discovery');
    mkdirSync(program, { recursive: true });
    for (const part of ['dist', 'package.json', 'models'])
      cpSync(join(packageRoot, part), join(program, part), { recursive: true });
    // What npm puts beside it. Links are enough here: a copy keeps them.
    const { dependencies } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
    for (const name of Object.keys(dependencies)) {
      mkdirSync(dirname(join(cached, name)), { recursive: true });
      if (!existsSync(join(cached, name))) symlinkSync(join(packageRoot, 'node_modules', name), join(cached, name));
    }
    put(join(home, '.cursor', 'mcp.json'), '{}');
    const run = (...argv: string[]) =>
      new Promise<number | null>((resolve) => {
        const words = [join(program, 'dist', 'bin', 'anygpt.js'), 'mcp', 'install', 'cursor', ...argv];
        const child = spawn(process.execPath, words, { cwd: clone, env: { HOME: home, PATH: process.env.PATH } });
        child.on('close', resolve);
      });
    expect(await run('--dry-run')).toBe(0);
    expect(existsSync(join(home, '.anygpt', 'program'))).toBe(false);
    expect(await run()).toBe(0);
    rmSync(join(root, '_npx'), { recursive: true });
    const entry = entryIn('.cursor/mcp.json');
    expect(entry.args[0]).toMatch(join(home, '.anygpt', 'program'));
    expect(await toolsOf(entry)).toEqual(META_TOOLS);
  });

  it('of an earlier version, through npx, is known as ours: doctor says what to run, and that renews it', async () => {
    const npx = { command: 'npx', args: ['-y', '@anygpt/discovery'], env: { ANYGPT_GATEWAY: '1' } };
    put(join(home, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers: { anygpt: npx } }));
    put(join(home, '.warp', '.mcp.json'), JSON.stringify({ mcpServers: { discovery: { ...npx, env: {} } } }));
    const look = async () => {
      const { out } = await runBinary(['doctor', '--offline', '--json'], { cwd: clone, env: { HOME: home } });
      return JSON.parse(out).checks.filter(({ check }: { check: string }) => check === 'entry');
    };
    expect(await look()).toMatchObject([
      { status: 'warn', fix: 'anygpt mcp install cursor' },
      { status: 'warn', fix: 'Remove the entry "discovery", then run: anygpt mcp install warp' },
    ]);
    expect((await install('cursor')).out).toContain('updated "anygpt"');
    expect(entryIn('.cursor/mcp.json').command).toBe(process.execPath);
    expect((await look())[0]).toMatchObject({ status: 'ok' });
    put(
      join(home, '.cursor', 'mcp.json'),
      JSON.stringify({ mcpServers: { anygpt: { ...npx, command: '/gone/node', args: ['/gone/discovery.js'] } } }),
    );
    expect((await look())[0]).toMatchObject({
      status: 'warn',
      detail: expect.stringContaining('/gone/node, which no longer exists'),
    });
  });
});

describe('--take-over', () => {
  it('moves servers that ask for a login and says which; one that refuses its token, or redirects, stays', async () => {
    const { createServer } = await import('node:http');
    const asked: string[] = [];
    const login = createServer((request, response) => {
      asked.push(`${request.method} ${request.headers.authorization ?? ''}`);
      const known = request.headers.authorization === 'Bearer known';
      if (request.url === '/moved') return void response.writeHead(302, { location: '/login' }).end();
      response.writeHead(known ? 200 : 401, known ? {} : { 'www-authenticate': 'Bearer resource_metadata="http://x"' });
      response.end('{}');
    });
    await new Promise<void>((resolve) => login.listen(0, '127.0.0.1', resolve));
    const { port } = login.address() as { port: number };
    const url = `http://127.0.0.1:${port}/mcp`;
    await using open = await startTestServer({ tools: { greet: { call: () => 'hello' } } });
    const servers = {
      linear: { url },
      moved: { url: url.replace('/mcp', '/moved') },
      keyed: { url, headers: { Authorization: 'Bearer ${env:KEY}' } },
      stale: { url, headers: { Authorization: 'Bearer ${env:OLD}' } },
      open: { url: open.url },
      slack: { url: open.url, auth: { CLIENT_ID: 'x' } },
      program: { command: 'x' },
    };
    const text = JSON.stringify({ mcpServers: servers }, undefined, 2);
    put(join(home, '.cursor', 'mcp.json'), text);
    const env = { HOME: home, KEY: 'known', OLD: 'old' };
    const { out } = await runBinary(['install', 'cursor', '--take-over'], { cwd: clone, env });
    login.close();
    const said = out.replaceAll(/\s+/g, ' ');
    expect(said).toContain('Moved behind the gateway: linear, keyed, open, slack, program');
    expect(said).toContain('linear needs a login: anygpt mcp login linear');
    expect(said).toContain('stale stays in the client: it does not accept the token of its entry');
    expect(said).toContain('moved stays in the client: it answers with a redirect');
    const now = JSON.parse(readFileSync(join(home, '.cursor', 'mcp.json'), 'utf8'));
    expect(Object.keys(now.mcpServers).sort()).toEqual(['anygpt', 'moved', 'stale']);
    // Greeted, told that the greeting is over, asked for tools; who refuses is asked nothing more.
    expect(asked.sort()).toEqual([
      'POST ',
      'POST ',
      ...Array.from({ length: 3 }, () => 'POST Bearer known'),
      'POST Bearer old',
    ]);
    // What stayed and what moved is told apart when all of it is given back.
    expect(await runBinary(['uninstall', 'cursor'], { cwd: clone, env })).toMatchObject({ code: 0 });
    expect(readFileSync(join(home, '.cursor', 'mcp.json'), 'utf8')).toBe(text);
  });

  it('notices a login that is asked for with 403, or with the list of tools only, and ends its session', async () => {
    const { createServer } = await import('node:http');
    const asked: string[] = [];
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { method = request.method } = JSON.parse(Buffer.concat(chunks).toString() || '{}') as { method?: string };
      const { url = '' } = request;
      asked.push(`${url} ${method} ${request.headers['mcp-session-id'] ?? ''}`.trim());
      if (url === '/403') return void response.writeHead(403).end('who are you?');
      if (method === 'tools/list' && url !== '/open') return void response.writeHead(401).end();
      if (method !== 'initialize') return void response.writeHead(202).end();
      const result = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 's', version: '1' } };
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'one' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const at = (path: string) => ({ url: `http://127.0.0.1:${port}/${path}` });
    put(
      join(home, '.cursor', 'mcp.json'),
      JSON.stringify({ mcpServers: { a403: at('403'), late: at('late'), open: at('open') } }),
    );
    const { out } = await runBinary(['install', 'cursor', '--take-over'], { cwd: clone, env: { HOME: home } });
    server.close();
    const said = out.replaceAll(/\s+/g, ' ');
    expect(said).toContain('Moved behind the gateway: a403, late, open');
    for (const name of ['a403', 'late']) expect(said).toContain(`${name} needs a login: anygpt mcp login ${name}`);
    expect(asked.filter((line) => line.startsWith('/late'))).toEqual([
      '/late initialize',
      '/late notifications/initialized one',
      '/late tools/list one',
      '/late DELETE one',
    ]);
    expect(asked.filter((line) => line.startsWith('/403'))).toEqual(['/403 initialize']);
  });
});
