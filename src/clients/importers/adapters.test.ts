import { describe, expect, it } from 'vitest';
import { type ClientType, clientOf } from './clients.ts';
import { fromClientDocument } from './import-client-document.ts';
import type { Imported } from './imported-entry.ts';

const world = { home: '/h', cwd: '/w', env: {}, platform: 'linux' as const };

function read(type: ClientType, document: unknown, file = '/h/file.json'): Imported {
  const imported = fromClientDocument(clientOf(type), { document, file, scope: 'user' }, world);
  if (typeof imported === 'string') throw new Error(imported);
  return imported;
}
const entry = (type: ClientType, document: unknown, file?: string) => read(type, document, file).entries[0]?.entry;

describe('Codex', () => {
  it('passes variables on where they are set, and refuses a token in the file', () => {
    const servers = { a: { command: 'a', env_vars: ['A', { name: 'B' }, 5, 'not a name'] } };
    expect(entry('codex', { mcp_servers: servers })?.connection).toMatchObject({ inheritEnv: ['A', 'B'] });
    const { problems } = read('codex', { mcp_servers: { a: { url: 'https://a', bearer_token: 'x' } } });
    expect(problems.join()).toContain('use `bearer_token_env_var`');
  });

  it('has no type, and its text is text', () => {
    const servers = { a: { type: 'http', command: 'a', args: ['${X}'], startup_timeout_ms: 5 } };
    expect(entry('codex', { mcp_servers: servers })).toMatchObject({
      connection: { type: 'stdio', args: ['$${X}'] },
      timeouts: { connect: 5 },
    });
    const both = read('codex', { mcp_servers: { a: { command: 'a', url: 'https://a' } } });
    expect(both.problems.join()).toContain('both `command` and `url`');
  });
});

describe('Mistral Vibe', () => {
  it('takes a command as a line or a list, and a token by name', () => {
    const servers = [
      { name: 'line', transport: 'stdio', command: `npx -y "a b" 'c'`, args: ['d'] },
      { name: 'list', transport: 'stdio', command: ['npx', 'x'] },
      { name: 'web', transport: 'http', url: 'https://x', api_key_env: 'KEY' },
      {
        name: 'auth',
        transport: 'http',
        url: 'https://y',
        auth: { type: 'static', api_key_env: 'K', api_key_header: 'X-Key', api_key_format: '{token}' },
      },
      { name: 'off', transport: 'stdio', command: 'x', disabled: true, disabled_tools: ['t'] },
    ];
    const { entries } = read('mistral-vibe', { mcp_servers: servers });
    expect(entries.map((found) => found.entry.connection)).toMatchObject([
      { command: 'npx', args: ['-y', 'a b', 'c', 'd'] },
      { command: 'npx', args: ['x'] },
      { headers: { Authorization: 'Bearer ${KEY}' } },
      { headers: { 'X-Key': '${K}' } },
      { command: 'x' },
    ]);
    expect(entries[4]).toMatchObject({ entry: { enabled: false }, filter: { exclude: ['t'] } });
  });
});

describe('OpenCode', () => {
  it('keeps servers under mcp.servers in its second version', () => {
    const local = { type: 'local', command: ['uvx', 'f'], disabled: true, timeout: { startup: 7, request: 8 } };
    expect(entry('opencode', { mcp: { servers: { f: local } } })).toMatchObject({
      name: 'f',
      enabled: false,
      connection: { command: 'uvx', args: ['f'] },
      timeouts: { connect: 7, call: 8 },
    });
    expect(entry('opencode', { mcp: { servers: { type: 'local', command: ['x'] } } })?.name).toBe('servers');
  });
});

describe('Continue', () => {
  it('takes a file that is one server for a server of that name', () => {
    expect(entry('continue', { command: 'x' }, '/h/.continue/mcpServers/my-tool.json')?.name).toBe('my-tool');
  });
});

describe('Copilot CLI', () => {
  it('takes a bare map for the map', () => {
    expect(read('copilot-cli', { a: { command: 'x', tools: ['*'] }, b: { url: 'https://b' } }).entries).toHaveLength(2);
    expect(read('copilot-cli', { a: { command: 'x' }, other: 5 }).entries).toEqual([]);
  });
});

describe('Docker', () => {
  it('has one server for all of the Toolkit, if any is enabled', () => {
    const found = entry('docker-mcp', { registry: { b: { ref: '' }, a: { ref: '' } } });
    expect(found).toMatchObject({ name: 'MCP_DOCKER', description: 'Docker MCP Toolkit: a, b' });
    expect(read('docker-mcp', { registry: {} }).entries).toEqual([]);
  });
});

describe('Claude Code', () => {
  it('ignores time-outs below a second and projects elsewhere', () => {
    const document = {
      mcpServers: { a: { command: 'a', timeout: 999 }, b: { command: 'b', timeout: 1_000 } },
      projects: {
        '/w': { mcpServers: { a: { command: 'local' } } },
        '/other': { mcpServers: { c: { command: 'c' } } },
        '/': 5,
      },
    };
    const { entries } = read('claude-code', document);
    expect(entries.map((found) => [found.entry.name, found.entry.timeouts, found.path])).toEqual([
      ['a', undefined, 'projects["/w"].mcpServers["a"]'],
      ['b', { call: 1_000 }, 'mcpServers["b"]'],
    ]);
  });
});

describe('VS Code', () => {
  it('keeps servers in devcontainer.json, too', () => {
    const document = { customizations: { vscode: { mcp: { servers: { d: { command: 'd' } } } } } };
    expect(entry('vscode', document)?.name).toBe('d');
  });
});
