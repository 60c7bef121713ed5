// Builds the measured server: one echo tool on the SDK's low-level server, as a plain server has it.
import { Server } from '@modelcontextprotocol/server';

const TOOLS = [
  {
    name: 'echo',
    description: 'Gives back the text it was given.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  },
];

/** Builds one server. */
export const buildEchoServer = () => {
  const server = new Server({ name: 'echo', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools: TOOLS }));
  server.setRequestHandler('tools/call', ({ params }) => ({
    content: [{ type: 'text', text: String(params.arguments?.text) }],
  }));
  return server;
};
