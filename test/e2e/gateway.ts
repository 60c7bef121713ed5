/**
 * The gateway as a real child process behind each kind of client, all under one small interface.
 * @module
 */
import { spawn } from 'node:child_process';
import { createMCPClient, ElicitationRequestSchema } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as AiStdio } from '@ai-sdk/mcp/mcp-stdio';
import { Client as V2Client, StreamableHTTPClientTransport as V2Http } from '@modelcontextprotocol/client';
import { StdioClientTransport as V2Stdio } from '@modelcontextprotocol/client/stdio';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as V1Stdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as V1Http } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { BIN, type Sandbox } from './sandbox.ts';

/** The clients: who wrote them, which era they speak, how they reach the gateway. */
export const CLIENT_KINDS = [
  'v1 stdio',
  'v1 http',
  'v2 legacy stdio',
  'v2 legacy http',
  'v2 modern stdio',
  'v2 modern http',
  'v2 auto stdio',
  'ai-sdk stdio',
  'ai-sdk http',
] as const;
export type ClientKind = (typeof CLIENT_KINDS)[number];

/** A result as it came, whatever the client calls its type. */
export interface Result {
  readonly content: readonly { readonly type: string; readonly [key: string]: unknown }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
  readonly [key: string]: unknown;
}

/** What the person behind a client answers. */
export interface Answers {
  /** What the client calls itself. */
  readonly name?: string;
  elicitation?: (params: Record<string, unknown>) => Record<string, unknown> | Promise<Record<string, unknown>>;
  sampling?: (params: Record<string, unknown>) => Record<string, unknown>;
  roots?: () => { uri: string; name?: string }[];
}

export interface CallOptions {
  readonly onProgress?: ((progress: { progress: number; total?: number | undefined }) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The result may hold the secret: the server that owns it was asked for it. */
  readonly secret?: boolean | undefined;
}

/** One client connected to one gateway. */
export interface Agent {
  /** Names of the tools it is shown, in order. */
  toolNames(): Promise<string[]>;
  /** Calls a tool of the gateway. */
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<Result>;
  /** `execute_tool`. */
  execute(server: string, tool: string, args?: Record<string, unknown>, options?: CallOptions): Promise<Result>;
  /** Calls a tool of the gateway and reads the JSON in its one text block. */
  ask(name: string, args?: Record<string, unknown>): Promise<Record<string, unknown>>;
  close(): Promise<void>;
  /** Messages from the gateway as they came in, where the library lets us see them. */
  readonly wire: readonly Message[];
}

/** What came over the wire. */
export interface Message {
  readonly method?: string;
  readonly id?: unknown;
  readonly params?: { readonly progress?: number; readonly [key: string]: unknown };
}

/** What a client library can do; the rest of a story is skipped for it. */
export const abilities = (kind: ClientKind) => ({
  progress: !kind.startsWith('ai-sdk'),
  // @ai-sdk/mcp stops waiting and tells nobody.
  cancel: !kind.startsWith('ai-sdk'),
  elicitation: true,
  samplingAndRoots: !kind.startsWith('ai-sdk'),
});

/** Arguments of `anygpt mcp serve`. */
export const serveArgs = (config: string, ...more: string[]): string[] => [
  BIN,
  'mcp',
  'serve',
  '--config',
  config,
  ...more,
];

/** Starts a gateway on a free port of this machine; it ends with the sandbox. */
export async function serveHttp(sandbox: Sandbox, config: string, ...more: string[]): Promise<URL> {
  const child = spawn(process.execPath, serveArgs(config, '--http', '0', ...more), {
    env: sandbox.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  sandbox.closeLater(async () => {
    child.kill('SIGTERM');
    await exited;
  });
  child.stdout.on('data', (chunk: Buffer) => sandbox.heard(chunk.toString()));
  return new Promise((resolve, reject) => {
    let text = '';
    child.stderr.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      sandbox.heard(chunk.toString());
      const url = /listening on (http:\S+)\n/.exec(text)?.[1];
      if (url !== undefined) resolve(new URL(url));
    });
    child.once('exit', (code) => reject(new Error(`the gateway exited with ${code}: ${text}`)));
  });
}

/** Connects a client of this kind: over HTTP to `url`, else to a gateway it starts itself as its child. */
export async function connect(
  kind: ClientKind,
  sandbox: Sandbox,
  at: URL | readonly string[],
  answers: Answers = {},
): Promise<Agent> {
  const wire: Message[] = [];
  const opened = kind.startsWith('v1')
    ? await connectV1(sandbox, at, answers, wire)
    : kind.startsWith('v2')
      ? await connectV2(kind, sandbox, at, answers, wire)
      : await connectAi(sandbox, at, answers);
  const agent: Agent = {
    toolNames: opened.toolNames,
    call: async (name, args = {}, options = {}) => {
      const result = await opened.call(name, args, options);
      if (!options.secret) sandbox.heard(JSON.stringify(result));
      return result;
    },
    execute: (server, tool, args = {}, options) =>
      agent.call('execute_tool', { server, tool, arguments: args }, options),
    ask: async (name, args) => JSON.parse(textOf(await agent.call(name, args))),
    close: opened.close,
    wire,
  };
  sandbox.closeLater(opened.close);
  return agent;
}

/** The text of the first block. */
export const textOf = (result: Result): string => String(result.content[0]?.text);

/** The error object of a failure of the gateway's own. */
export const errorOf = (result: Result): { code: string; message: string; [key: string]: unknown } => {
  if (result.isError !== true) throw new Error(`this is no failure: ${JSON.stringify(result).slice(0, 500)}`);
  return JSON.parse(textOf(result)).error;
};

type Opened = Pick<Agent, 'toolNames' | 'close'> & {
  call(name: string, args: Record<string, unknown>, options: CallOptions): Promise<Result>;
};

const stdio = (sandbox: Sandbox, args: readonly string[]) => ({
  command: process.execPath,
  args: [...args],
  env: sandbox.env,
  stderr: sandbox.stderrFd as never,
});

const capabilitiesOf = ({ elicitation, sampling, roots }: Answers) => ({
  ...(elicitation && { elicitation: {} }),
  ...(sampling && { sampling: {} }),
  ...(roots && { roots: {} }),
});

/** Listens in on a connected transport. Both SDKs let the last progress note fall if the result comes with it. */
function listenIn(transport: { onmessage?: ((...all: never[]) => void) | undefined }, wire: Message[]): void {
  const inner = transport.onmessage;
  transport.onmessage = (...all: never[]) => {
    wire.push(all[0] as unknown as Message);
    inner?.(...all);
  };
}

async function connectV1(
  sandbox: Sandbox,
  at: URL | readonly string[],
  answers: Answers,
  wire: Message[],
): Promise<Opened> {
  const client = new V1Client(
    { name: answers.name ?? 'e2e-v1', version: '1' },
    { capabilities: capabilitiesOf(answers) },
  );
  const { elicitation, sampling, roots } = answers;
  if (elicitation)
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => (await elicitation(params)) as never);
  if (sampling) client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => sampling(params) as never);
  if (roots) client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: roots() }));
  const transport = at instanceof URL ? new V1Http(at) : new V1Stdio(stdio(sandbox, at));
  await client.connect(transport as never);
  listenIn(transport as never, wire);
  return {
    toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args, { onProgress, signal }) =>
      (await client.callTool({ name, arguments: args }, undefined, {
        ...(onProgress && { onprogress: onProgress }),
        ...(signal && { signal }),
      })) as Result,
    close: () => client.close(),
  };
}

async function connectV2(
  kind: ClientKind,
  sandbox: Sandbox,
  at: URL | readonly string[],
  answers: Answers,
  wire: Message[],
): Promise<Opened> {
  const mode = kind.includes('modern') ? { pin: '2026-07-28' } : kind.includes('auto') ? 'auto' : 'legacy';
  const client = new V2Client(
    { name: answers.name ?? 'e2e-v2', version: '1' },
    { capabilities: capabilitiesOf(answers), versionNegotiation: { mode } as never },
  );
  const { elicitation, sampling, roots } = answers;
  if (elicitation)
    client.setRequestHandler('elicitation/create', async ({ params }) => (await elicitation(params as never)) as never);
  if (sampling) client.setRequestHandler('sampling/createMessage', ({ params }) => sampling(params as never) as never);
  if (roots) client.setRequestHandler('roots/list', () => ({ roots: roots() }));
  const transport = at instanceof URL ? new V2Http(at) : new V2Stdio(stdio(sandbox, at));
  await client.connect(transport);
  listenIn(transport as never, wire);
  const era = mode === 'legacy' ? 'legacy' : 'modern';
  if (client.getProtocolEra() !== era) throw new Error(`expected the ${era} era, got ${client.getProtocolEra()}`);
  return {
    toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args, { onProgress, signal }) =>
      (await client.callTool(
        { name, arguments: args },
        { ...(onProgress && { onprogress: onProgress }), ...(signal && { signal }) },
      )) as Result,
    close: () => client.close(),
  };
}

async function connectAi(sandbox: Sandbox, at: URL | readonly string[], { elicitation }: Answers): Promise<Opened> {
  const client = await createMCPClient({
    transport: at instanceof URL ? { type: 'http', url: at.href } : new AiStdio(stdio(sandbox, at)),
    ...(elicitation && { capabilities: { elicitation: {} } }),
  });
  if (elicitation)
    client.onElicitationRequest(
      ElicitationRequestSchema,
      async ({ params }) => (await elicitation(params as never)) as never,
    );
  const tools = await client.tools();
  return {
    toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args, { signal }) =>
      (await tools[name]?.execute(args, {
        toolCallId: '1',
        messages: [],
        ...(signal && { abortSignal: signal }),
      })) as unknown as Result,
    close: () => client.close(),
  };
}
