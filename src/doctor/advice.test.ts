import { describe, expect, it } from 'vitest';
import { DiscoveryError, type ErrorCode } from '../core/errors.ts';
import type { ServerDefinition } from '../core/types.ts';
import { adviceFor } from './advice.ts';
import { checkProbe } from './examine-server.ts';

const base = {
  name: 'gh',
  description: undefined,
  enabled: true,
  tools: [],
  timeouts: { connect: undefined, call: undefined },
  rateLimit: undefined,
  concurrency: undefined,
  trusted: false,
  idempotent: [],
  origin: { file: '/c.json', path: 'servers[0]' },
} as const;
const local: ServerDefinition = {
  ...base,
  connection: { type: 'stdio', command: 'npx', args: [], env: { GIVEN_KEY: 'x' }, inheritEnv: [], cwd: undefined },
};
const remote = (changes: object = {}): ServerDefinition => ({
  ...base,
  connection: { type: 'http', url: 'https://example.com/mcp', headers: {}, auth: undefined, ...changes },
});
const error = (message: string, code: ErrorCode = 'SERVER_CONNECTION_ERROR') => new DiscoveryError(code, message);

describe('the one thing to do', () => {
  const died = 'gh could not be started: it exited with code 1. Its last words: ';
  const cases: [string, ServerDefinition, DiscoveryError, string, Record<string, string>?][] = [
    ['a broken entry', local, error('x', 'CONFIGURATION_ERROR'), 'Correct /c.json, servers[0]'],
    ['too many requests', remote(), error('x', 'RATE_LIMITED'), 'Wait a while'],
    ['no answer', local, error('gh: no answer within 30 s.'), 'Raise timeouts.connect (now 30000 ms)'],
    ['no list', remote(), error('gh did not list its tools within 5 s.'), 'anygpt mcp logs gh'],
    ['a variable it wants', local, error(`${died}GITHUB_TOKEN is required`), 'export GITHUB_TOKEN=… and add it'],
    [
      'a variable that is set here only',
      local,
      error(`${died}please set GITHUB_TOKEN`),
      '"inheritEnv": ["GITHUB_TOKEN"]',
      { GITHUB_TOKEN: 'x' },
    ],
    ['a variable it was given', local, error(`${died}GIVEN_KEY is missing`), 'anygpt mcp logs gh'],
    ['an error code is no variable', local, error(`${died}ERR_MODULE_NOT_FOUND`), 'Correct the path in args'],
    ['an unknown package', local, error(`${died}npm error code E404`), 'Correct the package name'],
    ['no network', local, error(`${died}npm error ENOTFOUND registry.npmjs.org`), 'Check the network'],
    ['a file that is not there', local, error(`${died}Error: Cannot find module '/x'`), 'Correct the path in args'],
    ['a file that may not run', local, error('the command "x" may not be executed (EACCES)'), 'chmod +x'],
    ['anything else', local, error(`${died}boom`), 'Read its log: anygpt mcp logs gh'],
    ['a login', remote(), error('x', 'SERVER_AUTH_REQUIRED'), 'Run: anygpt mcp login gh'],
    [
      'a login of a registered client',
      remote({ oauth: { clientId: 'c', clientSecret: '${GH_SECRET}' } }),
      error('x', 'SERVER_AUTH_REQUIRED'),
      'Run: anygpt mcp login gh',
    ],
    [
      'a program whose login is refused',
      remote({ oauth: { grant: 'client_credentials' } }),
      error('x', 'SERVER_AUTH_REQUIRED'),
      'Correct connection.oauth in /c.json, servers[0]',
    ],
    [
      'a login that cannot be renewed now',
      remote(),
      error('The login of gh could not be renewed: the token endpoint answered HTTP 404. It is kept.'),
      'Try later: the identity provider',
    ],
    [
      'a locked keychain',
      remote(),
      error('the keychain does not give the key', 'STORAGE_ERROR'),
      'Unlock the keychain',
    ],
    ['a token that is missing', remote({ auth: 'env' }), error('x', 'SERVER_AUTH_REQUIRED'), 'export GH_MCP_TOKEN=…'],
    [
      'a token that is refused',
      remote({ auth: 'env' }),
      error('x', 'SERVER_AUTH_REQUIRED'),
      'Renew the token in MCP_AUTH_TOKEN',
      { MCP_AUTH_TOKEN: 'x' },
    ],
    [
      'a reference that is refused',
      remote({ headers: { Authorization: 'Bearer ${GH}' } }),
      error('x', 'SERVER_AUTH_REQUIRED'),
      'Renew the value of GH',
    ],
    [
      'headers that are refused',
      remote({ headers: { A: 'b' } }),
      error('x', 'SERVER_AUTH_REQUIRED'),
      'Correct the headers',
    ],
    ['nobody listens', remote(), error('gh could not be reached (ECONNREFUSED).'), 'Start the server'],
    ['no such host', remote(), error('gh could not be reached (ENOTFOUND).'), 'check the network'],
    [
      'no such host behind a proxy',
      remote(),
      error('gh could not be reached (ENOTFOUND).'),
      'HTTPS_PROXY is set',
      { HTTPS_PROXY: 'http://proxy' },
    ],
    ['a certificate', remote(), error('gh could not be reached (SELF_SIGNED_CERT_IN_CHAIN).'), 'NODE_EXTRA_CA_CERTS'],
    ['a wrong path', remote(), error('it answered HTTP 404: x'), 'Correct the path of url'],
    ['a refusal', remote(), error('it answered HTTP 403'), 'Ask for access'],
    ['a fault', remote(), error('it answered HTTP 502'), 'Try later'],
    ['a redirect', remote(), error('gh redirects to https://x, which is not followed.'), 'Write the address'],
    ['nonsense', remote(), error('what?'), 'Correct url'],
  ];
  it.each(cases)('for %s', (_what, definition, failure, advice, env = {}) => {
    expect(adviceFor(definition, failure, env)).toContain(advice);
  });
});

describe('a server from the file of another program', () => {
  const config = { origin: '/home/c.json', sources: [] };
  const foreign = (definition: ServerDefinition) => ({
    ...definition,
    origin: { file: '/home/cursor.json', path: 'mcpServers["gh"]', client: 'cursor' as const },
  });

  it('gets a longer wait from an entry of ours, because its own has no such setting', () => {
    const advice = adviceFor(foreign(local), error('gh: no answer within 30 s.'), {}, { config });
    expect(advice).toContain('{"name": "gh", "timeouts": {"connect": 60000}} to "servers" in /home/c.json');
    expect(advice).toContain('/home/cursor.json has no such setting');
    const probe = { connectMs: 29_000, listMs: 1, toolCount: 1 };
    expect(checkProbe(foreign(local), probe, {}, { config })[0]?.fix).toContain('"timeouts"');
    const sources = [{ type: 'custom', path: '/c.json', status: 'ok', serverCount: 1 }] as const;
    const known = { config: { origin: undefined, sources } };
    expect(adviceFor(local, error('gh: no answer within 30 s.'), {}, known)).toContain('(anygpt mcp init)');
  });

  it('gets what only we understand from there, too', () => {
    const login = adviceFor(foreign(remote()), error('x', 'SERVER_AUTH_REQUIRED'), {}, { config });
    expect(login).toBe('Run: anygpt mcp login gh');
    const variable = adviceFor(foreign(local), error('it died: API_KEY is required'), { API_KEY: 'x' }, { config });
    expect(variable).toContain('Add API_KEY to "env" of the entry (/home/cursor.json');
  });
});

describe('a server that prints to stdout', () => {
  const log = 'starting\n[stdout]  \n[stdout] Loading plugins …\n[stdout] Ready\n';

  it('is told so with its own words, unless something plainer is wrong', () => {
    for (const message of ['gh: no answer within 30 s.', 'it exited with code 1.'])
      expect(adviceFor(local, error(message), {}, { log })).toBe(
        'Make it print to stderr: stdout is for messages only. Its log has: [stdout] Loading plugins …',
      );
    expect(adviceFor(local, error("Error: Cannot find module '/x'"), {}, { log })).toContain('Correct the path');
    expect(adviceFor(local, error('it exited.'), {}, { log: 'no [stdout] here' })).toContain('anygpt mcp logs gh');
  });

  it('is warned of even where it works', () => {
    const checks = checkProbe(local, { connectMs: 1, listMs: 1, toolCount: 1 }, {}, { log });
    expect(checks.at(-1)).toMatchObject({ check: 'stdout', status: 'warn', fix: expect.stringContaining('Loading') });
  });
});

describe('an attempt to start a server', () => {
  it('warns of slow, empty, cut and partly unusable servers', () => {
    const slow = checkProbe(
      local,
      { connectMs: 29_000, listMs: 1, protocolVersion: '2025-11-25', transport: 'stdio' },
      {},
    );
    expect(slow.map(({ check, status }) => [check, status])).toEqual([
      ['connect', 'warn'],
      ['tools', 'ok'],
      ['tools', 'warn'],
    ]);
    const cut = checkProbe(local, { connectMs: 1, listMs: 1, toolCount: 1, skipped: 2, incomplete: 'too long' }, {});
    expect(cut.map(({ detail }) => detail)).toEqual([
      expect.any(String),
      '1 tool',
      expect.stringContaining('2 of its tools'),
      'its tool list is incomplete: too long',
    ]);
  });
});
