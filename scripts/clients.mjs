/**
 * Connects real MCP clients to the gateway over HTTP, with a token, and prints a table of what works: connect, list the
 * five tools, search and execute, answer a question of a server.
 *
 *     node scripts/clients.mjs [--only NAME]... [--replicas N] [--json]
 *
 * With --replicas, N gateways on one Redis take turns. The clients are installed under .conformance/ (needs the npm registry). Exits 1 if one of them fails, 2 when it cannot
 * run.
 * @module
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { createMCPClient } from '@ai-sdk/mcp';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { startRedis, startReplicas } from '../bench/parts/replica-set.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const HOME = join(ROOT, '.conformance');
const GATEWAY = join(ROOT, 'dist/bin/anygpt.js');
const EVERYTHING = join(ROOT, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const RUN_MS = 60_000;
const run = promisify(execFile);

/** Versions that run on Node 20; the inspector gets a newer one. */
const PACKAGES = {
  clients: [
    '@langchain/mcp-adapters@1.1.4',
    '@langchain/core@1.2.13',
    '@langchain/langgraph@1.4.10',
    '@openai/agents@0.20.0',
    'zod@4',
    'mcporter@0.9.0',
    'mcp-remote@0.15.1',
  ],
  inspector: ['@modelcontextprotocol/inspector@2.12.0'],
  node: [`node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}@22.23.3`],
};

const stop = (message) => {
  process.stderr.write(`clients: ${message}\n`);
  process.exit(2);
};
const say = (message) => process.stderr.write(`${message}\n`);

/** Installs packages into a folder of their own, unless they are there. Returns the folder. */
const install = (folder) => {
  const prefix = join(HOME, folder);
  const wanted = PACKAGES[folder];
  const mark = join(prefix, 'installed.json');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === JSON.stringify(wanted)) return prefix;
  say(`installing ${wanted.join(', ')} …`);
  mkdirSync(prefix, { recursive: true });
  const args = ['install', '--prefix', prefix, '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  const done = spawnSync('npm', [...args, ...wanted], {
    cwd: prefix,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (done.status !== 0) stop('npm could not install the clients; is the registry reachable?');
  writeFileSync(mark, JSON.stringify(wanted));
  return prefix;
};

/** Imports a package of another folder. */
const importFrom = (prefix, name) =>
  import(pathToFileURL(createRequire(join(prefix, 'package.json')).resolve(name)).href);

/** Starts the gateway with a token. */
const startGateway = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'clients-'));
  const config = join(folder, 'config.json');
  const connection = { type: 'stdio', command: process.execPath, args: [EVERYTHING] };
  const servers = [{ name: 'everything', description: 'The reference server', connection }];
  writeFileSync(config, JSON.stringify({ discovery: { servers } }));
  const home = join(folder, 'home');
  const env = { ...process.env, ANYGPT_HOME: home };
  const made = await run(process.execPath, [GATEWAY, 'mcp', 'token', 'create', '--name', 'clients', '--json'], { env });
  const { token } = JSON.parse(made.stdout);
  if (values.replicas) {
    const redis = await startRedis();
    const all = await startReplicas({ count: Number(values.replicas), redis, config: { servers }, home });
    const close = () => all.close().then(() => redis.close());
    return { url: all.address, token, folder, close };
  }
  const args = [GATEWAY, 'mcp', 'serve', '--http', '0', '--config', config];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  const url = await new Promise((resolve, reject) => {
    child.stderr.on('data', (text) => {
      said += text;
      const found = /https?:\/\/\S+\/mcp/.exec(said)?.[0];
      if (found) resolve(found);
    });
    child.once('exit', () => reject(new Error(`the gateway did not start: ${said}`)));
  });
  return {
    url,
    token,
    folder,
    close: () => {
      child.kill('SIGTERM');
      child.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    },
  };
};

const SEARCH = { query: 'echo back a message' };
const ECHO = { server: 'everything', tool: 'echo', arguments: { message: 'hello' } };
const ASK = { server: 'everything', tool: 'trigger-elicitation-request', arguments: {} };
const FIVE = ['search_tools', 'get_tool_details', 'execute_tool', 'list_tools', 'list_mcp_servers'];

const hasFive = (names) => FIVE.every((name) => names.includes(name)) && names.length === FIVE.length;
const says = (result, words) => JSON.stringify(result).includes(words);
const accept = async () => ({
  action: 'accept',
  content: { name: 'Ada', check: true, color: '#f00', email: 'a@example.com' },
});

/** What a client with the interface of the SDKs does. */
const throughSdk = async (client, asks) => ({
  lists: hasFive((await client.listTools()).tools.map(({ name }) => name)),
  executes:
    says(await client.callTool({ name: 'search_tools', arguments: SEARCH }), 'echo') &&
    says(await client.callTool({ name: 'execute_tool', arguments: ECHO }), 'Echo: hello'),
  ...(asks && { asks: says(await client.callTool({ name: 'execute_tool', arguments: ASK }), 'provided') }),
});

const sdk =
  (mode) =>
  async ({ url, headers }) => {
    const client = new Client(
      { name: 'clients', version: '1' },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } },
    );
    client.setRequestHandler('elicitation/create', accept);
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    return throughSdk(client, true).finally(() => client.close());
  };

const oldSdk = async (transport) => {
  const client = new OldClient({ name: 'clients', version: '1' }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, accept);
  await client.connect(transport);
  return throughSdk(client, true).finally(() => client.close());
};

const CLIENTS = {
  'SDK 1.32': ({ url, headers }) => oldSdk(new OldTransport(new URL(url), { requestInit: { headers } })),
  'SDK 2.4, 2025-11-25': sdk('legacy'),
  'SDK 2.4, 2026-07-28': sdk({ pin: '2026-07-28' }),
  '@ai-sdk/mcp 1.0.101': async ({ url, headers }) => {
    const client = await createMCPClient({
      transport: { type: 'http', url, headers },
      capabilities: { elicitation: {} },
    });
    const { ElicitationRequestSchema } = await import('@ai-sdk/mcp');
    client.onElicitationRequest(ElicitationRequestSchema, accept);
    const tools = await client.tools();
    const call = (name, args) => tools[name].execute(args, { messages: [], toolCallId: '1' });
    const result = {
      lists: hasFive(Object.keys(tools)),
      executes:
        says(await call('search_tools', SEARCH), 'echo') && says(await call('execute_tool', ECHO), 'Echo: hello'),
      asks: says(await call('execute_tool', ASK), 'provided'),
    };
    await client.close();
    return result;
  },
  '@langchain/mcp-adapters 1.1.4': async ({ url, headers, clients }) => {
    const { MultiServerMCPClient } = await importFrom(clients, '@langchain/mcp-adapters');
    const client = new MultiServerMCPClient({ mcpServers: { gateway: { transport: 'http', url, headers } } });
    const tools = await client.getTools();
    const call = (name, args) => tools.find((tool) => tool.name === name).invoke(args);
    const result = {
      lists: hasFive(tools.map(({ name }) => name)),
      executes:
        says(await call('search_tools', SEARCH), 'echo') && says(await call('execute_tool', ECHO), 'Echo: hello'),
    };
    await client.close();
    return result;
  },
  '@openai/agents 0.20.0': async ({ url, headers, clients }) => {
    const { MCPServerStreamableHttp } = await importFrom(clients, '@openai/agents');
    const server = new MCPServerStreamableHttp({ url, name: 'gateway', requestInit: { headers } });
    await server.connect();
    const result = {
      lists: hasFive((await server.listTools()).map(({ name }) => name)),
      executes:
        says(await server.callTool('search_tools', SEARCH), 'echo') &&
        says(await server.callTool('execute_tool', ECHO), 'Echo: hello'),
    };
    await server.close();
    return result;
  },
  'mcporter 0.9.0': async ({ url, headers, clients, folder }) => {
    const config = join(folder, 'mcporter.json');
    writeFileSync(config, JSON.stringify({ mcpServers: { gateway: { baseUrl: url, headers } }, imports: [] }));
    const bin = join(clients, 'node_modules/mcporter/dist/cli.js');
    const call = async (...args) =>
      (await run(process.execPath, [bin, '--config', config, ...args], { timeout: RUN_MS, cwd: folder })).stdout;
    const listed = await call('list', 'gateway', '--json');
    const execute = JSON.stringify(ECHO);
    return {
      lists: FIVE.every((name) => listed.includes(name)),
      executes:
        (await call('call', 'gateway.search_tools', '--args', JSON.stringify(SEARCH))).includes('echo') &&
        (await call('call', 'gateway.execute_tool', '--args', execute)).includes('Echo: hello'),
    };
  },
  'inspector 2.12.0 (CLI)': async ({ url, headers, inspector, node }) => {
    const manifest = JSON.parse(
      readFileSync(join(inspector, 'node_modules/@modelcontextprotocol/inspector/package.json'), 'utf8'),
    );
    const bin = join(inspector, 'node_modules/@modelcontextprotocol/inspector', Object.values(manifest.bin)[0]);
    const call = async (...args) => {
      const all = [
        bin,
        '--cli',
        url,
        '--transport',
        'http',
        '--header',
        `Authorization: ${headers.Authorization}`,
        ...args,
      ];
      return (await run(node, all, { timeout: RUN_MS })).stdout;
    };
    const search = ['--method', 'tools/call', '--tool-name', 'search_tools', '--tool-arg', `query=${SEARCH.query}`];
    const execute = ['--method', 'tools/call', '--tool-name', 'execute_tool', '--tool-arg'];
    const args = ['server=everything', 'tool=echo', `arguments=${JSON.stringify(ECHO.arguments)}`];
    const listed = await call('--method', 'tools/list');
    return {
      lists: FIVE.every((name) => listed.includes(name)),
      executes: (await call(...search)).includes('echo') && (await call(...execute, ...args)).includes('Echo: hello'),
    };
  },
  'mcp-remote 0.15.1': async ({ url, headers, clients, folder }) => {
    const bin = join(clients, 'node_modules/mcp-remote/dist/proxy.js');
    const args = [
      bin,
      url,
      '--header',
      `Authorization:${headers.Authorization}`,
      '--allow-http',
      '--transport',
      'http-only',
    ];
    const env = { ...process.env, MCP_REMOTE_CONFIG_DIR: join(folder, 'mcp-remote') };
    return oldSdk(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }));
  },
};

const within = (work, name) => {
  let timer;
  const overdue = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} took longer than ${RUN_MS / 1000} s`)), RUN_MS);
  });
  return Promise.race([work, overdue]).finally(() => clearTimeout(timer));
};

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    replicas: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const chosen = Object.entries(CLIENTS).filter(
  ([name]) => values.only === undefined || values.only.some((one) => name.includes(one)),
);
if (chosen.length === 0) stop(`--only takes a part of ${Object.keys(CLIENTS).join(', ')}`);
if (!existsSync(GATEWAY)) stop(`${GATEWAY} is missing; run "npm run build" first`);
const folders = { clients: install('clients'), inspector: install('inspector') };
const isNew = Number(process.versions.node.split('.')[0]) >= 22;
const [node] = PACKAGES.node[0].split('@');
const newer = isNew
  ? process.execPath
  : join(install('node'), 'node_modules', node, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');

const gateway = await startGateway().catch((error) => stop(error.message));
const rows = [];
for (const [name, use] of chosen) {
  say(`${name} …`);
  const headers = { Authorization: `Bearer ${gateway.token}` };
  try {
    const outcome = await within(
      use({ url: gateway.url, headers, folder: gateway.folder, node: newer, ...folders }),
      name,
    );
    rows.push({ client: name, connects: true, ...outcome });
  } catch (error) {
    rows.push({ client: name, connects: false, why: String(error.message).split('\n')[0].slice(0, 300) });
  }
}
await gateway.close();
const cell = (value) => (value === undefined ? '–' : value ? 'yes' : 'NO');
if (values.json) process.stdout.write(`${JSON.stringify({ clients: rows }, null, 2)}\n`);
else {
  const table = [
    ['client', 'connects', 'five tools', 'search, execute', 'elicitation'],
    ...rows.map((row) => [row.client, cell(row.connects), cell(row.lists), cell(row.executes), cell(row.asks)]),
  ];
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)));
  for (const row of table)
    process.stdout.write(
      `${row
        .map((text, at) => text.padEnd(widths[at]))
        .join('  ')
        .trimEnd()}\n`,
    );
  for (const { client, why } of rows) if (why) process.stdout.write(`${client}: ${why}\n`);
}
process.exitCode = rows.every(({ connects, lists, executes, asks }) => connects && lists && executes && asks !== false)
  ? 0
  : 1;
