import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { isMetaTool, META_TOOL_NAMES, metaToolDefinitions } from './meta-tools.ts';

const FIFTY = Array.from(
  { length: 50 },
  (_, i) => `${['github', 'jira', 'slack', 'postgres', 'filesystem'][i % 5]}-${i}`,
);

/** Returns the text between "Find tools" and what follows the names. */
const namesIn = (servers: readonly string[]): string => {
  const description = metaToolDefinitions(servers)[0]?.description ?? '';
  return description.slice('Find tools'.length, description.indexOf(' by what they do'));
};

describe('the five meta-tools', () => {
  it('are these, in this order', () => {
    const names = ['search_tools', 'get_tool_details', 'execute_tool', 'list_tools', 'list_mcp_servers'];
    expect(META_TOOL_NAMES).toEqual(names);
    expect(metaToolDefinitions([]).map(({ name }) => name)).toEqual(names);
  });

  it('cost under 600 tokens as an agent sees them, with none, four and fifty servers', () => {
    for (const servers of [[], FIFTY.slice(0, 4), FIFTY])
      expect(countTokens(JSON.stringify({ tools: metaToolDefinitions(servers) }))).toBeLessThan(600);
  });

  it("ask clients not to hide them behind a tool search of the client's own", () => {
    for (const { _meta } of metaToolDefinitions(['a'])) expect(_meta).toEqual({ 'anthropic/alwaysLoad': true });
  });

  it('ask for one thing a query, in English, because a whole task finds the tools of few of its parts', () => {
    const [search] = metaToolDefinitions([]);
    expect(search?.inputSchema.properties).toMatchObject({ query: { description: 'One thing to do, in English' } });
  });

  it('have the parameters of the specification', () => {
    const parameters = metaToolDefinitions([]).map(({ inputSchema }) => [
      Object.keys(inputSchema.properties as object),
      inputSchema.required ?? [],
    ]);
    expect(parameters).toEqual([
      [['query', 'server', 'limit'], ['query']],
      [
        ['server', 'tool'],
        ['server', 'tool'],
      ],
      [
        ['server', 'tool', 'arguments'],
        ['server', 'tool', 'arguments'],
      ],
      [['server', 'includeDisabled'], ['server']],
      [[], []],
    ]);
  });

  it('are marked read-only, except the one that executes', () => {
    const readOnly = metaToolDefinitions([]).filter(({ annotations }) => annotations?.readOnlyHint === true);
    expect(readOnly.map(({ name }) => name)).toEqual(META_TOOL_NAMES.filter((name) => name !== 'execute_tool'));
  });

  it('are the same text for the same servers, in whatever order those come', () => {
    expect(metaToolDefinitions(['b', 'a'])).toEqual(metaToolDefinitions(['a', 'b']));
    expect(namesIn(['b', 'a'])).toBe(' in a, b');
  });

  it('name servers within 40 tokens, then say how many more there are', () => {
    expect(namesIn([])).toBe('');
    expect(namesIn(FIFTY)).toMatch(/^ in filesystem-14, .+ and \d+ more$/);
    const named = namesIn(FIFTY).replace(/ and \d+ more$/, '');
    expect(countTokens(named)).toBeLessThanOrEqual(40);
    expect(named.split(', ').length + Number(/and (\d+) more/.exec(namesIn(FIFTY))?.[1])).toBe(50);
  });

  it('leave out a name that would take all the room', () => {
    expect(namesIn(['a'.repeat(300), 'jira'])).toBe(' in jira and 1 more');
    expect(namesIn(['x'.repeat(300)])).toBe(' in 1 server');
    expect(namesIn(['x'.repeat(300), 'y'.repeat(300)])).toBe(' in 2 servers');
  });

  it('stay within 40 tokens of names whatever servers are called', () => {
    const name = fc.oneof(
      fc.string({ minLength: 1, maxLength: 30 }),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
      fc.uuid(),
      fc.string({ unit: fc.constantFrom(...'データベース検索服务器文件系统'), minLength: 1, maxLength: 12 }),
    );
    fc.assert(
      fc.property(fc.array(name, { maxLength: 60 }), (servers) => {
        const named = namesIn(servers)
          .replace(/ and \d+ more$/, '')
          .replace(/^ in /, '');
        return countTokens(named, { disallowedSpecial: new Set() }) <= 40;
      }),
      { numRuns: 300 },
    );
  });

  it('are told from other names', () => {
    expect(['search_tools', 'toString', '__proto__', ''].map(isMetaTool)).toEqual([true, false, false, false]);
  });
});
