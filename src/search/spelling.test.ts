import { describe, expect, it } from 'vitest';
import { toyModel } from '../../test/fixtures/search/toy-model.ts';
import { MeaningModel } from './meaning-model.ts';
import { SearchEngine } from './search-engine.ts';

const model = new MeaningModel(
  toyModel(
    { delete: { 0: 4, 1: 1 }, erase: { 0: 4 }, forecast: 2, weather: { 2: 4, 3: 1 }, whether: 4 },
    [1, 1, 1, 1, 1],
  ),
);
const tool = (name: string, description: string) => ({
  server: 's',
  name,
  description,
  summary: description,
  tags: [],
  enabled: true,
});
const engine = new SearchEngine({ model, phrases: false, synonyms: false });
engine.setServer('s', [tool('forecast', 'weather of tomorrow'), tool('delete', 'delete anything'), tool('other', 'x')]);
const meaningOf = (query: string, found: ReturnType<typeof tool>) => engine.explain(query, found)?.score.meaning ?? 0;
const forecast = tool('forecast', 'weather of tomorrow');

describe('spellWords', () => {
  it('gives the vectors the word that was meant, the one that tools have', () => {
    expect(meaningOf('wether', forecast)).toBeCloseTo(meaningOf('weather', forecast), 5);
    expect(meaningOf('wheather', forecast)).toBeCloseTo(meaningOf('weather', forecast), 5);
  });

  it('leaves alone what the vectors know, what is short, and what nothing is like', () => {
    expect(meaningOf('whether', forecast)).toBeLessThan(0.1);
    expect(meaningOf('wea', forecast)).toBe(0);
    expect(meaningOf('xyzzyplugh', forecast)).toBe(0);
    expect(meaningOf('погода', forecast)).toBe(0);
  });

  it('corrects a few words and no more, so that no query is slow', () => {
    const many = ['wethex', 'deletf', 'erasf', 'weathex'].join(' ');
    expect(meaningOf(`${many} wether`, forecast)).toBeCloseTo(meaningOf(many, forecast), 5);
  });

  it('is switched off with typos', () => {
    const plain = new SearchEngine({ model, phrases: false, synonyms: false, without: ['typos'] });
    plain.setServer('s', [forecast]);
    expect(plain.explain('wether', forecast)?.score.meaning).toBe(0);
  });
});
