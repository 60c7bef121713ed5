/**
 * The client that the official suites test: an MCP client behind the gateway, which does what a person and an agent do.
 * It logs in where a login is needed, lists everything and uses it.
 *
 *     node conformance-client.mjs URL      with MCP_CONFORMANCE_SCENARIO and MCP_CONFORMANCE_CONTEXT from the suite
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const GATEWAY = fileURLToPath(new URL('../dist/bin/anygpt.js', import.meta.url));
const LOGINS = 3;
const SCOPE = /--scope '([^']+)'/;
/** The rights that the server wants beside those that the client has. */
let scope;

const url = process.argv.at(-1);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const folder = mkdtempSync(join(tmpdir(), 'conformance-client-'));
const config = join(folder, 'config.json');
const env = { ...process.env, ANYGPT_HOME: join(folder, 'home') };

const isMachine = scenario.startsWith('auth/client-credentials');
/** What an operator knows of the server: where its tokens come from. */
const issuerOf = async () => {
  const { origin, pathname } = new URL(url);
  const answer = await fetch(`${origin}/.well-known/oauth-protected-resource${pathname}`);
  return (await answer.json()).authorization_servers[0];
};

const oauth = {
  ...(context.client_id && { clientId: context.client_id }),
  ...(context.client_secret && { clientSecret: context.client_secret }),
  ...(context.private_key_pem && { privateKey: context.private_key_pem, keyAlgorithm: context.signing_algorithm }),
  ...(isMachine && { grant: 'client_credentials', authorizationServer: await issuerOf() }),
  ...(scenario === 'auth/basic-cimd' && { clientMetadataUrl: 'https://conformance-test.local/client-metadata.json' }),
};
const connection = { type: 'http', url, ...(Object.keys(oauth).length > 0 && { oauth }) };
writeFileSync(config, JSON.stringify({ discovery: { servers: [{ name: 'remote', connection }] } }));

/** Logs in as a person would: opens the address that is printed. The page of the suite agrees at once. */
const logIn = (scope) =>
  new Promise((resolve) => {
    const wish = ['--no-browser', ...(scope ? ['--scope', scope] : [])];
    const child = spawn(process.execPath, [GATEWAY, 'mcp', 'login', 'remote', ...wish, '--config', config], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    let opened = false;
    const read = (text) => {
      said += text;
      const address = /https?:\/\/\S*(?:authorize|response_type)\S*/.exec(said)?.[0];
      if (address === undefined || opened || !/\s$/.test(said)) return;
      opened = true;
      fetch(address).catch((error) => process.stderr.write(`${error.message}\n`));
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', (code) => {
      process.stderr.write(said);
      resolve({ isIn: code === 0, again: /Run: anygpt mcp login remote(?: --scope '([^']+)')?/.exec(said) });
    });
  });

/** Arguments that fit a schema. */
const argumentsFor = ({ properties = {} }) =>
  Object.fromEntries(
    Object.entries(properties).map(([name, { type, enum: choices, default: given }]) => {
      if (given !== undefined) return [name, given];
      if (Array.isArray(choices)) return [name, choices[0]];
      if (type === 'number' || type === 'integer') return [name, 5];
      if (type === 'boolean') return [name, true];
      return [name, type === 'object' ? {} : type === 'array' ? [] : 'test'];
    }),
  );

const use = async () => {
  const client = new Client({ name: 'conformance', version: '1' }, { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    const { properties = {} } = params.requestedSchema ?? {};
    return { action: 'accept', content: argumentsFor({ properties }) };
  });
  const args = [GATEWAY, 'mcp', 'serve', '--expose', 'remote', '--config', config];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'inherit' }));
  try {
    const { tools } = await client.listTools();
    const calls =
      context.toolCalls ?? tools.map(({ name, inputSchema }) => ({ name, arguments: argumentsFor(inputSchema) }));
    const refused = [];
    for (const call of calls) {
      const said = await client.callTool(call).then(JSON.stringify, String);
      process.stderr.write(`${call.name}: ${said.slice(0, 300)}\n`);
      if (!said.includes('SERVER_AUTH_REQUIRED')) continue;
      refused.push(call);
      scope = SCOPE.exec(said)?.[1];
    }
    const { prompts = false, resources = false } = client.getServerCapabilities() ?? {};
    if (resources)
      for (const { uri } of (await client.listResources()).resources)
        await client.readResource({ uri }).catch(() => {});
    if (prompts)
      for (const { name, arguments: given = [] } of (await client.listPrompts()).prompts)
        await client
          .getPrompt({ name, arguments: Object.fromEntries(given.map((one) => [one.name, 'test'])) })
          .catch(() => {});
    return refused.length === 0;
  } finally {
    await client.close();
  }
};

let isDone = false;
const needsLogin = scenario.startsWith('auth/') && !isMachine;
for (let attempt = 0; attempt < (needsLogin ? LOGINS : 1) && !isDone; attempt++) {
  const login = needsLogin ? await logIn(scope) : { isIn: true };
  scope = login.again?.[1] ?? undefined;
  // A server may want another login, or one with more rights: the command line says what to type.
  if (!login.isIn && login.again) continue;
  if (!login.isIn) break;
  isDone = await use().catch((error) => {
    process.stderr.write(`${error.message}\n`);
    return false;
  });
}
rmSync(folder, { recursive: true, force: true });
process.exitCode = isDone ? 0 : 1;
