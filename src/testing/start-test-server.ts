/**
 * Starts a real MCP server for tests, in this process, on loopback HTTP. Its tools are plain functions.
 * @module
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import type { CallToolResult, JsonSchema, ToolAnnotations } from '../core/types.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** The context of a test tool's call. */
export interface TestToolContext {
  readonly signal: AbortSignal;
  /** Sends a progress notification, if the caller asked for them. */
  progress(progress: number, total?: number, message?: string): Promise<void>;
}

/** One tool of a test server. A returned string becomes one text block; a thrown error becomes `isError`. */
export interface TestTool {
  readonly description?: string | undefined;
  readonly inputSchema?: JsonSchema | undefined;
  readonly outputSchema?: JsonSchema | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  call(
    args: Arguments,
    context: TestToolContext,
  ): string | CallToolResult | undefined | Promise<string | CallToolResult | undefined>;
}

/** The server's identity, and its tools by name. */
export interface TestServerOptions {
  readonly name?: string | undefined;
  readonly title?: string | undefined;
  readonly instructions?: string | undefined;
  readonly tools?: Readonly<Record<string, TestTool>> | undefined;
}

/** A running server; ends with `close` or `await using`. */
export interface TestServer extends AsyncDisposable {
  readonly url: string;
  /** The value of `connection` in a configuration. */
  readonly connection: { readonly type: 'http'; readonly url: string };
  /** The received calls, in order. */
  readonly calls: readonly { readonly tool: string; readonly arguments: Arguments }[];
  /** Replaces the tools and notifies connected clients. */
  setTools(tools: Readonly<Record<string, TestTool>>): void;
  close(): Promise<void>;
}

/**
 * Starts a server on a free port of 127.0.0.1. It speaks protocol 2026-07-28 and, statelessly, the older ones.
 * @example
 * await using server = await startTestServer({ tools: { greet: { call: ({ name }) => `Hello, ${name}!` } } });
 * await using engine = new DiscoveryEngine({ servers: [{ name: 'greeter', connection: server.connection }] });
 */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { name = 'test', title, instructions } = options;
  let tools = new Map(Object.entries(options.tools ?? {}));
  const calls: { tool: string; arguments: Arguments }[] = [];
  const handler = createMcpHandler(() => {
    const server = new Server(
      { name, version: '0.0.0', ...(title !== undefined && { title }) },
      { capabilities: { tools: { listChanged: true } }, ...(instructions !== undefined && { instructions }) },
    );
    server.setRequestHandler('tools/list', async () => ({ tools: [...tools].map(toDefinition) as never }));
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      const args = params.arguments ?? {};
      calls.push({ tool: params.name, arguments: args });
      const progressToken = mcpReq._meta?.progressToken;
      const context: TestToolContext = {
        signal: mcpReq.signal,
        progress: async (progress, total, message) => {
          if (progressToken === undefined) return;
          const note = { progressToken, progress, ...(total !== undefined && { total }), ...(message && { message }) };
          await mcpReq.notify({ method: 'notifications/progress', params: note });
        },
      };
      return (await runTool(tools.get(params.name), params.name, args, context)) as never;
    });
    return server;
  });
  const handle = toNodeHandler(handler);
  const http = createServer((request, response) => void handle(request as never, response));
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject);
    http.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  const close = async () => {
    await handler.close();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  };
  return {
    url,
    connection: { type: 'http', url },
    calls,
    setTools: (next) => {
      tools = new Map(Object.entries(next));
      handler.notify.toolsChanged();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function toDefinition([name, { description, inputSchema, outputSchema, annotations }]: [string, TestTool]) {
  return {
    name,
    inputSchema: inputSchema ?? { type: 'object' },
    ...(description !== undefined && { description }),
    ...(outputSchema && { outputSchema }),
    ...(annotations && { annotations }),
  };
}

async function runTool(
  tool: TestTool | undefined,
  name: string,
  args: Arguments,
  context: TestToolContext,
): Promise<CallToolResult> {
  const text = (value: string) => [{ type: 'text', text: value }];
  if (!tool) return { content: text(`there is no tool "${name}"`), isError: true };
  try {
    const result = await tool.call(args, context);
    return typeof result === 'object' ? result : { content: text(result ?? '') };
  } catch (error) {
    return { content: text(error instanceof Error ? error.message : String(error)), isError: true };
  }
}
