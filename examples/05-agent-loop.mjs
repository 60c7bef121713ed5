/**
 * An agent loop: a program's own tools, four MCP servers behind the meta-tools, and a model. The model's replies were
 * written down in recordings/agent-loop.json, in the shape of Anthropic's Messages API, so this needs no key and no
 * network; everything else is real. With the real API only `model` is another.
 * @module
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DiscoveryEngine } from '@anygpt/discovery';
import { ToolRegistry } from '@anygpt/discovery/registry';

/** Gives the recorded replies one after the other, and insists that the loop does its part in between. */
const recordedModel = (file) => {
  const replies = JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));
  let asked = [];
  return {
    create: async ({ messages, tools }) => {
      const answered = [messages.at(-1).content].flat().map((block) => block.tool_use_id);
      for (const { id } of asked) assert.ok(answered.includes(id), `${id} was answered`);
      const reply = replies.shift();
      asked = reply.content.filter(({ type }) => type === 'tool_use');
      const offered = tools.map((tool) => tool.name);
      for (const { name } of asked) assert.ok(offered.includes(name), `${name} was offered`);
      return reply;
    },
  };
};
const model = recordedModel('recordings/agent-loop.json');

const connection = (name) => {
  const file = fileURLToPath(new URL(`servers/${name}.mjs`, import.meta.url));
  return { type: 'stdio', command: process.execPath, args: [file] };
};
const servers = ['calendar', 'notes', 'units', 'weather'].map((name) => ({ name, connection: connection(name) }));
const registry = new ToolRegistry();
registry.registerTool({ name: 'get_user', description: 'Who is asking', visible: true }, () => ({
  name: 'Ada',
  city: 'Oslo',
}));
// Tool lists, logs and the audit trail are kept there; without it, nowhere.
const state = mkdtempSync(join(tmpdir(), 'agent-loop-'));
const engine = new DiscoveryEngine({ servers, providers: [registry], state });

/** Runs until the model has nothing left to ask. */
const run = async (question) => {
  const tools = engine.tools({ format: 'anthropic', mode: 'search' });
  const messages = [{ role: 'user', content: question }];
  for (;;) {
    const reply = await model.create({ model: 'claude', max_tokens: 1024, messages, tools });
    messages.push({ role: 'assistant', content: reply.content });
    if (reply.stop_reason !== 'tool_use') return messages;
    const calls = reply.content.filter((block) => block.type === 'tool_use');
    const results = calls.map((call) => engine.handle(call));
    messages.push({ role: 'user', content: await Promise.all(results) });
  }
};

try {
  await engine.ready(); // So that the first search sees all servers, however slow this machine is.
  const messages = await run('Do I need a coat? Then note it.');
  const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  for (const { type, name, input, content, text } of blocks) {
    if (type === 'tool_use') console.log(`> ${name}(${JSON.stringify(input)})`);
    else console.log(type === 'text' ? text : `  ${content[0].text.slice(0, 100)}`);
  }
  const failed = blocks.filter(({ is_error }) => is_error).map(({ tool_use_id }) => tool_use_id);
  assert.deepEqual(failed, ['toolu_03'], 'one call was wrong, and its answer said how to make it right');
  assert.ok(blocks.at(-2).content[0].text.includes('Take the warm coat'));
} finally {
  await Promise.all([registry.close(), engine.close()]);
  rmSync(state, { recursive: true, force: true });
}
