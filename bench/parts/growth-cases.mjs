// Defines ways to give the package many sources of tools, each as a function of their number. bench:registry times
// them, and test/growth.test.ts counts the work.
import { Catalog } from '../../dist/catalog/catalog.js';
import { DiscoveryEngine } from '../../dist/index.js';
import { ToolRegistry, UnifiedToolRegistry } from '../../dist/registry.js';
import { RuleSet } from '../../dist/rules/decide.js';
import { ToolPolicy } from '../../dist/rules/tool-policy.js';
import { SearchEngine } from '../../dist/search/search-engine.js';
import { memoryFetch, memoryUrl } from '../../test/fixtures/memory-fetch.mjs';

const TOOLS = 10;
const OWN_TOOLS = 400;

const toolsOf = (server) =>
  Array.from({ length: TOOLS }, (_, at) => ({
    name: `tool_${at}`,
    description: `Reads record ${at} of archive ${server} and sends it by mail`,
    inputSchema: {
      type: 'object',
      properties: { path: { type: 'string', description: 'Where it lies' }, limit: { type: 'integer' } },
      required: ['path'],
    },
  }));

const namesOf = (count) => Array.from({ length: count }, (_, at) => `server_${at}`);

const ownToolsOf = (server) => toolsOf(server).map((tool) => ({ ...tool, name: `${server}_${tool.name}` }));

/** An engine over servers that answer at once, within the process. */
const engineOf = (names) =>
  new DiscoveryEngine(
    {
      servers: names.map((name, at) => ({ name, connection: { type: 'http', url: memoryUrl(at) } })),
      search: { meaning: false, phrases: false },
    },
    {
      env: {},
      background: false,
      fetch: memoryFetch((at, method) => (method === 'tools/list' ? { tools: toolsOf(names[at]) } : { content: [] })),
    },
  );

export const growthCases = {
  'registerMcpTools, then all definitions': async (count) => {
    const registry = new UnifiedToolRegistry();
    for (const server of namesOf(count)) registry.registerMcpTools(server, toolsOf(server));
    return registry.getToolDefinitions().length;
  },
  'a first call to each server': async (count) => {
    const names = namesOf(count);
    const engine = engineOf(names);
    const registry = new UnifiedToolRegistry({ servers: engine });
    for (const server of names) await registry.callTool(`${server}__tool_1`, { path: '/' });
    const { length } = registry.listTools();
    await engine.close();
    return length;
  },
  'discoverAllTools of all servers': async (count) => {
    const engine = engineOf(namesOf(count));
    const registry = new UnifiedToolRegistry({ servers: engine });
    await registry.discoverAllTools();
    const { length } = registry.getToolDefinitions();
    await engine.close();
    return length;
  },
  'registerTool one by one, then a search': async (count) => {
    const registry = new ToolRegistry();
    for (const server of namesOf(count)) {
      for (const { name, ...tool } of ownToolsOf(server)) registry.registerTool(name, tool, () => '');
    }
    await registry.search('mail');
    return registry.listTools().length;
  },
  'addProvider one by one, then a search': async (count) => {
    const registry = new ToolRegistry();
    for (const server of namesOf(count)) {
      const tools = ownToolsOf(server);
      registry.addProvider({ listToolMetadata: () => tools, getTool: () => undefined, callTool: () => '' });
    }
    await registry.search('mail');
    return (await registry.listToolMetadata()).length;
  },
  'changes of one provider of an engine, each before a search': async (count) => {
    const registry = new ToolRegistry();
    for (const { name, ...tool } of namesOf(OWN_TOOLS / TOOLS).flatMap(ownToolsOf))
      registry.registerTool(name, tool, () => '');
    const engine = new DiscoveryEngine(
      { providers: [registry], search: { meaning: false, phrases: false } },
      { env: {} },
    );
    await engine.searchTools('mail');
    for (let at = 0; at < count; at++) {
      const handle = registry.registerTool(`late_${at}`, { description: `Comes late, at ${at}` }, () => '');
      await engine.searchTools('late');
      handle.remove();
    }
    const { length } = await engine.listTools('own');
    await engine.close();
    return length;
  },
  'the catalogue takes the list of each server, then a search': async (count) => {
    const connection = { type: 'stdio', command: 'x', args: [] };
    const servers = new Map(
      namesOf(count).map((name) => [
        name,
        { definition: { name, connection, tools: [], tags: [] }, fingerprint: name },
      ]),
    );
    const policy = new ToolPolicy(new RuleSet([], 'first-match'));
    const catalog = new Catalog({ servers, policy, store: undefined, search: new SearchEngine(), indexed: new Map() });
    for (const server of servers.keys()) {
      await catalog.put({ server, fingerprint: server, fetchedAt: 1, tools: toolsOf(server), skipped: [] });
    }
    catalog.search.search('mail');
    return catalog.search.size;
  },
};
