import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

/** Everything that is loaded with a file: what it imports at once, and what that does. */
function loadedWith(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const text = readFileSync(file, 'utf8');
  for (const [, names, from = ''] of text.matchAll(/^(?:import|export)\s+((?!type\b)[^'";]*?)\s*from '([^']+)';/gms)) {
    const onlyTypes = /^\{\s*(type \w+( as \w+)?,?\s*)+\}$/.test(names ?? '');
    if (onlyTypes) continue;
    if (from.startsWith('.')) loadedWith(resolve(dirname(file), from), seen);
    else seen.add(from);
  }
  return seen;
}

it('loads no engine, no transport and no MCP SDK before a server is needed', () => {
  const loaded = [...loadedWith(fileURLToPath(new URL('../../registry.ts', import.meta.url)))];
  expect(loaded.length).toBeGreaterThan(20);
  expect(
    loaded.filter((name) => /@modelcontextprotocol|\/connections\/|\/gateway\/|discovery-engine/.test(name)),
  ).toEqual([]);
});
