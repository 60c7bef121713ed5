import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requests, workplace } from '../../test/fixtures/search/written.ts';
import { actsOf } from './acts.ts';
import { evaluate, type Summary, summarize } from './evaluate.ts';
import { SearchEngine } from './search-engine.ts';
import type { SearchEngineOptions } from './settings.ts';

describe('the acts of a request', () => {
  it.each([
    ['read the report and mail it to Ann', ['read the report', 'and mail it to Ann']],
    ['Clone the repo, create a branch and push it', ['Clone the repo', 'create a branch', 'and push it branch']],
    ['Refund order 7. Then open a ticket', ['Refund order 7', 'Then open a ticket']],
    ['1. list the pods\n2. restart the api', ['list the pods', 'restart the api']],
    [
      'Who owns example.org, and which ports are open there?',
      ['Who owns example.org', 'and which ports are open there'],
    ],
    ['My flight is late: find a train and tell the hotel', ['find a train', 'and tell the hotel']],
  ])('of %j are %j', (request, acts) => {
    expect(actsOf(request)).toEqual(acts);
  });

  it.each([
    'create and update an issue',
    'find and replace a word in a file',
    'search for cats and dogs',
    'list the names, types and comments of the columns',
    'post that we will test and deploy tomorrow',
    'write "read the file, then delete it" into the log',
    'create a cluster in Dublin. Do not pause it. Use the name blue.',
    'Since the update the app crashes when I save and close a file. Create a ticket for it.',
    'get_file and delete_file',
    '',
  ])('are not looked for in %j, which asks for one thing', (request) => {
    expect(actsOf(request)).toEqual([]);
  });

  it('are found in nearly all written requests for several things, and in hardly any for one', () => {
    const split = (name: 'several-acts' | 'one-act'): number =>
      requests(name).filter(({ query }) => actsOf(query).length > 1).length;
    expect(split('several-acts')).toBeGreaterThanOrEqual(130);
    expect(split('one-act')).toBeLessThanOrEqual(4);
  });

  it('are at most four, each from the request, for any string', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('find the', 'cats', 'and', ',', '.', 'then', '"', 'open a', '\n', '𐏿')),
        (words) => {
          expect(actsOf(words.join(' ')).length).toBeLessThanOrEqual(4);
        },
      ),
    );
    expect(actsOf('then open the door '.repeat(500)).length).toBeLessThanOrEqual(4);
  });
});

describe('a request for several things', () => {
  const figures = async (name: 'several-acts' | 'one-act', options: SearchEngineOptions = {}): Promise<Summary> => {
    const engine = new SearchEngine(options);
    engine.index(workplace());
    const toTools = (query: string, limit?: number) =>
      engine.search(query, { limit }).map(({ server, tool }) => ({ server, name: tool }));
    const answer = (query: string) => ({ tools: toTools(query), text: '' });
    return summarize([await evaluate({ rank: toTools, answer }, requests(name))]);
  };

  it('is answered with the tools for nearly all of its parts; the same request for one thing is not harmed', async () => {
    const [whole, without] = [await figures('several-acts'), await figures('several-acts', { without: ['acts'] })];
    expect(whole.shown?.value).toBeGreaterThanOrEqual(0.92);
    expect(whole.shown?.value).toBeGreaterThan((without.shown?.value ?? 1) + 0.05);
    // One request of 150.
    expect(whole.figures.hit1.value).toBeGreaterThan(without.figures.hit1.value - 0.01);
    const [one, oneWithout] = [await figures('one-act'), await figures('one-act', { without: ['acts'] })];
    expect(one.figures.ndcg10.value).toBeGreaterThanOrEqual(oneWithout.figures.ndcg10.value);
  });

  it('says in its explanation how well a tool does each act', () => {
    const engine = new SearchEngine();
    const tools = workplace();
    engine.index(tools);
    const merge = tools.find(({ name }) => name === 'merge_pdfs');
    const explained = merge && engine.explain('merge the two PDFs, then send them to my lawyer by email', merge);
    expect(explained?.acts?.map(({ text }) => text)).toEqual([
      'merge the two PDFs',
      'then send them to my lawyer by email',
    ]);
    const [first, second] = explained?.acts ?? [];
    expect(first?.score).toBeGreaterThan(2 * (second?.score ?? 1));
    expect(merge && engine.explain('merge the two PDFs', merge)).not.toHaveProperty('acts');
  });

  it('has the best tool of each part among the first, with a relevance of its own', () => {
    const engine = new SearchEngine();
    engine.index(workplace());
    const hits = engine.search(
      'dim the lights in the kitchen, convert 50 dollars to euros and look up who registered our domain',
    );
    expect(
      hits
        .slice(0, 3)
        .map(({ tool }) => tool)
        .sort(),
    ).toEqual(['convert_currency', 'set_light', 'whois']);
    for (const { relevance } of hits.slice(0, 3)) expect(relevance).toBeGreaterThan(0.3);
  });
});
