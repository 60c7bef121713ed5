import { describe, expect, it } from 'vitest';
import { requests, workplace } from '../../test/fixtures/search/written.ts';
import { evaluate, summarize } from './evaluate.ts';
import { thingsOf } from './kinds.ts';
import { SearchEngine } from './search-engine.ts';
import type { SearchEngineOptions } from './settings.ts';

const wordsOf = (text: string): string[] => thingsOf(text).map(({ words }) => words);

describe('concrete things', () => {
  it.each([
    ['what is in report.xlsx?', 'excel spreadsheet'],
    ['read /srv/data/Slides.PPTX.', 'powerpoint presentation'],
    ['save it to notes.md', 'text file'],
    ['get 1706.03762v5', 'arxiv paper'],
    ['write to ann@example.org', 'email'],
    ['who is 192.0.2.7', 'ip address'],
    ['where is 2001:db8::8a2e:370:7334', 'ip address'],
    ['what is at 48.8584, 2.2945', 'coordinates'],
    ['undo 4f2a91c', 'git commit'],
    ['select name from users', 'sql query'],
    ['how is $NVDA doing', 'stock price'],
    ['sum up https://www.youtube.com/watch?v=1', 'youtube video'],
    ['open https://github.com/a/b/pull/3', 'github pull request'],
    ['open https://example.org/report.pdf', 'url web page'],
    ['say hello in #random', 'channel'],
  ])('in %j are said to be %j', (text, words) => {
    expect(wordsOf(text)).toEqual([words]);
  });

  it.each([
    'version 1.2.3',
    'mflix.movies',
    'node.js. Then',
    'the 3.14 constant',
    'a.b.c',
    'issue #12',
    'facade',
    '12:30',
    '',
  ])('are not seen in %j', (text) => {
    expect(wordsOf(text).filter((words) => words !== 'code file')).toEqual([]);
  });

  it('are at most four, one of each kind, and are looked for in linear time', () => {
    expect(wordsOf('a.pdf b.pdf c.png d.mp3 e.zip f.docx')).toEqual(['pdf', 'image', 'audio', 'archive']);
    for (const piece of ['a.a_.', 'select ', 'a@', 'f', '1.', '1:', '#a', 'https://', '+1 ']) {
      const started = performance.now();
      thingsOf(piece.repeat(2_000 / piece.length));
      expect(performance.now() - started).toBeLessThan(2_000);
    }
  });

  it('find their tools far more often than as mere values', async () => {
    const figures = async (options: SearchEngineOptions) => {
      const engine = new SearchEngine(options);
      engine.index(workplace());
      const rank = (query: string, limit: number) =>
        engine.search(query, { limit }).map(({ server, tool }) => ({ server, name: tool }));
      return summarize([await evaluate({ rank }, requests('concrete-things'))]).figures;
    };
    const [whole, without] = [await figures({}), await figures({ without: ['kinds'] })];
    expect(whole.hit5.value).toBeGreaterThanOrEqual(0.95);
    expect(whole.ndcg10.value).toBeGreaterThan(without.ndcg10.value + 0.1);
  });

  it('are part of an explanation', () => {
    const engine = new SearchEngine();
    const tools = workplace();
    engine.index(tools);
    const lookup = tools.find(({ name }) => name === 'lookup_ip');
    const explained = lookup && engine.explain('who is behind 203.0.113.77', lookup);
    expect(explained?.things).toEqual([{ text: '203.0.113.77', words: 'ip address' }]);
    expect(lookup && engine.explain('who is behind it', lookup)).not.toHaveProperty('things');
  });
});
