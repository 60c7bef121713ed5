import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { CATALOGUE } from '../../test/fixtures/search/catalogue.ts';
import { makeTool } from '../../test/fixtures/search/make-tool.ts';
import { PARAPHRASES } from '../../test/fixtures/search/paraphrases.ts';
import type { ToolMetadata } from '../core/types.ts';
import { termAt, termCount } from './dictionary.ts';
import { evaluate, type QueryOutcome, type Summary, summarize } from './evaluate.ts';
import { LANGUAGES } from './language-of.ts';
import type { ModelData } from './meaning-model.ts';
import { MEANING_PARTS } from './meaning-text.ts';
import type { JudgedQuery } from './metrics.ts';
import { decodeModel } from './model-file.ts';
import { parsePhraseBook } from './phrase-book.ts';
import { parseQuery } from './query.ts';
import { SearchEngine } from './search-engine.ts';
import type { SearchEngineOptions } from './settings.ts';

const read = (name: string): Buffer => readFileSync(new URL(`../../models/${name}`, import.meta.url));
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const CARD = JSON.parse(read('model.json').toString('utf8'));

describe('the model that ships', () => {
  const bytes = read('meaning.bin');
  const data = decodeModel(bytes) as ModelData;

  it('is the one its card speaks of (node training/card.mjs writes it)', () => {
    expect({ sha256: sha256(bytes), bytes: bytes.length }).toEqual({ sha256: CARD.sha256, bytes: CARD.bytes });
    expect(CARD).toMatchObject({
      id: data.id,
      words: termCount(data.dictionary),
      dimensions: data.dimensions,
      partWeights: Object.fromEntries(MEANING_PARTS.map((part, place) => [part, data.partWeights[place]])),
    });
    const page = read('MODEL_CARD.md').toString('utf8');
    expect(page).toContain(CARD.sha256);
    expect(page).toContain(CARD.phrases.sha256);
  });

  it('was trained on the requests that are in the project', () => {
    const requests = readFileSync(new URL('../../training/requests.jsonl', import.meta.url));
    expect(CARD.trainedOn.requests.sha256).toBe(sha256(requests));
    expect(CARD.trainedOn.inputs['requests.jsonl']).toBe(sha256(requests));
  });

  it('has at most 8 MB, words in order, and a vector for each', () => {
    expect(bytes.length).toBeLessThanOrEqual(8_000_000);
    expect(data.scales.every((scale) => scale > 0 && Number.isFinite(scale))).toBe(true);
    for (let ordinal = 1; ordinal < termCount(data.dictionary); ordinal++) {
      const [before, word] = [termAt(data.dictionary, ordinal - 1), termAt(data.dictionary, ordinal)];
      if (before >= word) expect([before, word]).toEqual([word, before]);
    }
  });

  it('comes with the phrases its card speaks of', () => {
    const text = read('phrases.json');
    const book = parsePhraseBook(text.toString('utf8'));
    expect(CARD.phrases).toEqual({
      sha256: sha256(text),
      bytes: text.length,
      tools: book?.size,
      phrases: [...(book?.values() ?? [])].flat().length,
    });
  });
});

describe('requests that share no word with the name of their tool', () => {
  const figures: Record<string, Summary['figures']> = {};

  async function figuresOf(options: SearchEngineOptions): Promise<Summary['figures']> {
    const engine = new SearchEngine(options);
    engine.index(CATALOGUE);
    const rank = (query: string, limit: number) =>
      engine.search(query, { limit }).map(({ server, tool }) => ({ server, name: tool }));
    const outcomes: QueryOutcome[] = await evaluate(
      { rank },
      PARAPHRASES.map(([query, wanted]) => {
        const [server = '', name = ''] = wanted.split(':');
        return { query, relevant: [{ server, name }] };
      }),
    );
    return summarize([outcomes]).figures;
  }

  beforeAll(async () => {
    figures.both = await figuresOf({});
    figures.words = await figuresOf({ model: false });
  });

  it('are what they are said to be, one for every tool', () => {
    expect(PARAPHRASES.map(([, name]) => name).sort()).toEqual(
      CATALOGUE.map(({ server, name }) => `${server}:${name}`).sort(),
    );
    const stems = (text: string): string[] => parseQuery(text).terms.map(({ term }) => term);
    for (const [query, name] of PARAPHRASES) {
      const own = stems(name.slice(name.indexOf(':') + 1).replaceAll('_', ' '));
      expect([query, stems(query).filter((stem) => own.includes(stem))]).toEqual([query, []]);
    }
  });

  it('find their tool first more often than not, and nearly always among the first five', () => {
    expect(figures.both?.ndcg10.value).toBeGreaterThanOrEqual(0.8);
    expect(figures.both?.hit1.value).toBeGreaterThanOrEqual(0.62);
    expect(figures.both?.hit5.value).toBeGreaterThanOrEqual(0.9);
  });

  it('find it far more often than by words alone', () => {
    const ahead = (figure: 'ndcg10' | 'hit1'): number =>
      (figures.both?.[figure].value ?? 0) - (figures.words?.[figure].value ?? 1);
    expect(ahead('ndcg10')).toBeGreaterThanOrEqual(0.35);
    expect(ahead('hit1')).toBeGreaterThanOrEqual(0.3);
  });
});

describe('the lists of foreign words that ship', () => {
  const folder = new URL('../../models/languages/', import.meta.url);
  const linesOf = (name: string): string[] => readFileSync(new URL(name, folder), 'utf8').trimEnd().split('\n');

  it.each(LANGUAGES)('have words of %s, each once and in order', (language) => {
    const words = linesOf(`${language}.tsv`).map((line) => line.split('\t'));
    expect(words.filter((cells) => cells.length !== 2)).toEqual([]);
    expect(words.map(([word]) => word)).toEqual([...new Set(words.map(([word]) => word as string))].sort());
    expect(words.length).toBeGreaterThan(1_000);
  });

  it('say in order which words give a language away', () => {
    const words = linesOf('telltales.tsv').map((line) => line.slice(0, line.indexOf('\t')));
    expect(words).toEqual([...new Set(words)].sort());
  });

  it('are with all other files of the models at most 15 MB', () => {
    const files = readdirSync(new URL('../', folder), { recursive: true, withFileTypes: true });
    const sizes = files.filter((file) => file.isFile()).map((file) => statSync(join(file.parentPath, file.name)).size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(15_000_000);
  });
});

const linesOf = (file: string): string[] =>
  readFileSync(new URL(`../../test/fixtures/search/${file}`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n');

async function scoreAmong(
  tools: readonly ToolMetadata[],
  judged: readonly JudgedQuery[],
  options: SearchEngineOptions,
): Promise<number> {
  const engine = new SearchEngine(options);
  engine.index(tools);
  const rank = (query: string, limit: number) =>
    engine.search(query, { limit }).map(({ server, tool }) => ({ server, name: tool }));
  return summarize([await evaluate({ rank }, judged)]).figures.ndcg10.value;
}

describe('requests in other languages for tools that are described in English', () => {
  const [head = '', ...lines] = linesOf('requests-in-other-languages.tsv');
  const [, ...languages] = head.split('\t');
  const [furtherHead = '', ...furtherLines] = linesOf('requests-in-further-languages.tsv');
  const [, ...further] = furtherHead.split('\t');
  const [inflectedHead = '', ...inflectedLines] = linesOf('requests-in-inflected-forms.tsv');
  const [, ...inflected] = inflectedHead.split('\t');
  const [describedHead = '', ...describedLines] = linesOf('tools-in-other-languages.tsv');
  const [, ...described] = describedHead.split('\t');

  const scoreOf = (column: number, rows: readonly string[], options: SearchEngineOptions): Promise<number> =>
    scoreAmong(
      CATALOGUE,
      rows.map((line) => {
        const cells = line.split('\t');
        const [server = '', name = ''] = (cells[0] as string).split(':');
        return { query: cells[column] as string, relevant: [{ server, name }] };
      }),
      options,
    );

  it('are there in eight languages, one for every tool', () => {
    expect(languages).toEqual(['zh', 'ja', 'ko', 'de', 'fr', 'es', 'pt', 'it']);
    const tools = lines.map((line) => line.split('\t')[0]);
    expect(tools.sort()).toEqual(CATALOGUE.map(({ server, name }) => `${server}:${name}`).sort());
  });

  it.each(languages)('find the tool nearly as well as English does: %s', async (language) => {
    const column = languages.indexOf(language) + 1;
    const found = await scoreOf(column, lines, {});
    expect(found).toBeGreaterThanOrEqual(0.7);
    expect(found - (await scoreOf(column, lines, { without: ['languages'] }))).toBeGreaterThanOrEqual(0.25);
  });

  it.each(further)('find most tools in five further languages, too: %s', async (language) => {
    const column = further.indexOf(language) + 1;
    const found = await scoreOf(column, furtherLines, {});
    expect(found).toBeGreaterThanOrEqual(0.85);
    expect(found - (await scoreOf(column, furtherLines, { without: ['languages'] }))).toBeGreaterThanOrEqual(0.35);
  });

  it.each(inflected)('find tools by words in any form: %s', async (language) => {
    const column = inflected.indexOf(language) + 1;
    expect(await scoreOf(column, inflectedLines, {})).toBeGreaterThanOrEqual(0.8);
  });

  it.each(described)('find tools that are described in it, when they are in English: %s', async (language) => {
    const rows = describedLines.map((line) => line.split('\t'));
    const column = described.indexOf(language) + 1;
    const tools = rows.map((cells, at) => makeTool('one', `t${at}`, cells[column]));
    const english = new Map(PARAPHRASES.map(([request, wanted]) => [wanted, request]));
    const judged = rows.map(([tool = ''], at) => ({
      query: english.get(tool) as string,
      relevant: [{ server: 'one', name: `t${at}` }],
    }));
    const found = await scoreAmong(tools, judged, {});
    expect(found).toBeGreaterThanOrEqual(0.6);
    expect(found - (await scoreAmong(tools, judged, { without: ['languages'] }))).toBeGreaterThanOrEqual(0.2);
  });
});

describe('stories with circumstances', () => {
  const [, ...lines] = linesOf('stories.tsv');
  const judged = lines.map((line) => {
    const [tool = '', query = ''] = line.split('\t');
    const [server = '', name = ''] = tool.split(':');
    return { query, relevant: [{ server, name }] };
  });

  it('are a hundred and fifty for tools that exist', () => {
    const tools = new Set(CATALOGUE.map(({ server, name }) => `${server}:${name}`));
    expect(lines).toHaveLength(150);
    expect(lines.filter((line) => !tools.has(line.split('\t')[0] as string))).toEqual([]);
  });

  it('find the tool more often because what only tells counts less, by either part', async () => {
    const found = await scoreAmong(CATALOGUE, judged, {});
    const without = await scoreAmong(CATALOGUE, judged, { without: ['stories', 'asking'] });
    expect(found).toBeGreaterThanOrEqual(0.7);
    expect(found - without).toBeGreaterThanOrEqual(0.05);
    for (const part of ['stories', 'asking'] as const)
      expect(await scoreAmong(CATALOGUE, judged, { without: [part] })).toBeGreaterThanOrEqual(without);
  });
});
