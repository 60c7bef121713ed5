import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { definition } from '../../test/fixtures/connections/harness.ts';
import { engineIn, entry, folder, memoryLog, until } from '../../test/fixtures/engine.ts';
import { evil } from '../../test/fixtures/evil.ts';
import { atOnce } from '../catalog/paced.ts';
import { lookUpReferences } from '../config/references.ts';
import { causeOf } from '../core/result.ts';
import type { ServerDefinition } from '../core/types.ts';
import { redactDefinitions } from './redact-data.ts';
import { createRedactor } from './redactor.ts';
import { secretsOf as secretsWith } from './server-secrets.ts';

const canary = () => `canary-${randomBytes(16).toString('hex')}`;
const tool = { name: 'echo', inputSchema: { type: 'object' } };
const secretsOf = (
  servers: readonly ServerDefinition[],
  env: Readonly<Record<string, string | undefined>>,
  embedder = {},
) =>
  secretsWith(
    servers,
    {
      env,
      lookUp: (text) => lookUpReferences(text, env),
    },
    embedder,
  );

describe('secretsOf', () => {
  it('are what references stand for, bearers, and literal values that look like secrets', () => {
    const servers = [
      definition('local', {
        type: 'stdio',
        command: '${BIN}',
        args: ['--key=${KEY}', '--plain'],
        env: {
          TOKEN: '${TOKEN:-x}',
          LITERAL: 'sk-1234567890abcdef',
          MODE: 'production',
          FOLDER: '/home/me/some/folder',
        },
        inheritEnv: ['INHERITED', 'DISPLAY', 'UNSET'],
        cwd: undefined,
      }),
      definition('far-away', {
        type: 'http',
        url: 'https://x/${PATH_KEY}',
        headers: { Authorization: 'Bearer ${HEADER_KEY}' },
        auth: 'env',
      }),
    ];
    const env = {
      BIN: 'the-binary',
      KEY: 'the-key-1',
      TOKEN: 'the-token',
      INHERITED: 'ordinary-value-1',
      DISPLAY: ':0',
      PATH_KEY: 'the-path-key-2',
      HEADER_KEY: 'the-header-key',
      FAR_AWAY_MCP_TOKEN: 'the-bearer',
      MCP_AUTH_TOKEN: 'the-other-bearer',
      UNRELATED: 'left-alone',
    };
    expect([...secretsOf(servers, env)].sort()).toEqual(
      [
        'the-key-1',
        'the-token',
        'sk-1234567890abcdef',
        'the-path-key-2',
        'the-header-key',
        'the-bearer',
        'the-other-bearer',
      ].sort(),
    );
  });

  const stdio = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    definition('local', { type: 'stdio', command: 'node', args, env, inheritEnv: [], cwd: undefined });
  const http = (url: string, headers: Readonly<Record<string, string>> = {}) =>
    definition('far', { type: 'http', url, headers, auth: undefined });

  it.each<[ServerDefinition, readonly string[]]>([
    [http('https://x/', { Authorization: 'Bearer abc-123' }), ['abc-123']],
    [http('https://x/', { authorization: 'token ghp_12345678' }), ['ghp_12345678']],
    [http('https://x/', { Authorization: 'Basic bWU6aHVudGVyMg==' }), ['bWU6aHVudGVyMg==', 'me:hunter2', 'hunter2']],
    [http('https://x/', { 'X-Api-Key': 'short-key' }), ['short-key']],
    [http('https://me:hunt%40er@x/'), ['hunt%40er', 'hunt@er']],
    [http('https://ghp_1234567890@x/'), ['ghp_1234567890']],
    [http('https://x/?api_key=abc123&page=1234567890123&sig=def%2F456'), ['abc123', 'def%2F456', 'def/456']],
    [http('https://${HOST}/?token=abc123'), ['abc123']],
    [http('https://x/${PATH}?token=abc123'), ['abc123']],
    [stdio(['--token=abc-1234', '--page=1234567890']), ['abc-1234']],
    [stdio(['--api-key', 'abc-1234', '--verbose', 'abc-9999']), ['abc-1234']],
    [stdio(['--header', 'Authorization: Bearer abc-1234']), ['abc-1234']],
    [stdio(['-e', 'GITHUB_PAT=abc-1234', '--sort-key', 'created_at']), ['abc-1234']],
    [stdio(['--dsn=postgres://me:hunter2@db/x']), ['hunter2']],
    [stdio([], { AUTH: 'Bearer abc-1234' }), ['abc-1234']],
    [stdio([], { KEY: '${NOPE:-sk-default-1234567890}' }), ['sk-default-1234567890']],
    [stdio([], { PASSWORD: '${NOPE:-hunter22}' }), ['hunter22']],
    [stdio(['${MODE:-production}', '${URL:-https://example.com/some/path}', '--auth', 'none']), []],
    [stdio([], { AUTH: '${BEARER}' }), ['from-env']],
    [stdio(['a='.repeat(50_000)]), []],
    [stdio(['ghp_16C7e42F292c6912E7710c838347Ae178B4a']), ['ghp_16C7e42F292c6912E7710c838347Ae178B4a']],
    [stdio(['-pHunter2!', '-p8080:80', '-prune', '-u', 'me:hunter2']), ['Hunter2!', 'hunter2']],
    [stdio(['--dsn=Server=db;Database=x;Password=geheim;Port=1']), ['geheim']],
    [stdio(['--dsn', 'host=db password=geheim dbname=x']), ['geheim']],
    [http('https://x/api/9f8e7d6c5b4a3928/mcp'), ['9f8e7d6c5b4a3928']],
    [http('https://x/v1/my-projects/eu-west-1/mcp'), []],
    [stdio([], { API_TOKEN: 'abc12', DB_PASSWORD: 'geheim', PIN: '1234', MAX_TOKENS: '100000' }), ['abc12', 'geheim']],
    [stdio([], { LOG_LEVEL: 'info', REGION: 'us-east-1', MODEL: 'gpt-4o-mini-2024-07-18', TZ: 'Europe/Berlin' }), []],
    [stdio([], { TOOLSETS: 'repos,issues,pull_requests', TOKEN_TYPE: 'bearer', AUTH: 'none', DEBUG: 'mcp:*' }), []],
    [
      stdio([], { ANY: '5f2c9a1b5f2c9a1b5f2c', OTHER: 'xY3kd92LpQ8sVbT1' }),
      ['5f2c9a1b5f2c9a1b5f2c', 'xY3kd92LpQ8sVbT1'],
    ],
  ])('case %#: the secret part of what is written by hand is found', (server, secrets) => {
    const found = secretsOf([server], { BEARER: 'Bearer from-env', PATH: undefined });
    expect([...found].filter((secret) => !secret.includes('://') && !secret.startsWith('Basic ')).sort()).toEqual(
      [...secrets].sort(),
    );
  });
});

describe('redactDefinitions', () => {
  it('takes secrets out of every text and leaves other tools as they are', () => {
    const redact = createRedactor(['SECRET']);
    const clean = { name: 'clean', inputSchema: {} };
    const dirty = JSON.parse(
      '{"name":"d","description":"uses SECRET","inputSchema":{"__proto__":["SECRET",1,null],"SECRET":true}}',
    );
    const [first, second] = atOnce(redactDefinitions([clean, dirty], redact));
    expect(first).toBe(clean);
    expect(JSON.stringify(second)).toBe(
      '{"name":"d","description":"uses ***","inputSchema":{"__proto__":["***",1,null],"SECRET":true}}',
    );
  });
});

describe('a secret', () => {
  it('that a dying server prints is in no error, log or status', async () => {
    using home = folder();
    const secret = canary();
    const log = memoryLog();
    const script =
      'console.error("env:", process.env.TOKEN, Buffer.from(process.env.TOKEN).toString("base64")); process.exit(1)';
    const servers = [
      {
        name: 'dying',
        connection: { type: 'stdio', command: process.execPath, args: ['-e', script], env: { TOKEN: '${THE_TOKEN}' } },
      },
    ];
    await using engine = engineIn(
      home,
      { servers, retry: { attempts: 0 } },
      { logger: log, env: { THE_TOKEN: secret } },
    );
    const answers = [
      await engine.find('x'),
      await engine.toolsOf('dying'),
      await engine.describe('dying', 'x'),
      await engine.call({ server: 'dying', tool: 'x', arguments: { text: secret } }),
      await engine.listServers(),
      await engine.getConfig(),
      engine.connections.log('dying'),
    ];
    await engine.close();
    const said = JSON.stringify([answers, log.lines]) + home.contents();
    expect(said).not.toContain(secret);
    expect(said).not.toContain(Buffer.from(secret).toString('base64').slice(0, 30));
  });

  it('that a living server repeats is in no error, log, audit line or cache file', async () => {
    using home = folder();
    const secret = canary();
    const log = memoryLog();
    using server = evil({
      era: 'legacy',
      tools: [{ ...tool, description: `Uses the key ${secret}.` }],
      instructions: `The key is ${secret}`,
      on: [
        {
          method: 'tools/call',
          nth: 1,
          do: [{ stderr: `key ${secret}\n` }, { error: { code: -32000, message: `bad key ${secret}` } }],
        },
        {
          method: 'tools/call',
          nth: 2,
          do: [{ result: { isError: true, content: [{ type: 'text', text: `no: ${secret}` }] } }],
        },
        { method: 'tools/call', do: [{ exit: 1 }] },
      ],
    });
    const { connection } = entry('evil', server);
    const servers = [{ name: 'evil', connection: { ...connection, env: { TOKEN: '${THE_TOKEN}' } } }];
    await using engine = engineIn(
      home,
      { servers, audit: { values: true }, retry: { attempts: 0 } },
      { logger: log, env: { THE_TOKEN: secret } },
    );
    const answers = [await engine.find('key', { waitMs: 20_000 }), await engine.describe('evil', 'echo')];
    answers.push((await engine.call({ server: 'evil', tool: 'echo', arguments: { key: secret } })) as never);
    // A call's result belongs to the caller and is unchanged; its audit record is redacted.
    await engine.call({ server: 'evil', tool: 'echo' });
    answers.push((await engine.call({ server: 'evil', tool: 'echo' })) as never);
    await until(() => engine.connections.log('evil').includes('***'));
    await engine.close();
    const audit = readFileSync(join(home.path, 'audit', 'audit.jsonl'), 'utf8');
    expect(audit.trim().split('\n')).toHaveLength(3);
    expect(
      JSON.stringify([answers, log.lines, await engine.listServers(), engine.connections.log('evil')]),
    ).not.toContain(secret);
    expect(home.contents()).not.toContain(secret);
  });
});

describe('a secret in use', () => {
  it('that is rotated is known from the moment it is used, and so is the old one', async () => {
    using home = folder();
    const [old, rotated, inherited] = [canary(), canary(), canary()];
    const file = join(home.path, 'the-secret');
    writeFileSync(file, old);
    const log = memoryLog();
    const script = `console.error("env", process.env.TOKEN, process.env.GH_TOKEN); process.exit(1)`;
    const connection = {
      type: 'stdio',
      command: process.execPath,
      args: ['-e', script],
      env: { TOKEN: `\${file:${file}}` },
      inheritEnv: ['GH_TOKEN'],
    };
    const env: Record<string, string> = { GH_TOKEN: canary() };
    await using engine = engineIn(home, { servers: [{ name: 'x', connection }] }, { logger: log, env });
    const said: unknown[] = [await engine.toolsOf('x')];
    writeFileSync(file, rotated);
    env.GH_TOKEN = inherited;
    await until(async () => {
      said.push(await engine.toolsOf('x'), await engine.call({ server: 'x', tool: 'y', arguments: { old, rotated } }));
      return JSON.stringify(said).includes('exited with code 1') && said.length > 4;
    });
    said.push(engine.connections.log('x'), await engine.listServers());
    await engine.close();
    rmSync(file);
    const all = JSON.stringify([said, log.lines]) + home.contents();
    expect(all).toContain('env *** ***');
    for (const secret of [old, rotated, inherited]) expect(all).not.toContain(secret);
  });

  it('is no ordinary word: tools keep their names, rules and enums, whatever a server is given', async () => {
    using home = folder();
    using server = evil({
      era: 'legacy',
      tools: [
        {
          name: 'get_info',
          description: 'Gets info at level info.',
          inputSchema: { type: 'object', properties: { info: { enum: ['info', 'us-east-1'] } }, required: ['info'] },
        },
        { ...tool, name: 'delete_info' },
      ],
    });
    const { connection } = entry('evil', server);
    const env = { LOG_LEVEL: 'info', REGION: 'us-east-1', DELETE: 'delete' };
    const given = { LOG_LEVEL: '${LOG_LEVEL}', REGION: '${REGION}', MODE: '${DELETE}' };
    await using engine = engineIn(
      home,
      {
        servers: [{ name: 'evil', connection: { ...connection, env: given, inheritEnv: Object.keys(env) } }],
        toolRules: [{ pattern: ['delete_info'], enabled: false }],
      },
      { env },
    );
    expect(JSON.stringify(await engine.find('gets info', { waitMs: 20_000 }))).toContain('get_info');
    const details = await engine.describe('evil', 'get_info');
    expect(JSON.stringify(details)).toContain('Gets info at level info.');
    expect(JSON.stringify(details)).not.toContain('***');
    expect(await engine.call({ server: 'evil', tool: 'get_info', arguments: { info: 'info' } })).toMatchObject({
      success: true,
    });
    expect(await engine.call({ server: 'evil', tool: 'delete_info' })).toMatchObject({
      error: { code: 'TOOL_DISABLED' },
    });
  });

  it('of a stranger is masked where a server speaks of errors, and left in what a call returns', async () => {
    using home = folder();
    const words = 'cannot open postgres://me:hunter2@db, {"client_secret":"geheim"}, password=geheim';
    const told = (isError: boolean) => ({ isError, content: [{ type: 'text', text: words }] });
    using server = evil({
      era: 'legacy',
      tools: ['good', 'bad', 'worse'].map((name) => ({ ...tool, name })),
      on: [
        { method: 'tools/call', tool: 'good', do: [{ stderr: `${words}\n` }, { result: told(false) }] },
        { method: 'tools/call', tool: 'bad', do: [{ result: told(true) }] },
        { method: 'tools/call', tool: 'worse', do: [{ error: { code: -32000, message: words, data: [words] } }] },
      ],
    });
    await using engine = engineIn(home, { servers: [entry('evil', server)], audit: { values: true } });
    const call = (name: string) => engine.call({ server: 'evil', tool: name, arguments: { dsn: words } });
    expect(JSON.stringify(await call('good'))).toContain(JSON.stringify(words).slice(1, -1));
    const said = JSON.stringify([await call('bad'), await call('worse')]);
    expect(said).toContain('postgres://***@db');
    expect(said).toContain('password=***');
    await until(() => engine.connections.log('evil').includes('postgres://***@db'));
    await engine.close();
    expect(said + engine.connections.log('evil') + home.contents()).not.toMatch(/hunter2|geheim/);
  });
});

describe('a secret written by hand', () => {
  it('is in no answer, error, log, audit line or cache file when a server repeats its bare form', async () => {
    using home = folder();
    const [header, option, query, password, fallback] = Array.from({ length: 5 }, canary);
    const all = [header, option, query, password, fallback].join(' ');
    const log = memoryLog();
    using server = evil({
      era: 'legacy',
      tools: [
        { ...tool, description: `Uses ${all}.` },
        { name: `bad ${all}`, inputSchema: 5 },
      ],
      instructions: `Logged in with ${all}`,
      on: [
        {
          method: 'tools/call',
          do: [{ stderr: `${all}\n` }, { error: { code: -32000, message: `bad ${all}`, data: { why: [all] } } }],
        },
      ],
    });
    const { connection } = entry('evil', server);
    const args = [...connection.args, '--', '--api-key', option, `--at=https://me:${password}@x/?sig=${query}`];
    const env = { AUTH: `Bearer ${header}`, OTHER: `\${NOPE:-${fallback}}` };
    await using engine = engineIn(
      home,
      { servers: [{ name: 'evil', connection: { ...connection, args, env } }], audit: { values: true } },
      { logger: log },
    );
    const found = await engine.find('uses', { waitMs: 20_000 });
    const called = await engine.call({ server: 'evil', tool: 'echo', arguments: { text: all } });
    const cause = called.success ? undefined : (causeOf(called.error) as { message: string; data: unknown });
    expect(cause).toMatchObject({ message: expect.stringContaining('***'), data: { why: [expect.any(String)] } });
    await until(() => engine.connections.log('evil').includes('***'));
    await engine.close();
    expect(log.lines.join()).toContain('left out');
    const said = JSON.stringify([
      found,
      called,
      cause?.message,
      cause?.data,
      engine.connections.log('evil'),
      log.lines,
    ]);
    const kept = home.contents();
    for (const secret of [header, option, query, password, fallback]) {
      expect(said).not.toContain(secret);
      expect(kept).not.toContain(secret);
    }
  });
});

describe('the audit log', () => {
  it('has one line for a success, a refusal and a cancellation', async () => {
    using home = folder();
    using server = evil({
      era: 'legacy',
      tools: ['echo', 'hang', 'delete_all'].map((name) => ({ ...tool, name })),
      on: [{ method: 'tools/call', tool: 'hang', do: [] }],
    });
    await using engine = engineIn(home, {
      servers: [entry('evil', server)],
      toolRules: [{ pattern: ['delete_*'], enabled: false }],
    });
    await engine.call({ server: 'evil', tool: 'evil__echo', traceId: 'one' });
    await engine.call({ server: '', tool: 'evil:delete_all', traceId: 'two' });
    const abort = new AbortController();
    const hanging = engine.call({ server: 'evil', tool: 'hang', traceId: 'three', signal: abort.signal });
    await until(() => server.received('tools/call').length === 2);
    abort.abort();
    expect(await hanging).toMatchObject({ error: { code: 'CANCELLED' } });
    await engine.call({ server: 'nowhere', tool: 'x', traceId: 'four' });
    await engine.close();
    const lines = readFileSync(join(home.path, 'audit', 'audit.jsonl'), 'utf8')
      .trim()
      .split('\n');
    const entries = lines.map((line) => JSON.parse(line));
    expect(entries.map(({ traceId, server: name, tool: called, outcome }) => [traceId, name, called, outcome])).toEqual(
      [
        ['one', 'evil', 'echo', 'success'],
        ['two', 'evil', 'delete_all', 'refused'],
        ['three', 'evil', 'hang', 'cancelled'],
        ['four', 'nowhere', 'x', 'refused'],
      ],
    );
  });

  it('are also the key and the address of the service that search asks', () => {
    const env = { KEY: 'sk-from-the-environment' };
    expect([...secretsOf([], env, { apiKey: '${KEY}', url: 'https://me:hunter2222@host/v1' })].sort()).toEqual([
      'hunter2222',
      'sk-from-the-environment',
    ]);
    expect([...secretsOf([], {}, { apiKey: 'sk-literal-1' })]).toEqual(['sk-literal-1']);
    expect([...secretsOf([], {})]).toEqual([]);
  });
});
