/** What docs/api.md is made from: the exports that scripts/declarations.mjs reads are those there are. Uses the build. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { root } from './fixtures/cli.ts';

interface Export {
  readonly file: string;
  readonly doc: string;
  readonly text: string;
  readonly isType: boolean;
}
interface EntryPoint {
  readonly name: string;
  readonly types: string;
  readonly code: string;
}
interface Declarations {
  entryPoints(root: string): EntryPoint[];
  exportsOf(file: string): Map<string, Export>;
  mentionsOf(one: Pick<Export, 'file' | 'text'>): { name: string; file: string; text: string }[];
  readDoc(comment: string): { description: string; examples: string[] };
}

const script = new URL('../scripts/declarations.mjs', import.meta.url).href;
const { entryPoints, exportsOf, mentionsOf, readDoc }: Declarations = await import(script);
const entries = entryPoints(root);

describe('the public surface', () => {
  it('has six entry points', () => {
    expect(entries.map(({ name }) => name.replace('@anygpt/discovery', '.'))).toEqual([
      '.',
      './config',
      './gateway',
      './registry',
      './service',
      './testing',
    ]);
  });

  it('has at most 120 names', () => {
    const names = new Set(entries.flatMap(({ types }) => [...exportsOf(types).keys()]));
    expect(names.size).toBeLessThanOrEqual(120);
  });

  it.each(entries)('$name declares what it exports', async ({ types, code }) => {
    const declared = [...exportsOf(types)].filter(([, { isType }]) => !isType).map(([name]) => name);
    const exported = Object.keys(await import(pathToFileURL(code).href));
    expect(declared.sort()).toEqual(exported.sort());
  });

  it.each(entries)('$name mentions no type that docs/api.md does not show', ({ types }) => {
    const page = readFileSync(join(root, 'docs/api.md'), 'utf8');
    const isShown = (name: string) => page.includes(`\n### ${name}\n`) || page.includes(`\n**${name}** · `);
    const unseen = [...exportsOf(types)].flatMap(([name, one]) =>
      mentionsOf(one)
        .filter((other) => !isShown(other.name))
        .map((other) => `${name} mentions ${other.name}`),
    );
    expect(unseen).toEqual([]);
  });

  it('is described without words that only we know', () => {
    const page = readFileSync(join(root, 'docs/api.md'), 'utf8');
    expect(page.match(/\b00\d's\b|\bthe (?:specification|contract|seeds?)\b/gi) ?? []).toEqual([]);
  });

  it.each(entries)('$name has TSDoc on every export', ({ types }) => {
    const bare = [...exportsOf(types)].filter(([, { doc }]) => readDoc(doc).description === '');
    expect(bare.map(([name, { file }]) => `${name} in ${file}`)).toEqual([]);
  });
});
