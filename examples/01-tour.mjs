/**
 * Shows the gateway at work (`npm start`): four sample servers with 34 tools as real child processes, the real gateway in
 * front of them, and what an agent sees and does. Exits with 0 if every check passed.
 * @module
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { styleText } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const SERVERS = ['calendar', 'notes', 'units', 'weather'];
const GATEWAY = fileURLToPath(new URL('../dist/bin/discovery.js', import.meta.url));
const COMMAND = fileURLToPath(new URL('../dist/bin/anygpt.js', import.meta.url));
const serverFile = (name) => fileURLToPath(new URL(`servers/${name}.mjs`, import.meta.url));

const plain = !process.stdout.isTTY || process.env.NO_COLOR;
const style = (format, text) => (plain ? text : styleText(format, text));
const say = (text = '') => process.stdout.write(`${text}\n`);
const title = (text) => say(`\n${style('bold', text)}`);
/** Estimated at four characters each: an exact count needs a tokenizer, which weighs more than this package. */
const tokens = (value) => Math.ceil((typeof value === 'string' ? value : JSON.stringify(value)).length / 4);
/** The parts of a tool that reach a model; `anygpt mcp stats` counts the same. */
const read = ({ name, description, inputSchema }) => ({ name, description, inputSchema });
const inTokens = (count) => `about ${count.toLocaleString('en')} tokens`;

/** Breaks a long line at 78 columns. */
const wrap = (text, indent = '  ') => {
  const lines = [];
  for (let rest = text; rest !== ''; ) {
    const room = 78 - indent.length;
    const gap = Math.max(rest.lastIndexOf(' ', room), rest.lastIndexOf(',', room - 1) + 1);
    const at = rest.length <= room ? rest.length : gap > 0 ? gap : room;
    lines.push(indent + rest.slice(0, at).trimStart());
    rest = rest.slice(at);
  }
  return lines.join('\n');
};

/** A client of one MCP server that runs as a child process. */
const connect = async (args, env = {}) => {
  const client = new Client({ name: 'tour', version: '1.0.0' });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env: { PATH: process.env.PATH, ...env } }),
  );
  return client;
};

const allTools = async (name) => {
  const client = await connect([serverFile(name)]);
  const { tools } = await client.listTools();
  await client.close();
  return tools;
};

const shorten = (text, length) => (text.length <= length ? text : `${text.slice(0, length - 1)}…`);

/** On a busy machine the first search may answer before all servers have started; it says so in its notes. */
const everySeen = async (agent) => {
  for (let attempt = 0; attempt < 10; attempt++) {
    const { content } = await agent.callTool({ name: 'search_tools', arguments: { query: 'weather' } });
    if (!/start/.test(JSON.parse(content[0].text).notes?.join() ?? '')) return;
  }
};

const tour = async (home) => {
  const config = join(home, 'config.json');
  const servers = SERVERS.map((name) => ({
    name,
    connection: { type: 'stdio', command: process.execPath, args: [serverFile(name)] },
  }));
  const toolRules = [{ pattern: ['delete_*'], enabled: false, tags: ['dangerous'] }];
  writeFileSync(config, JSON.stringify({ discovery: { servers, toolRules } }));

  const every = (await Promise.all(SERVERS.map(allTools))).flat();
  const agent = await connect([GATEWAY, '--config', config], { ANYGPT_HOME: join(home, 'state') });
  const call = async (name, args, shown = JSON.stringify(args)) => {
    say(style('cyan', wrap(`${name}(${shown})`, '  > ')));
    const result = await agent.callTool({ name, arguments: args });
    return { result, text: result.content[0].text };
  };

  try {
    say(style('bold', '@anygpt/discovery: one MCP server in front of all MCP servers'));

    title('What every message of an agent would carry');
    const { tools } = await agent.listTools();
    const [before, after] = [tokens(every.map(read)), tokens(tools.map(read))];
    say(
      `  all tools of ${SERVERS.length} servers  ${String(every.length).padStart(3)} tools   ${inTokens(before).padStart(18)}`,
    );
    say(`  through the gateway     ${String(tools.length).padStart(3)} tools   ${inTokens(after).padStart(18)}`);
    say(`  The first line grows with every server, the second does not.`);
    assert.equal(tools.length, 5);
    assert.ok(after < 600, 'the five tools fit into 600 tokens');

    title('1. The agent searches in its own words');
    await everySeen(agent);
    const found = await call('search_tools', { query: 'weather forecast for the next days', limit: 3 });
    const { results } = JSON.parse(found.text);
    for (const { server, tool, args = '', relevance } of results)
      say(`  ${`${server}:${tool}`.padEnd(30)} ${relevance.toFixed(2)}  ${shorten(args, 34)}`);
    say(`  ${inTokens(tokens(found.text))}`);
    assert.ok(results.some(({ tool }) => tool === 'forecast'));

    title('2. It looks at one tool, if the arguments alone do not say enough');
    const details = await call('get_tool_details', { server: 'weather', tool: 'forecast' });
    for (const { name, type, required } of JSON.parse(details.text).parameters)
      say(wrap(`${name}${required ? '' : '?'}: ${type}`));
    say(`  ${inTokens(tokens(details.text))}`);

    title('3. It calls the tool; the result comes back unchanged');
    const forecast = { server: 'weather', tool: 'forecast', arguments: { city: 'Berlin', days: 2 } };
    say(wrap((await call('execute_tool', forecast)).text));

    title('4. A wrong call says how to make it right');
    const wrong = { server: 'weather', tool: 'forecast', arguments: { city: 'Berlin', days: 30 } };
    const refused = await call('execute_tool', wrong);
    assert.equal(refused.result.isError, true);
    const { code, message } = JSON.parse(refused.text).error;
    say(wrap(`${code}: ${message}`));

    title('5. What the rules forbid cannot be found or called');
    const denied = await call('execute_tool', { server: 'notes', tool: 'delete_note', arguments: { id: 'note-1' } });
    assert.equal(JSON.parse(denied.text).error.code, 'TOOL_DISABLED');
    say(wrap(JSON.parse(denied.text).error.message));

    title('Your turn');
    say('  Find your own servers:   anygpt mcp init');
    say(`  From a clone:            node ${relative('', COMMAND)} mcp init`);
    say('  For other programs:      anygpt mcp serve --http');
    say('  Nothing outside a temporary folder was touched; all servers are stopped.');
  } finally {
    await agent.close();
  }
};

// A reader such as `head` may have read enough; the tour still ends what it started.
process.stdout.on('error', () => {});
const home = mkdtempSync(join(tmpdir(), 'anygpt-tour-'));
try {
  await tour(home);
} finally {
  rmSync(home, { recursive: true, force: true });
}
