import { expect, test } from 'vitest';
import { engineIn, entry, folder } from '../../test/fixtures/engine.ts';
import { evil } from '../../test/fixtures/evil.ts';
import { FileStore } from '../cache/file-store.ts';

const server = (name: string) => evil({ era: 'legacy', tools: [{ name, inputSchema: { type: 'object' } }] });

test('engines without a file keep an index each in a shared cache, named by their servers', async () => {
  using home = folder();
  using one = server('tool_one');
  using two = server('tool_two');
  const keys = new Set<string>();
  for (const servers of [[entry('s', one)], [entry('s', two)], [entry('s', one)]]) {
    await using engine = engineIn(home, { servers });
    await engine.toolsOf('s');
    const { dir } = (await engine.getConfig()).cache;
    await engine.close();
    for (const key of await new FileStore(dir).keys()) if (key.startsWith('index:')) keys.add(key);
  }
  expect(keys.size).toBe(2);
  expect(keys).not.toContain('index:');
});
