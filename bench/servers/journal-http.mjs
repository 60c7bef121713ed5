// Serves three tools over HTTP and writes down the id of every call it executes: `note` answers at once, `slow` after
// up to 300 ms, `lame` breaks the connection of every fifth call after executing it. GET /journal returns the ids.
import { createServer } from 'node:http';

const journal = [];
const inputSchema = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] };
const tools = ['note', 'slow', 'lame'].map((name) => ({ name, description: `Notes an id (${name}).`, inputSchema }));
let lists = 0;
const RESULTS = {
  initialize: () => ({
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'journal', version: '1.0.0' },
  }),
  'tools/list': () => {
    lists += 1;
    return { tools };
  },
  'tools/call': ({ arguments: args }) => {
    journal.push(args.id);
    return { content: [{ type: 'text', text: JSON.stringify({ id: args.id }) }] };
  },
  ping: () => ({}),
};

const http = createServer((request, response) => {
  if (request.url === '/journal') return void response.end(journal.join('\n'));
  if (request.url === '/lists') return void response.end(String(lists));
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString());
    if (id === undefined) return void response.writeHead(202).end();
    const result = RESULTS[method]?.(params ?? {});
    const answer = result ? { result } : { error: { code: -32601, message: 'Method not found' } };
    const text = JSON.stringify({ jsonrpc: '2.0', id, ...answer });
    const head = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const say = () => void response.writeHead(200, head).end(text);
    if (method !== 'tools/call') return say();
    if (params.name === 'lame' && journal.length % 5 === 0) return void response.destroy();
    if (params.name === 'slow') setTimeout(say, Math.random() * 300);
    else say();
  });
});
http.keepAliveTimeout = 60_000;
http.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${http.address().port}/mcp\n`));
process.stdin.on('end', () => process.exit()).resume();
