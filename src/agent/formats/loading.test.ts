import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** Returns what a file imports at run time, by URL. */
function importsOf(file: URL): string[] {
  const text = readFileSync(file, 'utf8').replace(/`(?:\\.|[^`\\])*`/g, '');
  return [...text.matchAll(/^(?:import|export)(?! type)\b[^'"`;]*?from '([^']+)';/gms)].map(([, name]) => String(name));
}

it('loading the formats loads no SDK, no transport and no engine', () => {
  const loaded = new Set<string>();
  const outside = new Set<string>();
  const files = ['to-definitions.ts', 'tool-call.ts', 'tool-result.ts', 'hosted-search.ts'];
  const open = files.map((file) => new URL(file, import.meta.url));
  for (let file = open.pop(); file; file = open.pop()) {
    if (loaded.has(file.href)) continue;
    loaded.add(file.href);
    for (const name of importsOf(file)) {
      if (name.startsWith('.')) open.push(new URL(name, file));
      else outside.add(name);
    }
  }
  expect([...outside]).toEqual(['node:crypto']);
  expect([...loaded].filter((file) => /connections|discovery-engine|serve-/.test(file))).toEqual([]);
});
