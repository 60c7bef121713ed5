/**
 * An HTTP server where every user has tools of their own, told apart by the header `X-User-ID`: two users work at the
 * same time, and neither finds or calls what is the other's.
 * @module
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { ToolRegistry } from '@anygpt/discovery/registry';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';

const registry = new ToolRegistry();
registry.registerTool('company_news', { description: 'Read the news of the company' }, () => 'Cake at three.');

/** One registry for each user, kept: what it lists is then indexed once. */
const users = new Map();
for (const user of ['anna', 'ben']) {
  const own = new ToolRegistry({ name: `tools of ${user}` });
  own.registerTool(`notes_of_${user}`, { description: 'Read my private notes' }, () => `Secrets of ${user}`);
  own.registerTool('whoami', { description: 'Say whose private tools these are' }, () => user);
  users.set(user, own);
}

// In front of this, something must have checked who the user is. With OAuth, ask request.authInfo instead.
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'per-user', version: '1.0.0' });
  registry.attach(server, { providersFor: (request) => users.get(request.header('X-User-ID')) });
  return server;
});
const http = createServer(toNodeHandler(handler)).listen(0, '127.0.0.1');
await once(http, 'listening');

/** A client that says who it is; without a name it is nobody in particular. */
const connect = async (user) => {
  const headers = user === undefined ? {} : { 'X-User-ID': user };
  const url = new URL(`http://127.0.0.1:${http.address().port}/mcp`);
  const client = new Client({ name: 'client', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return client;
};
const call = (client, name, args) => client.callTool({ name, arguments: args });
const search = async (client, query) => {
  const { content } = await call(client, 'tool_search', { query });
  return JSON.parse(content[0].text).map(({ name }) => name);
};

const [anna, ben, nobody] = await Promise.all(['anna', 'ben', undefined].map(connect));
try {
  for (const [name, client] of Object.entries({ anna, ben, nobody }))
    console.log(`${name.padEnd(6)} finds ${(await search(client, 'private notes')).join(', ') || 'nothing private'}`);

  // Fifty chains of two requests, of both users at the same time.
  const work = Array.from({ length: 50 }, async (_, n) => {
    const [user, other, client] = n % 2 === 0 ? ['anna', 'ben', anna] : ['ben', 'anna', ben];
    const found = await search(client, 'private notes');
    assert.ok(found.includes(`notes_of_${user}`) && !found.includes(`notes_of_${other}`), found.join());
    assert.equal((await call(client, 'execute_tool', { name: 'whoami' })).content[0].text, user);
  });
  await Promise.all(work);

  const stolen = await call(ben, 'execute_tool', { name: 'notes_of_anna' });
  assert.ok(stolen.isError && stolen.content[0].text.includes('TOOL_NOT_FOUND'));
  assert.deepEqual(await search(nobody, 'private notes'), []);
  assert.equal((await call(nobody, 'execute_tool', { name: 'company_news' })).content[0].text, 'Cake at three.');
  console.log('50 chains of two requests side by side, and nothing crossed over');
} finally {
  await Promise.all([anna, ben, nobody].map((client) => client.close()));
  http.close();
  http.closeAllConnections();
}
