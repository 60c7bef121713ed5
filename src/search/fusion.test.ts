import { describe, expect, it } from 'vitest';
import { makeTool } from '../../test/fixtures/search/make-tool.ts';
import { toyModel } from '../../test/fixtures/search/toy-model.ts';
import type { SearchOptions, ToolMetadata } from '../core/types.ts';
import { MeaningModel } from './meaning-model.ts';
import { SearchEngine } from './search-engine.ts';

const TOOLS = [
  makeTool('mail', 'delete_draft', 'Delete a draft'),
  makeTool('mail', 'list_drafts', 'List all drafts'),
  makeTool('files', 'delete_file', 'Delete a file'),
  makeTool('web', 'fetch_page', 'Fetch a page'),
];
const MODEL = new MeaningModel(toyModel({ delete: 0, trash: 0, draft: 1, letter: 1, file: 2, page: 3, fetch: 4 }));

const engineOf = (tools: readonly ToolMetadata[] = TOOLS, model: MeaningModel | false = MODEL): SearchEngine => {
  const engine = new SearchEngine({ model, phrases: false });
  engine.index(tools);
  return engine;
};
const found = (engine: SearchEngine, query: string, options: SearchOptions = {}): string[] =>
  engine.search(query, options).map((hit) => `${hit.server}:${hit.tool}`);
const partsOf = (engine: SearchEngine, query: string, place: number, options: SearchOptions = {}) =>
  engine.explain(query, TOOLS[place] as ToolMetadata, '', options)?.score;

describe('words and meaning', () => {
  it('each find what the other does not know', () => {
    expect(found(engineOf(), 'trash that letter')[0]).toBe('mail:delete_draft');
    expect(found(engineOf(TOOLS, false), 'trash that letter')).toEqual([]);
    expect(found(engineOf([...TOOLS, makeTool('x', 'zorp', 'Does zorp')]), 'zorping')[0]).toBe('x:zorp');
  });

  it('give a score that does not depend on which other tools are alike', () => {
    const alone = partsOf(engineOf([TOOLS[0] as ToolMetadata]), 'trash letter', 0);
    const among = partsOf(engineOf(), 'trash letter', 0);
    expect(alone?.meaning).toBeCloseTo(among?.meaning ?? 0, 9);
    expect(alone?.meaning).toBeGreaterThan(0.7);
  });

  it('count as they are weighed', () => {
    const of = (meaningWeight: number) => {
      const engine = new SearchEngine({ model: MODEL, phrases: false, meaningWeight });
      engine.index(TOOLS);
      return partsOf(engine, 'the letter to delete', 0);
    };
    for (const weight of [0, 0.3, 1]) {
      const { words = 0, meaning = 0, total } = of(weight) ?? {};
      expect(total).toBeCloseTo((1 - weight) * words + weight * meaning, 9);
    }
  });
});

describe('what was learnt', () => {
  const learnt = (tool: string, score: number, server = 'mail') => [{ server, tool, score }];

  it('raises a tool above its look-alikes', () => {
    const twins = engineOf([makeTool('a', 'send', 'Send it'), makeTool('b', 'send', 'Send it')]);
    expect(found(twins, 'please send this')[0]).toBe('a:send');
    expect(found(twins, 'please send this', { learnt: learnt('send', 0.5, 'b') })[0]).toBe('b:send');
  });

  it('finds a tool that neither words nor meaning would', () => {
    expect(found(engineOf(), 'spring cleaning', { learnt: learnt('list_drafts', 0.8) })[0]).toBe('mail:list_drafts');
  });

  it('never comes before an exact name', () => {
    for (const query of ['delete_file', 'files:delete_file', 'call delete_file now']) {
      expect(found(engineOf(), query, { learnt: learnt('delete_draft', 1) })[0]).toBe('files:delete_file');
    }
  });

  it('cannot hide a much better answer', () => {
    const hits = found(engineOf(), 'fetch a page', { learnt: learnt('list_drafts', 1) });
    expect(hits[0]).toBe('web:fetch_page');
  });

  it('is bounded, whatever it says', () => {
    const use = (score: number) => partsOf(engineOf(), 'delete a draft', 0, { learnt: learnt('delete_draft', score) });
    expect(use(1e9)?.use).toBe(1);
    for (const score of [-5, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      expect(use(score)?.use).toBe(0);
      expect(use(score)?.total).toBe(use(0)?.total);
    }
  });

  it('may speak of tools that are gone, disabled or filtered out', () => {
    const engine = engineOf([...TOOLS, makeTool('mail', 'purge', 'Purge', { enabled: false })]);
    const raised = [...learnt('nobody', 1), ...learnt('purge', 1), ...learnt('__proto__', 1, '__proto__')];
    expect(found(engine, 'delete a draft', { learnt: raised })).toEqual(found(engine, 'delete a draft'));
    expect(found(engine, 'page server:web', { learnt: learnt('list_drafts', 1) })).toEqual(['web:fetch_page']);
    expect(found(engine, 'page', { server: 'web', learnt: learnt('list_drafts', 1) })).toEqual(['web:fetch_page']);
  });
});

describe('another embedder', () => {
  const similar = (...scores: [string, number][]) =>
    scores.map(([name, score]) => {
      const [server = '', tool = ''] = name.split(':');
      return { server, tool, score };
    });

  it('takes the place of the built-in vectors', () => {
    const options = { similar: similar(['web:fetch_page', 0.9], ['mail:list_drafts', 0.2]) };
    expect(found(engineOf(), 'trash that letter', options)[0]).toBe('web:fetch_page');
    expect(partsOf(engineOf(), 'trash that letter', 3, options)?.meaning).toBe(0.9);
    expect(partsOf(engineOf(), 'trash that letter', 0, options)?.meaning).toBe(0);
  });

  it('works without the built-in vectors', () => {
    const options = { similar: similar(['web:fetch_page', 0.9]) };
    expect(found(engineOf(TOOLS, false), 'trash that letter', options)).toEqual(['web:fetch_page']);
  });

  it('ranks what it left out no higher than what it named', () => {
    const options = { similar: similar(['web:fetch_page', -0.2], ['mail:delete_draft', -0.1]) };
    expect(partsOf(engineOf(), 'trash', 1, options)?.meaning).toBe(-0.2);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'is not believed when it says %d',
    (bad) => {
      const good = similar(['mail:list_drafts', 0.4]);
      const options = { similar: [...good, ...similar(['web:fetch_page', bad])] };
      expect(engineOf().search('trash that letter', options)).toEqual(
        engineOf().search('trash that letter', { similar: good }),
      );
      expect(found(engineOf(), 'trash that letter', { similar: similar(['web:fetch_page', bad]) })).toEqual(
        found(engineOf(), 'trash that letter'),
      );
    },
  );

  it('cannot say more than that two things are the same', () => {
    const options = { similar: similar(['web:fetch_page', 1e6], ['mail:list_drafts', -1e6]) };
    expect(partsOf(engineOf(), 'trash', 3, options)?.meaning).toBe(1);
    expect(partsOf(engineOf(), 'trash', 1, options)?.meaning).toBe(-1);
  });

  it('never comes before an exact name', () => {
    expect(found(engineOf(), 'delete_file', { similar: similar(['web:fetch_page', 1]) })[0]).toBe('files:delete_file');
  });

  it('may be asked about very many tools', () => {
    const many = Array.from({ length: 200_000 }, (_, index) => ({ server: 's', tool: `t${index}`, score: 0.1 }));
    expect(found(engineOf(), 'draft', { similar: [...many, ...similar(['mail:delete_draft', 0.9])] })[0]).toBe(
      'mail:delete_draft',
    );
  });
});
