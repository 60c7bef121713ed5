/**
 * A server with a thousand tools on stdio (`node 06-thousand-tools.mjs serve`), of which a client reads two; and a client
 * that starts it, finds what it needs and calls it.
 * @module
 */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { ToolRegistry } from '@anygpt/discovery/registry';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

const VERBS = `create read update delete list count export import archive restore
  share copy move rename lock unlock print sign tag watch`.split(/\s+/);
const NOUNS = `invoice contract offer order shipment parcel warehouse supplier customer employee
  shift holiday payslip budget expense receipt meeting room agenda minutes
  ticket bug release server backup certificate domain mailbox newsletter survey
  photo video podcast article translation glossary map route vehicle booking
  recipe menu table reservation allergy patient prescription laboratory insurance claim`.split(/\s+/);

const createRegistry = () => {
  const registry = new ToolRegistry();
  const inputSchema = z.object({ id: z.string().describe('Which one'), note: z.string().optional() });
  for (const verb of VERBS)
    for (const noun of NOUNS) {
      const definition = { name: `${verb}_${noun}`, description: `${verb} the ${noun} with this id`, inputSchema };
      registry.registerTool(definition, ({ id }) => ({ done: `${verb} ${noun} ${id}` }));
    }
  return registry;
};

const serve = () => {
  const registry = createRegistry();
  serveStdio(() => {
    const server = new McpServer({ name: 'thousand', version: '1.0.0' });
    // A client that searches by itself would get them all with mode: 'show-all'.
    registry.attach(server, { about: 'orders, people, machines, media and meals', compact: true });
    return server;
  });
};

const ask = async () => {
  const client = new Client({ name: 'client', version: '1.0.0' });
  const args = [fileURLToPath(import.meta.url), 'serve'];
  await client.connect(new StdioClientTransport({ command: process.execPath, args }));
  try {
    const { tools } = await client.listTools();
    const every = createRegistry().listTools();
    const size = (list) => `${list.length} tools, ${(JSON.stringify(list).length / 1024).toFixed(1)} KiB`;
    console.log(`tools/list is ${size(tools)} in place of ${size(every)}`);
    assert.deepEqual([tools.length, every.length], [2, 1000]);

    for (const [query, expected] of [
      ['sign a contract', 'sign_contract'],
      ['make a copy of the prescription', 'copy_prescription'],
      ['restore_backup', 'restore_backup'],
    ]) {
      const found = await client.callTool({ name: 'tool_search', arguments: { query, max_results: 3 } });
      const hits = JSON.parse(found.content[0].text);
      console.log(`${query.padEnd(32)} ${hits.map(({ name, score }) => `${name} ${score}`).join(', ')}`);
      assert.equal(hits[0].name, expected);
    }

    const call = { name: 'sign_contract', arguments: { id: 'C-7' } };
    const { structuredContent } = await client.callTool({ name: 'execute_tool', arguments: call });
    assert.deepEqual(structuredContent, { done: 'sign contract C-7' });
    console.log(`execute_tool says ${JSON.stringify(structuredContent)}`);
  } finally {
    await client.close();
  }
};

if (process.argv[2] === 'serve') serve();
else await ask();
