import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeTool } from '../../test/fixtures/search/make-tool.ts';
import { toyModel } from '../../test/fixtures/search/toy-model.ts';
import { encodeModel } from './model-file.ts';
import { SearchEngine } from './search-engine.ts';
import { readModel, shippedModel, shippedPhrases } from './shipped.ts';

const folder = mkdtempSync(join(tmpdir(), 'model-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fileOf = (bytes: Uint8Array | string): string => {
  const file = join(folder, 'model.bin');
  writeFileSync(file, bytes);
  return file;
};

const TOOLS = [makeTool('mail', 'delete_draft', 'Delete a draft'), makeTool('files', 'outfile', 'Read a file')];

describe('what comes with the package', () => {
  it('is read once and shared', () => {
    expect(shippedModel()).toBeDefined();
    expect(shippedModel()).toBe(shippedModel());
    expect(shippedPhrases().size).toBeGreaterThan(1_000);
    expect(shippedPhrases()).toBe(shippedPhrases());
  });

  it('may be missing or damaged', () => {
    const bytes = encodeModel(toyModel({ delete: 0 }));
    expect(readModel(join(folder, 'not-there.bin'))).toBeUndefined();
    expect(readModel(folder)).toBeUndefined();
    expect(readModel(fileOf(''))).toBeUndefined();
    expect(readModel(fileOf('not a model, just some text that is long enough'))).toBeUndefined();
    expect(readModel(fileOf(bytes.slice(0, -4)))).toBeUndefined();
    expect(readModel(fileOf(bytes.map((byte, at) => (at === 8 ? byte ^ 1 : byte))))).toBeUndefined();
    expect(readModel(fileOf(bytes.map((byte, at) => (at === bytes.length - 1 ? byte ^ 1 : byte))))).toBeUndefined();
    expect(readModel(fileOf(bytes))?.id).toBe(toyModel({ delete: 0 }).id);
  });
});

/** In a copy of the built package: searches for `before`, deletes the German words, and says how a German request is then read. */
const READS = `
  import { rmSync } from 'node:fs';
  const { SearchEngine } = await import('./dist/search/search-engine.js');
  const engine = new SearchEngine();
  engine.index([{ server: 'mail', name: 'delete_draft', summary: 'Delete a draft', enabled: true, tags: [] }]);
  engine.search(process.argv[1]);
  rmSync('models/languages/de.tsv');
  process.stdout.write(engine.read('lösche die Rechnung').translation?.text ?? '');
`;

describe('the words of a language', () => {
  const project = new URL('../../', import.meta.url);
  const copy = mkdtempSync(join(tmpdir(), 'package-'));
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  it.each([
    ['delete the draft', ''],
    ['supprime le brouillon', ''],
    ['lösche den Entwurf', 'delete invoice'],
  ])('are read when the first request in it comes: after %j a German one is read as %j', (before, read) => {
    for (const name of ['dist/core', 'dist/json', 'dist/schema', 'dist/search', 'dist/text', 'models', 'package.json'])
      cpSync(new URL(name, project), join(copy, name), { recursive: true });
    const out = execFileSync(process.execPath, ['--input-type=module', '-e', READS, before], { cwd: copy });
    expect(out.toString()).toBe(read);
  });
});

describe('search without what comes with the package', () => {
  const engine = new SearchEngine({ model: false, phrases: false });
  engine.index(TOOLS);

  it('finds by words', () => {
    expect(engine.search('delete the draft')[0]).toMatchObject({ tool: 'delete_draft' });
    expect(engine.search('erase drafts')[0]).toMatchObject({ tool: 'delete_draft' });
    expect(engine.search('mail:delete_draft')[0]).toMatchObject({ relevance: 1 });
    expect(engine.search('sourdough pancakes')).toEqual([]);
  });

  it('explains words and says nothing of meaning', () => {
    const explanation = engine.explain('delete the draft', TOOLS[0] as (typeof TOOLS)[0]);
    expect(explanation).toMatchObject({ alike: [], score: { meaning: 0 } });
    expect(explanation?.score.total).toBeCloseTo(explanation?.score.words ?? 0, 9);
  });

  it('keeps its index apart from one with vectors', () => {
    expect(SearchEngine.fromSnapshot(engine.toSnapshot())).toBeUndefined();
    expect(SearchEngine.fromSnapshot(engine.toSnapshot(), { model: false, phrases: false })?.size).toBe(2);
  });
});
