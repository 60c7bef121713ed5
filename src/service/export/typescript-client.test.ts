import { expect, it } from 'vitest';
import type { JsonSchema } from '../../core/types.ts';
import { toolToManifest } from '../manifest.ts';
import { clientFiles } from './typescript-client.ts';

/** A schema that refers to recursive definitions of these names. */
const referring = (...names: readonly string[]): JsonSchema => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name, at) => [`p${at}`, { $ref: `#/$defs/${name}` }])),
  $defs: Object.fromEntries(
    names.map((name) => [name, { type: 'object', properties: { self: { $ref: `#/$defs/${name}` } } }]),
  ),
});

it('gives every type of a server a name of its own, whatever tools and definitions are called', () => {
  const tools = [
    { name: 'a', inputSchema: referring('Output', 'foo bar', 'foo_bar', 'fooBar', 'FooBar', 'Input', 'foo_bar2', '') },
    { name: 'a_input', inputSchema: referring('x'), outputSchema: referring('Foo', 'x') },
    { name: 'A_Input', inputSchema: referring('Output') },
    { name: 'aInput', inputSchema: referring('Output') },
    { name: 'a2', inputSchema: referring('Output') },
    { name: 'call_tool', inputSchema: referring('CallTool') },
  ];
  const manifests = tools.map((tool) => toolToManifest({ description: 'x', ...tool } as never, { name: 'server' }));
  const text = clientFiles(manifests).files.find(({ path }) => path.startsWith('servers/'))?.text ?? '';
  const declared = [...text.matchAll(/^(?:export )?(?:type|const|interface|class) (\w+)/gm)].map(([, name]) => name);
  expect(declared.length).toBeGreaterThan(15);
  expect(declared).toEqual([...new Set(declared)]);
});
