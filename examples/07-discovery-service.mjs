/**
 * Discovers a server that is not configured, writes its tools down, registers them, and calls one through the engine.
 * @module
 */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DiscoveryEngine } from '@anygpt/discovery';

const program = fileURLToPath(new URL('servers/units.mjs', import.meta.url));
const directory = await mkdtemp(join(tmpdir(), 'capabilities-'));

const engine = new DiscoveryEngine({ servers: [] });
const service = engine.service();

// Starts the server, lists its tools, and ends it.
const tools = await service.discoverTools({
  name: 'units',
  connection: { type: 'stdio', command: process.execPath, args: [program] },
});
for (const { id, inputType, domains, categories } of tools) console.log(id, inputType, domains, categories);

// units/convert_length.rtfs and others, for review.
await service.export(tools, { directory });
console.log(await readdir(join(directory, 'units')));

// From now on agents find and call them.
for (const tool of tools) await service.registerCapability(tool);
const [best] = await engine.searchTools('convert a length in kilometres to metres');
const answer = await engine.executeTool(best.server, best.tool, { value: 1, from: 'km', to: 'm' });
console.log(best, answer);

assert.equal(best.tool, 'convert_length');
assert.equal(answer.success, true);
await engine.close();
await rm(directory, { recursive: true });
