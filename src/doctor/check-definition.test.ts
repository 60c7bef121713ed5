import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/fixtures/gateway/kit.ts';
import type { ServerDefinition } from '../core/types.ts';
import { checkDefinition, type DefinitionWorld } from './check-definition.ts';
import { findCommand } from './find-command.ts';

let folder: ReturnType<typeof tempFolder>;
let world: DefinitionWorld;
beforeEach(() => {
  folder = tempFolder();
  world = { env: { PATH: join(folder.path, 'bin'), HOME: folder.path }, platform: 'linux', execPath: '/nowhere/node' };
  mkdirSync(join(folder.path, 'bin'));
});
afterEach(() => folder[Symbol.dispose]());

function program(path: string): string {
  const file = join(folder.path, path);
  writeFileSync(file, '#!/bin/sh\n');
  chmodSync(file, 0o755);
  return file;
}

const entry = (connection: Record<string, unknown>): ServerDefinition => ({
  name: 'my-server',
  description: undefined,
  enabled: true,
  connection: (connection.url
    ? { type: 'http', headers: {}, auth: undefined, ...connection }
    : {
        type: 'stdio',
        args: [],
        env: {},
        inheritEnv: [],
        cwd: undefined,
        ...connection,
      }) as ServerDefinition['connection'],
  tools: [],
  timeouts: { connect: undefined, call: undefined },
  rateLimit: undefined,
  concurrency: undefined,
  trusted: false,
  idempotent: [],
  origin: { file: '/c.json', path: 'servers[0]' },
});
const failure = (connection: Record<string, unknown>, changes: Partial<DefinitionWorld> = {}) =>
  checkDefinition(entry(connection), { ...world, ...changes }).find(({ status }) => status === 'fail');

describe('the entry of a server', () => {
  it('shows no secret that is part of the path of its command, of its arguments or of its folder', () => {
    const token = 'ghp_0123456789abcdefABCDEF0123456789';
    const all = [
      { command: `/nowhere/${token}/run` },
      { command: `/nowhere/${token}`, args: [token] },
      { command: `run-${token} --now` },
      { command: `npx ${token}` },
      { command: 'run', cwd: `/nowhere/${token}` },
      { command: program(`bin/${token}`) },
      { command: program('bin/run'), args: [`./${token}.json`] },
    ].map((connection) => checkDefinition(entry(connection), world));
    expect(JSON.stringify(all)).not.toContain('0123456789abcdef');
    expect(all.every((checks) => checks.length > 1)).toBe(true);
  });

  it('is fine when its variables are set and its command is on the path', () => {
    const file = program('bin/serve');
    const checks = checkDefinition(entry({ command: 'serve', env: { T: '${TOKEN}' } }), {
      ...world,
      env: { ...world.env, TOKEN: 'secret' },
    });
    expect(checks).toEqual([
      { kind: 'server', subject: 'my-server', check: 'variables', status: 'ok', detail: 'TOKEN can be resolved' },
      { kind: 'server', subject: 'my-server', check: 'command', status: 'ok', detail: file },
    ]);
  });

  it('names every variable that is missing, once, and never one that has a default', () => {
    const found = failure({ command: '${A}', args: ['${B} ${A}', '${C:-x}'], env: { X: '${B}' } });
    expect(found).toMatchObject({ check: 'variables', detail: 'A, B are not set' });
    expect(found?.fix).toBe('export A=… B=… (/c.json, servers[0] refers to them)');
    expect(failure({ command: 'x', args: ['${__proto__}'] })?.detail).toBe('__proto__ is not set');
  });

  it('says which references belong to another program and which files cannot be read', () => {
    expect(failure({ command: 'x', env: { A: '${input:token}' } })?.detail).toContain('${input:token}');
    expect(failure({ command: 'x', env: { A: '${file:/no/such}' } })).toMatchObject({ check: 'variables' });
  });

  it('says what to install for the usual commands', () => {
    expect(failure({ command: 'npx' })).toMatchObject({
      check: 'command',
      detail: 'the command "npx" was not found on PATH',
      fix: 'Install Node.js: https://nodejs.org',
    });
    expect(failure({ command: 'uvx' })?.fix).toContain('Install uv');
    expect(failure({ command: 'docker' })?.fix).toContain('Install Docker');
    expect(failure({ command: 'thing' })?.fix).toBe('Install it, or write its full path into /c.json, servers[0]');
  });

  it('gives the full path of a command that lies beside the Node that runs us', () => {
    mkdirSync(join(folder.path, 'node'));
    const npx = program('node/npx');
    expect(failure({ command: 'npx' }, { execPath: join(folder.path, 'node', 'node') })?.fix).toBe(
      `Write its full path into /c.json, servers[0]: ${npx}`,
    );
  });

  it('notices a command line written as a command', () => {
    expect(failure({ command: 'npx -y thing' })?.fix).toContain('command "npx", args ["-y", "thing"]');
  });

  it('shows no value that a reference stands for', () => {
    const env = { ...world.env, CMD: 'hunter2-tool arg' };
    expect(JSON.stringify(checkDefinition(entry({ command: '${CMD}' }), { ...world, env }))).not.toContain('hunter2');
  });

  it('looks for the command on the path of the entry, and from its folder', () => {
    mkdirSync(join(folder.path, 'own'));
    program('own/serve');
    expect(failure({ command: 'serve', env: { PATH: join(folder.path, 'own') } })).toBeUndefined();
    expect(failure({ command: './serve', cwd: join(folder.path, 'own') })).toBeUndefined();
    expect(failure({ command: './serve' })?.detail).toBe('the command "./serve" was not found');
    expect(failure({ command: 'serve', cwd: '/no/such/folder' })).toMatchObject({ check: 'folder' });
  });

  it('needs an address that can be called', () => {
    expect(failure({ url: 'ftp://x/' })).toMatchObject({ check: 'url', fix: 'Correct url in /c.json, servers[0]' });
    expect(failure({ url: 'nonsense' })).toMatchObject({ check: 'url' });
    const checks = checkDefinition(entry({ url: 'https://user:pw@example.com/secret?key=1' }), world);
    expect(checks.at(-1)).toMatchObject({ status: 'ok', detail: 'https://example.com' });
  });

  it('warns of a token that should come from the environment and does not', () => {
    const remote = entry({ url: 'https://example.com/mcp', auth: 'env' });
    expect(checkDefinition(remote, world).at(-1)).toMatchObject({
      check: 'token',
      status: 'warn',
      fix: 'export MY_SERVER_MCP_TOKEN=…',
    });
    const env = { MCP_AUTH_TOKEN: 'x' };
    expect(checkDefinition(remote, { ...world, env }).every(({ status }) => status === 'ok')).toBe(true);
  });
});

describe('a command', () => {
  it('is a file that may be executed, and no folder', () => {
    const look = { path: join(folder.path, 'bin'), cwd: folder.path, platform: 'linux' } as const;
    writeFileSync(join(folder.path, 'bin', 'text'), '');
    mkdirSync(join(folder.path, 'bin', 'sub'));
    expect(findCommand('text', look)).toBeUndefined();
    expect(findCommand('sub', look)).toBeUndefined();
    expect(findCommand('none', { ...look, path: undefined })).toBeUndefined();
  });

  it('may have one of the usual endings on Windows', () => {
    const file = join(folder.path, 'bin', 'npx.cmd');
    writeFileSync(file, '');
    const look = { path: `C:\\x;${join(folder.path, 'bin')}`, pathExt: '.exe;.cmd', cwd: folder.path } as const;
    expect(findCommand('npx', { ...look, platform: 'win32' })).toBe(file);
  });
});
