import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfigurationLoader } from './configuration-loader.ts';
import { toPathText } from './problems.ts';

const loader = new ConfigurationLoader({ home: '/h', cwd: '/c', env: {}, platform: 'linux' });
const problems = (config: unknown) => loader.validate(config).errors;
const server = (fields: object) => ({ discovery: { servers: [{ name: 'a', ...fields }] } });

describe('validate', () => {
  it('accepts a configuration with and without the wrapper, and other keys beside it', () => {
    expect(loader.validate({ discovery: {}, chat: 1 })).toEqual({ valid: true, errors: [] });
    expect(loader.validate({ cache: { ttl: 1 } })).toEqual({ valid: true, errors: [] });
    expect(loader.validate({}).valid).toBe(true);
  });

  it.each([
    [{ discovery: { cach: {} } }, 'discovery.cach: unknown key, did you mean `cache`?'],
    [{ cach: {} }, 'cach: unknown key, did you mean `cache`?'],
    [
      server({ connection: { type: 'stdio', command: 5 } }),
      'discovery.servers[0].connection.command: expected string, got number',
    ],
    [server({ connection: { type: 'stdio' } }), 'discovery.servers[0].connection.command: is missing, expected string'],
    [
      server({ connection: { type: 'http', url: 'https://x', header: {} } }),
      'discovery.servers[0].connection.header: unknown key, did you mean `headers`?',
    ],
    [
      server({ connection: { type: 'htp', url: 'x' } }),
      "discovery.servers[0].connection.type: expected one of 'stdio', 'http', 'sse', got \"htp\"; did you mean 'http'?",
    ],
    [
      server({ connection: { command: 'x' } }),
      "discovery.servers[0].connection.type: is missing, expected one of 'stdio', 'http', 'sse'",
    ],
    [server({ command: 'x' }), 'discovery.servers[0].command: unknown key, it belongs in `connection`'],
    [
      server({ connection: { type: 'http', url: 'ftp://x' } }),
      'discovery.servers[0].connection.url: must be an http:// or https:// address',
    ],
    [
      server({ connection: { type: 'http', url: 'https://x', auth: 'env', headers: { authorization: 'x' } } }),
      'discovery.servers[0].connection.auth: contradicts the header `authorization`; keep one of the two',
    ],
    [
      server({ connection: { type: 'stdio', command: 'a\0b' } }),
      'discovery.servers[0].connection.command: must not contain a NUL character',
    ],
    [
      server({ connection: { type: 'stdio', command: 'a', args: ['\0'] } }),
      'discovery.servers[0].connection.args[0]: must not contain a NUL character',
    ],
    [
      server({ connection: { type: 'stdio', command: 'a', env: { 'A=B': 'x' } } }),
      'discovery.servers[0].connection.env["A=B"]: is not a usable name',
    ],
    [
      server({ connection: { type: 'stdio', command: 'a', env: { A: 1 } } }),
      'discovery.servers[0].connection.env.A: expected string, got number',
    ],
    [
      server({ tools: [{ name: 't', inputSchema: [] }] }),
      'discovery.servers[0].tools[0].inputSchema: expected an object, got array',
    ],
    [{ servers: [{ name: 'AnyGPT' }] }, 'servers[0].name: "anygpt" is reserved for this gateway; choose another name'],
    [
      { servers: [{ name: '\u0430nygpt ' }] },
      'servers[0].name: "anygpt" is reserved for this gateway; choose another name',
    ],
    [{ servers: [{ name: '' }] }, 'servers[0].name: must not be empty'],
    [{ servers: [{ name: 'a\nb' }] }, 'servers[0].name: must not contain control characters'],
    [{ servers: [{ name: 'a\u202eb' }] }, 'servers[0].name: must not contain invisible characters'],
    [{ servers: [{ name: 'x'.repeat(201) }] }, 'servers[0].name: must be at most 200 characters long, but has 201'],
    [
      { servers: [{ name: 'a' }, { name: 'b' }, { name: 'a' }] },
      'servers[2].name: "a" is already the name of servers[0]',
    ],
    [{ servers: {} }, expect.stringMatching(/^servers: expected a list, got a map .*"type": "custom", "path"/)],
    [{ servers: 'a' }, 'servers: expected array, got string'],
    [
      { mcpServers: { a: { command: 'a' } } },
      expect.stringMatching(/^mcpServers: unknown key; this is another program's format: .*`sources`.*"connection"/),
    ],
    [{ limits: { queue: 0 } }, 'limits.queue: expected at least 1, got 0'],
    [{ limits: { queue: 1.5 } }, 'limits.queue: expected a whole number, got 1.5'],
    [{ limits: { callIdle: 1e12 } }, 'limits.callIdle: expected at most 2147483647, got 1000000000000'],
    [{ limits: { breaker: { rate: 0 } } }, 'limits.breaker.rate: expected more than 0, got 0'],
    [
      { log: { level: 'trace' } },
      "log.level: expected one of 'debug', 'info', 'warn', 'error', 'silent', got \"trace\"",
    ],
    [
      { log: { level: 'x'.repeat(50) } },
      "log.level: expected one of 'debug', 'info', 'warn', 'error', 'silent', got something else",
    ],
    [{ log: { level: 5 } }, "log.level: expected one of 'debug', 'info', 'warn', 'error', 'silent', got number"],
    [{ log: null }, 'log: expected object, got null'],
    [{ extends: 5 }, 'extends: expected string or array, got number'],
    [{ extends: ['a', 5] }, 'extends[1]: expected string, got number'],
    [{ sources: [{ type: 'custom' }] }, 'sources[0].path: is missing; a custom source needs the path of its file'],
    [
      { sources: [{ type: 'claude' }] },
      "sources[0].type: expected one of 'claude-code', 'claude-desktop' and 30 more, got \"claude\"; did you mean 'claude-desktop' or 'claude-code'?",
    ],
    [
      { sources: [{ type: 'Gemini' }] },
      "sources[0].type: expected one of 'gemini-cli' and 31 more, got \"Gemini\"; did you mean 'gemini-cli'?",
    ],
    [
      { sources: [{ type: 'cursro' }] },
      "sources[0].type: expected one of 'cursor' and 31 more, got \"cursro\"; did you mean 'cursor'?",
    ],
    [{ toolRules: [{ pattern: '*x*' }] }, 'toolRules[0].pattern: expected array, got string'],
    [
      { search: { fuzzy: 1 } },
      'search.fuzzy: unknown key; valid keys are meaning, phrases, learn, keepQueries, embedder',
    ],
    [{ cache: { banana: 1 } }, 'cache.banana: unknown key; valid keys are enabled, ttl, dir'],
    [{ cache: { dir: '' } }, 'cache.dir: must not be empty'],
    [{ cache: { dir: 'x'.repeat(5000) } }, 'cache.dir: expected at most 4096 characters, got 5000'],
    [{ retry: { initial: 5, max: 1 } }, 'retry.initial: 5 is more than `retry.max`, which is 1'],
    [JSON.parse('{"cache": {"__proto__": 1}}'), 'cache.__proto__: unknown key; valid keys are enabled, ttl, dir'],
    [null, 'expected an object, got null'],
    [{ discovery: [] }, 'discovery: expected an object, got array'],
  ])('%j', (config, problem) => {
    expect(problems(config)).toEqual([problem]);
  });

  it('reports all problems at once', () => {
    const found = problems({ nope: 1, cache: { ttl: 'x' }, servers: [{ name: 5 }, { name: 'a', concurrency: 0 }] });
    expect(found).toHaveLength(4);
  });

  it('never quotes a value that may be a secret', () => {
    const secret = 'hunter2-hunter2';
    const found = problems({
      servers: [{ name: 'a', connection: { type: 'http', url: secret, headers: [secret], token: secret } }],
      cache: secret,
    });
    expect(found.join()).not.toContain(secret);
    expect(found).toHaveLength(4);
  });

  it('never throws, whatever it is given', () => {
    fc.assert(
      fc.property(fc.object({ maxDepth: 4 }), fc.anything(), (object, anything) => {
        for (const value of [anything, object, { discovery: object }, { servers: [object] }, { sources: [anything] }]) {
          expect(typeof loader.validate(value).valid).toBe('boolean');
        }
      }),
      { numRuns: 300 },
    );
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('toPathText', () => {
  it('writes paths the way people do', () => {
    expect(toPathText('discovery', ['servers', 2, 'connection', 'env', 'A B'])).toBe(
      'discovery.servers[2].connection.env["A B"]',
    );
    expect(toPathText('', ['a', 'b-c'])).toBe('a.b-c');
  });
});
