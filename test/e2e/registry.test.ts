/** A registry on servers of the MCP SDK, versions 1 and 2, over stdio and HTTP, driven by clients of both. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Client as V2Client, StreamableHTTPClientTransport as V2Http } from '@modelcontextprotocol/client';
import { StdioClientTransport as V2Stdio } from '@modelcontextprotocol/client/stdio';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as V1Stdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as V1Http } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

const SERVER = fileURLToPath(new URL('../fixtures/registry-server.mjs', import.meta.url));
const KINDS = ['v1-mcp', 'v1-server', 'v2-mcp', 'v2-server'] as const;
type Kind = (typeof KINDS)[number];
const CLIENTS = ['v1', 'v2 legacy', 'v2 modern'] as const;
type ClientKind = (typeof CLIENTS)[number];
type Client = V1Client | V2Client;

/** Version 1 does not know the newest protocol. */
const PAIRS = KINDS.flatMap((server) => CLIENTS.map((client) => [server, client] as const)).filter(
  ([server, client]) => !(server.startsWith('v1') && client === 'v2 modern'),
);

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const changes = new WeakMap<Client, number>();
async function connect(kind: ClientKind, transport: unknown): Promise<Client> {
  let client: Client;
  const changed = () => void changes.set(client, (changes.get(client) ?? 0) + 1);
  if (kind === 'v1') {
    client = new V1Client({ name: 'test', version: '1.0.0' });
    client.setNotificationHandler(ToolListChangedNotificationSchema, changed);
  } else {
    client = new V2Client(
      { name: 'test', version: '1.0.0' },
      {
        versionNegotiation: { mode: kind === 'v2 modern' ? { pin: '2026-07-28' } : 'legacy' },
        listChanged: { tools: { autoRefresh: false, onChanged: changed } },
      },
    );
  }
  await client.connect(transport as never);
  opened.push(() => client.close());
  return client;
}

const overStdio = (server: Kind, kind: ClientKind): Promise<Client> => {
  const parameters = { command: process.execPath, args: [SERVER, server, 'stdio'], stderr: 'ignore' as const };
  return connect(kind, kind === 'v1' ? new V1Stdio(parameters) : new V2Stdio(parameters));
};

const addresses = new Map<Kind, string>();
const processes: ChildProcess[] = [];
const overHttp = (server: Kind, kind: ClientKind, headers: Record<string, string> = {}): Promise<Client> => {
  const url = new URL(addresses.get(server) as string);
  const options = { requestInit: { headers } };
  return connect(kind, kind === 'v1' ? new V1Http(url, options) : new V2Http(url, options));
};
beforeAll(async () => {
  for (const kind of KINDS) {
    const child = spawn(process.execPath, [SERVER, kind, 'http'], { stdio: ['ignore', 'pipe', 'inherit'] });
    processes.push(child);
    addresses.set(
      kind,
      await new Promise((resolve) => child.stdout?.once('data', (data) => resolve(String(data).trim()))),
    );
  }
});
afterAll(() => {
  for (const child of processes) child.kill();
});

interface Result {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}
const call = async (client: Client, name: string, args: Record<string, unknown> = {}, options = {}): Promise<Result> =>
  (client instanceof V1Client
    ? await client.callTool({ name, arguments: args }, undefined, options)
    : await client.callTool({ name, arguments: args }, options)) as unknown as Result;
const textOf = ({ content }: Result): string => content[0]?.text ?? '';
const namesOf = async (client: Client): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);
const search = async (client: Client, query: string): Promise<{ name: string; input_schema: unknown }[]> =>
  JSON.parse(textOf(await call(client, 'tool_search', { query })));

/** What holds whatever the server, the transport and the client. */
async function proveAll(client: Client): Promise<void> {
  expect(await namesOf(client)).toEqual(['own', 'ping', 'tool_search', 'execute_tool']);
  const [hit] = await search(client, 'email');
  expect(hit).toMatchObject({ name: 'send_email', input_schema: { required: ['to'] } });
  expect(textOf(await call(client, 'execute_tool', { name: 'send_email', arguments: { to: 'Ada' } }))).toBe(
    'Email sent to Ada',
  );
  // Visible ones by their names, those of the server as ever, hidden ones also directly.
  expect(textOf(await call(client, 'ping'))).toBe('pong');
  expect(textOf(await call(client, 'own'))).toBe('mine');
  expect(textOf(await call(client, 'send_email', { to: 'Ben' }))).toBe('Email sent to Ben');
  // Failures are results that say what to mend.
  const refused = await call(client, 'execute_tool', { name: 'send_email', arguments: {} });
  expect(refused.isError).toBe(true);
  expect(JSON.parse(textOf(refused)).error).toMatchObject({ code: 'TOOL_VALIDATION_ERROR', tool: 'send_email' });
  const unknown = await call(client, 'execute_tool', { name: 'send_emial' });
  expect(JSON.parse(textOf(unknown)).error).toMatchObject({ code: 'TOOL_NOT_FOUND', suggestions: ['send_email'] });
  // Progress reaches the client.
  const progress: unknown[] = [];
  const onprogress = (note: unknown) => void progress.push(note);
  expect(await call(client, 'execute_tool', { name: 'count_up' }, { onprogress })).toMatchObject({
    structuredContent: { counted: 3 },
  });
  expect(progress).toHaveLength(3);
}

describe.each(PAIRS)('a registry on %s, with a client of %s', (server, kind) => {
  it('finds, lists and runs tools over stdio, and tells when the list changed', async () => {
    const client = await overStdio(server, kind);
    await proveAll(client);
    await call(client, 'execute_tool', { name: 'reveal' });
    await expect.poll(() => changes.get(client), { timeout: 2_000 }).toBe(1);
    expect(await namesOf(client)).toContain('revealed');
    expect(textOf(await call(client, 'revealed'))).toBe('here I am');
  });

  it('finds, lists and runs tools over HTTP, with tools of its own for each user', async () => {
    const [anna, ben, all] = await Promise.all([
      overHttp(server, kind, { 'x-user': 'anna' }),
      overHttp(server, kind, { 'x-user': 'ben' }),
      overHttp(server, kind, { 'x-user': 'cleo', 'x-tools': 'all' }),
    ]);
    await proveAll(anna);
    expect((await search(anna, 'private notes')).map(({ name }) => name)).toContain('notes_of_anna');
    expect((await search(ben, 'notes_of_anna')).map(({ name }) => name)).not.toContain('notes_of_anna');
    expect(textOf(await call(anna, 'execute_tool', { name: 'notes_of_anna' }))).toBe('Notes of anna');
    expect(await call(ben, 'execute_tool', { name: 'notes_of_anna' })).toMatchObject({ isError: true });
    const listed = await namesOf(all);
    expect(listed).toEqual(expect.arrayContaining(['own', 'ping', 'send_email', 'notes_of_cleo']));
    expect(listed).not.toContain('tool_search');
    expect(listed).not.toContain('notes_of_anna');
  });
});

describe('cancelling', () => {
  it.each(KINDS)('reaches the handler on %s', async (server) => {
    const parameters = { command: process.execPath, args: [SERVER, server, 'stdio'], stderr: 'pipe' as const };
    const transport = new V1Stdio(parameters);
    let said = '';
    transport.stderr?.on('data', (data) => {
      said += String(data);
    });
    const client = await connect('v1', transport);
    const controller = new AbortController();
    const running = call(client, 'execute_tool', { name: 'wait' }, { signal: controller.signal });
    running.catch(() => {});
    await expect.poll(() => said, { timeout: 5_000 }).toContain('waiting');
    controller.abort('enough');
    await expect(running).rejects.toThrow();
    await expect.poll(() => said, { timeout: 5_000 }).toContain('cancelled');
  });
});
