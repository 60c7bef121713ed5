// Proxies in the usual way: the SDK's client towards the given command, the SDK's server towards the agent.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'sdk-proxy', version: '1.0.0' });
await client.connect(new StdioClientTransport({ command, args, stderr: 'inherit' }));

serveStdio(() => {
  const server = new Server({ name: 'sdk-proxy', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => client.listTools());
  server.setRequestHandler('tools/call', ({ params }) => client.callTool(params));
  return server;
});
