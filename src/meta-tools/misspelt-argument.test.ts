import fc from 'fast-check';
import { expect, it } from 'vitest';
import { META_TOOL_NAMES } from './meta-tools.ts';
import { misspeltArgument } from './misspelt-argument.ts';

it.each([
  ['search_tools', { querry: 'x' }, 'query'],
  ['search_tools', { query: 'x', sever: 'github' }, 'server'],
  ['search_tools', { query: 'x', Limit: 5 }, 'limit'],
  ['get_tool_details', { server: 'x', tol: 'y' }, 'tool'],
  ['execute_tool', { sever: 'x', tool: 'y', arguments: {} }, 'server'],
  ['execute_tool', { server: 'x', tool: 'y', argument: {} }, 'arguments'],
  ['list_tools', { server: 'x', include_disabled: true }, 'includeDisabled'],
] as const)('%s with %j: did you mean %s?', (tool, args, meant) => {
  expect(misspeltArgument(tool, args)).toMatch(new RegExp(`did you mean "${meant}"\\?$`));
});

it.each([
  ['search_tools', { query: 'x', reason: 'because' }],
  ['search_tools', { query: 'x', querry: 'y' }],
  ['search_tools', { query: 'x', limit: 3, sever: 7 }],
  ['execute_tool', { server: 'x', tool: 'y', arguments: {}, argument: {} }],
  // The tool's own arguments, written beside the pair.
  ['execute_tool', { server: 'x', tool: 'y', title: 'z', argument: 'text' }],
  ['execute_tool', { tool: 'x:y', tools: ['a'], servers: ['b'] }],
  ['list_mcp_servers', { server: 'x' }],
] as const)('%s with %j holds no slip', (tool, args) => {
  expect(misspeltArgument(tool, args)).toBeUndefined();
});

it('takes any names, in a sentence of bounded length', () => {
  const names = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'toString'));
  fc.assert(
    fc.property(fc.constantFrom(...META_TOOL_NAMES), fc.dictionary(names, fc.jsonValue()), (tool, args) => {
      expect((misspeltArgument(tool, args) ?? '').length).toBeLessThan(200);
    }),
  );
});
