/**
 * Canaries: a real gateway with a secret in every place a configuration can hold one, servers that repeat all of them
 * wherever a server can speak, and a search for every one of them in everything the gateway said and wrote.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runBinary } from '../fixtures/cli.ts';
import { type Served, serve } from '../fixtures/connections/harness.ts';
import { type Evil, type EvilHttp, evil, evilHttp } from '../fixtures/evil.ts';
import { RawGateway } from './raw-gateway.ts';
import { Sandbox, until } from './sandbox.ts';

const random = () => randomBytes(15).toString('hex');
/** One secret for every place, each found nowhere else. */
const CANARIES = {
  variable: random(),
  unnamed: `x${randomBytes(18).toString('base64url')}9f8e7d6c5b4a3928`,
  literal: `p.ss-${random()}`,
  short: `s3k${randomBytes(4).toString('hex')}`,
  inherited: random(),
  positional: `ghp_${randomBytes(18).toString('hex')}`,
  option: random(),
  shortOption: `pw${random()}`,
  dsn: `D5n${random()}`,
  argument: random(),
  fallback: random(),
  file: `kept ${random()} in a file`,
  envFile: random(),
  proxy: random(),
  header: random(),
  headerLiteral: random(),
  basic: random(),
  path: random(),
  query: random(),
  password: random(),
  bearer: random(),
} as const;
const canaries: readonly string[] = Object.values(CANARIES);
const encoded = (value: string): string[] => [
  value,
  Buffer.from(value).toString('base64'),
  Buffer.from(`x:${value}`).toString('base64url'),
  Buffer.from(value).toString('hex'),
  encodeURIComponent(value),
  JSON.stringify(value),
];
/** The same with something inside that whoever cleans a text takes out. */
const INSIDE = ['\u200b', '\u001b[1m', '\u2800', '**', '\u{e0041}', '\u00ad', '\u001b(B'];
const hidden = canaries.map((value, at) => value.slice(0, 6) + INSIDE[at % INSIDE.length] + value.slice(6));
const all = [...hidden, ...canaries].join(' ');
const forms = canaries.flatMap(encoded).join('\n');
/** Longer than any cut, with a secret wherever a cut may fall. */
const long = Array.from({ length: 60 }, (_, at) => `${'.'.repeat(at)} ${all}`).join(' ');

const files = mkdtempSync(join(tmpdir(), 'canaries-'));
const tool = (name: string) => ({
  name,
  title: `Uses ${all}`,
  description: `Uses ${long}`,
  inputSchema: {
    type: 'object',
    description: all,
    properties: { text: { type: 'string', description: long, default: canaries[0], examples: [all] } },
  },
  annotations: { title: all },
});
const failure = { code: -32000, message: `bad ${long}`, data: { why: [all, { deep: forms }] } };
const scenario = {
  era: 'legacy',
  instructions: `Logged in with ${all}`,
  tools: [...['fails', 'says', 'reports', 'dies', 'noisy'].map(tool), { ...tool(`bad ${all}`), inputSchema: 5 }],
  start: [{ do: [{ stderr: `started with ${long}\n${forms}\n` }] }],
  on: [
    { method: 'tools/call', tool: 'fails', do: [{ error: failure }] },
    {
      method: 'tools/call',
      tool: 'says',
      do: [{ result: { isError: true, content: [{ type: 'text', text: long }], structuredContent: { why: all } } }],
    },
    {
      method: 'tools/call',
      tool: 'reports',
      do: [
        {
          notify: {
            method: 'notifications/progress',
            params: { progressToken: '$progressToken', progress: 1, message: long },
          },
        },
        { notify: { method: 'notifications/message', params: { level: 'error', logger: 'x', data: { all, forms } } } },
        { result: { content: [{ type: 'text', text: 'done' }] } },
      ],
    },
    {
      method: 'tools/call',
      tool: 'noisy',
      do: [{ raw: `${long}\n${long}\n` }, { stderr: long, repeat: 5 }, { stderr: '\n' }, { result: { content: [] } }],
    },
    { method: 'tools/call', tool: 'dies', do: [{ stderr: `Error: ${long}\n` }, { exit: 1 }] },
    { method: 'prompts/list', do: [{ error: failure }] },
  ],
} as const;

class World extends Sandbox {
  override get env(): Record<string, string> {
    return {
      ...super.env,
      MY_TOKEN: CANARIES.variable,
      ANYTHING: CANARIES.unnamed,
      INHERITED: CANARIES.inherited,
      ARGUMENT: CANARIES.argument,
      HEADER: CANARIES.header,
      FAR_MCP_TOKEN: CANARIES.bearer,
      HTTP_PROXY: `http://me:${CANARIES.proxy}@127.0.0.1:9`,
      NO_PROXY: '*',
    };
  }
}

let local: Evil;
let remote: EvilHttp;
let broken: Served;
beforeAll(async () => {
  local = evil(scenario);
  remote = await evilHttp(scenario);
  broken = await serve((request, response) => {
    const redirects = request.url?.startsWith('/away') ?? false;
    if (redirects) response.writeHead(307, { location: `http://x/?key=${CANARIES.path}` }).end();
    else response.writeHead(500, { 'content-type': 'text/plain' }).end(`no: ${all} ${long}`);
  });
});
afterAll(async () => {
  local[Symbol.dispose]();
  await remote[Symbol.asyncDispose]();
  await broken[Symbol.asyncDispose]();
  rmSync(files, { recursive: true, force: true });
});

function writeConfig(): string {
  writeFileSync(join(files, 'secret'), `${CANARIES.file}\n`);
  writeFileSync(join(files, '.env'), `SOME_KEY=${CANARIES.envFile}\n`);
  const stdio = (args: readonly string[]) => ({
    type: 'stdio',
    command: process.execPath,
    args: [
      ...args,
      '--',
      CANARIES.positional,
      `-p${CANARIES.shortOption}`,
      '--api-key',
      CANARIES.option,
      `--dsn=Server=db;Password=${CANARIES.dsn};Port=1`,
      '--other=${ARGUMENT}',
    ],
    env: {
      TOKEN: '${MY_TOKEN}',
      OTHER: '${ANYTHING}',
      LITERAL: CANARIES.literal,
      SHORT_TOKEN: CANARIES.short,
      DEFAULT: `\${NOT_SET:-${CANARIES.fallback}}`,
      FROM_FILE: `\${file:${files}/secret}`,
      FROM_ENV_FILE: `\${envFile:${files}/.env#SOME_KEY}`,
    },
    inheritEnv: ['INHERITED'],
  });
  const far = (origin: string) => {
    const url = new URL(`${origin}/mcp/../mcp`);
    url.searchParams.set('api_key', CANARIES.query);
    url.searchParams.set('to', `https://x/api/${CANARIES.path}/y`);
    url.username = 'me';
    url.password = CANARIES.password;
    return {
      type: 'http',
      url: String(url),
      headers: {
        'X-Key': '${HEADER}',
        'X-Other': CANARIES.headerLiteral,
        'X-Basic': `Basic ${Buffer.from(`me:${CANARIES.basic}`).toString('base64')}`,
      },
      auth: 'env',
    };
  };
  // A loaded machine answers late.
  const patient = { timeouts: { connect: 30_000 } };
  const dying = ['-e', `console.error(${JSON.stringify(`Error: ${long}`)}); process.exit(3)`];
  const config = {
    servers: [
      { name: 'near', connection: stdio(local.args) },
      { name: 'far', connection: far(remote.origin), ...patient },
      { name: 'path', ...patient, connection: { type: 'http', url: `${broken.origin}/api/${CANARIES.path}/mcp` } },
      { name: 'away', ...patient, connection: { type: 'http', url: `${broken.origin}/away?code=${CANARIES.path}` } },
      { name: 'dead', connection: stdio(dying) },
    ],
    audit: { values: true },
    retry: { attempts: 0 },
  };
  const path = join(files, 'discovery.json');
  writeFileSync(path, JSON.stringify(config));
  return path;
}

/** Where a secret, or half of one, is found. */
function leaksIn(text: string): string[] {
  return Object.entries(CANARIES).flatMap(([place, value]) => {
    const whole = encoded(value).slice(0, -1);
    const cut = Buffer.from(value).toString('base64').slice(0, -4);
    // Half of one is one, too; words around a random core are none.
    const core = /[0-9a-f]{16,}/.exec(value)?.[0] ?? value;
    const pieces = Array.from({ length: Math.max(0, core.length - 11) }, (_, at) => core.slice(at, at + 12));
    return [...whole, cut, ...pieces]
      .filter((form) => text.includes(form))
      .map(
        (form) =>
          `${place} as ${form}: …${text.slice(Math.max(0, text.indexOf(form) - 300), text.indexOf(form) + 60)}…`,
      );
  });
}

it('no canary of a configuration is in anything the gateway wrote', async () => {
  await using sandbox = new World();
  const config = writeConfig();
  const gateway = new RawGateway(sandbox, config, '--log-level', 'debug');
  await gateway.initialize();
  const ask = (name: string, args: object = {}) => gateway.request('tools/call', { name, arguments: args });
  await ask('search_tools', { query: 'uses text' });
  await ask('list_mcp_servers');
  for (const server of ['near', 'far', 'path', 'away', 'dead']) await ask('list_tools', { server });
  await ask('get_tool_details', { server: 'near', tool: 'fails' });
  for (const server of ['near', 'far']) {
    for (const name of ['fails', 'says', 'noisy', 'reports', 'no_such_tool', 'dies']) {
      const { params = {} } = {
        params: RawGateway.execute(server, name, { text: `${all} ${long}`, [canaries[3] as string]: all }),
      };
      await gateway.request('tools/call', { ...params, _meta: { progressToken: `p-${name}` } });
    }
  }
  await ask('list_mcp_servers');
  await gateway.end();
  // Not in a row: most of their time is the start of a process.
  const commands = [
    ['logs', 'near'],
    ['logs', 'dead'],
    ['list', '--status'],
    ['execute', 'near', 'fails'],
    ['execute', 'far', 'fails'],
    ['doctor'],
    ['list', '--json'],
    ['search', 'uses', '--json'],
    ['inspect', 'near', 'fails', '--json'],
    ['inspect', 'near', 'fails'],
    ['config', 'show'],
    ['config', 'show', '--json'],
    ['config', 'validate'],
    ['execute', 'near', 'says', '--json'],
    ['execute', 'near', 'reports'],
  ].map(async (args) => {
    const { out, err } = await runBinary([...args, '--config', config], { cwd: sandbox.folder, env: sandbox.env });
    return `${out}${err}`;
  });
  const said = [gateway.lines.join('\n'), gateway.stderr, ...(await Promise.all(commands))];
  const kept = readdirSync(sandbox.home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => ({ name: entry.name, text: readFileSync(join(entry.parentPath, entry.name), 'latin1') }));
  // What was looked for was really said.
  expect(kept.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['audit.jsonl', expect.stringMatching(/^near-.*\.log$/)]),
  );
  expect(said[0]).toContain('bad  ***');
  expect(said[0]).toContain('HTTP 500: no: ***');
  expect(said[0]).toContain('redirects to http://x/?key=***');
  expect(said[2]).toContain('***');
  expect(said[3]).toContain('***');
  expect(said[4]).toContain('HTTP 500: no: ***');
  expect(leaksIn([...said, ...kept.map(({ text }) => text)].join('\n')).slice(0, 5)).toEqual([]);
}, 120_000);

it('no canary is in what a server shown as it is says of errors', async () => {
  await using sandbox = new World();
  const gateway = new RawGateway(sandbox, writeConfig(), '--expose', 'near');
  await gateway.initialize();
  await gateway.request('tools/list');
  for (const name of ['fails', 'says', 'reports'])
    await gateway.request('tools/call', { name, arguments: {}, _meta: { progressToken: name } });
  await gateway.request('prompts/list');
  await until('a log line', () => gateway.frames.length > 4);
  await gateway.end();
  const said = gateway.lines.join('\n') + gateway.stderr;
  expect(said).toContain('***');
  expect(leaksIn(said).slice(0, 5)).toEqual([]);
}, 60_000);
