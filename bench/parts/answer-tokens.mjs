// Counts the o200k tokens that an agent reads in the answers of the meta-tools.
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { createMetaToolRunner } from '../../dist/meta-tools/meta-tool-runner.js';
import { createCachedWorld, openEngine } from './gateway-world.mjs';

const CALLER = { caller: {}, signal: new AbortController().signal };

/** Tokens of every default search answer, of the details of at most `most` tools, and of the list of servers. */
export const answerTokens = async (corpus, queries, most) => {
  const engine = openEngine(await createCachedWorld(corpus));
  const run = createMetaToolRunner(engine);
  const tokensOf = async (tool, args) => {
    const { content, isError } = await run(tool, args, CALLER);
    if (isError) throw new Error(`${tool} ${JSON.stringify(args)}: ${content[0].text}`);
    return countTokens(content[0].text);
  };
  const answers = [];
  for (const query of queries) answers.push(await tokensOf('search_tools', { query }));
  const tools = [...corpus].flatMap(([server, { tools }]) => tools.map(({ name }) => ({ server, tool: name })));
  const step = Math.max(1, Math.floor(tools.length / most));
  const details = [];
  for (let at = 0; at < tools.length; at += step) details.push(await tokensOf('get_tool_details', tools[at]));
  const servers = await tokensOf('list_mcp_servers', {});
  await engine.close();
  return { answers, details, servers };
};
