/**
 * The quick start of docs/library.md: an MCP server whose tools are found by searching, and what a client sees of it.
 * @module
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { ToolRegistry } from '@anygpt/discovery/registry';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';

const registry = new ToolRegistry();

// Hidden from tools/list. The handler's arguments have the types of the schema.
registry.registerTool(
  'send_email',
  {
    description: 'Send an email to a recipient',
    inputSchema: z.object({
      to: z.string().describe('Recipient email'),
      subject: z.string().describe('Email subject'),
      body: z.string().describe('Email body'),
    }),
    keywords: ['communication', 'smtp'], // further words it is found by
  },
  ({ to }) => `Email sent to ${to}`,
);

// Listed as usual, beside tool_search and execute_tool.
registry.registerTool('ping', { description: 'Answer at once', visible: true }, () => 'pong');

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'my-server', version: '1.0.0' });
  registry.attach(server);
  return server;
});
const http = createServer(toNodeHandler(handler)).listen(Number(process.env.PORT ?? 3000), '127.0.0.1');

// What a client sees.
await once(http, 'listening');
const client = new Client({ name: 'client', version: '1.0.0' });
try {
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${http.address().port}/mcp`)));

  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['ping', 'tool_search', 'execute_tool'],
  );

  const found = await client.callTool({ name: 'tool_search', arguments: { query: 'smtp', max_results: 3 } });
  const [hit] = JSON.parse(found.content[0].text);
  assert.equal(hit.name, 'send_email');
  assert.ok(hit.score >= 0.85, 'a keyword');
  assert.deepEqual(hit.input_schema.required, ['to', 'subject', 'body']);
  console.log(`tool_search   ${hit.name} ${hit.score} ${Object.keys(hit.input_schema.properties)}`);

  const email = { to: 'ada@example.com', subject: 'Hello', body: 'World' };
  const sent = await client.callTool({ name: 'execute_tool', arguments: { name: hit.name, arguments: email } });
  assert.equal(sent.content[0].text, 'Email sent to ada@example.com');
  console.log(`execute_tool  ${sent.content[0].text}`);
} finally {
  await client.close();
  http.close();
  http.closeAllConnections();
}
