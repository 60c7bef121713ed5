// Serves the echo tool over HTTP with as little work as possible, so that what is in front of it shows; prints its
// address on the first line.
import { createServer } from 'node:http';

const TOOL = {
  name: 'echo',
  description: 'Gives back the text it was given.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
};
const RESULTS = {
  initialize: () => ({
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'plain-echo', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: [TOOL] }),
  'tools/call': ({ arguments: args }) => ({ content: [{ type: 'text', text: String(args?.text) }] }),
  ping: () => ({}),
};

const http = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString());
    if (id === undefined) return void response.writeHead(202).end();
    const result = RESULTS[method]?.(params ?? {});
    const answer = result ? { result } : { error: { code: -32601, message: 'Method not found' } };
    const text = JSON.stringify({ jsonrpc: '2.0', id, ...answer });
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
      .end(text);
  });
});
http.keepAliveTimeout = 60_000;
http.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${http.address().port}/mcp\n`));
process.stdin.on('end', () => process.exit()).resume();
