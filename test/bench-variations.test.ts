/** The rules by which bench/search makes queries that ask for one part of the search. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

type Random = (below: number) => number;
type Rule = (query: string, random: Random, tool?: object) => string | undefined;

const rules = (await import(new URL('../bench/search/variations.mjs', import.meta.url).href)) as {
  [rule: string]: Rule;
} & {
  contentWords(query: string, shortest?: number): { word: string; index: number }[];
  misspellings(word: string): string[];
  spellings(name: string): string[];
  spokenServer(server: string): string;
  twoNames(names: string[], random: Random): string;
  madeUpWord(random: Random): string;
  pieceOf(text: string, random: Random): string | undefined;
  seedOf(text: string): number;
};

/** A list of drawn numbers, each brought below the bound it is asked for. */
const randomOf = (numbers: readonly number[]): Random => {
  let at = 0;
  return (below) => (numbers[at++ % numbers.length] as number) % below;
};
const first: Random = () => 0;
const drawn = fc.array(fc.nat(), { minLength: 1, maxLength: 8 });

const TOOL = {
  server: '@acme/github-mcp-server',
  name: 'createPullRequest',
  text: 'github createPullRequest Open a request',
  about: 'Hosting of source code for companies',
  parameters: ['id', 'baseBranch'],
  words: ['Invoice', 'holiday'],
  jargon: 'zubafoti',
};
const QUERY_RULES = [
  'withTypo',
  'unfinished',
  'withValue',
  'withServer',
  'withAbout',
  'withParameter',
  'inOtherWords',
  'inAnotherForm',
  'nameAlone',
  'withJoinedName',
  'inJargon',
];
const request = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc
    .array(fc.constantFrom('delete', 'the', 'folders', 'report', '"a b"', 'x_y', '<id>', 'Show', 'image,'))
    .map((words) => words.join(' ')),
);

describe('a rule for queries', () => {
  it.each(QUERY_RULES)('%s gives another query or none, and the same one for the same numbers', (name) => {
    const rule = rules[name] as Rule;
    fc.assert(
      fc.property(request, drawn, (query, numbers) => {
        const varied = rule(query, randomOf(numbers), TOOL);
        expect(rule(query, randomOf(numbers), TOOL)).toBe(varied);
        if (varied === undefined) return;
        expect(typeof varied).toBe('string');
        if (query !== varied) expect(varied).not.toBe('');
        expect(varied).not.toContain('undefined');
      }),
    );
  });

  it.each<[string, string, string]>([
    ['withTypo', 'create a folder', 'cerate a folder'],
    ['unfinished', 'delete the old repository now', 'delete the old repo'],
    ['withValue', 'open a report.', 'open a report for "invoice invoice invoice"'],
    ['withServer', 'open a request.', 'open a request in github'],
    ['withAbout', 'open a request', 'open a request, hosting source'],
    ['withParameter', 'open a request', 'open a request by base branch'],
    ['inOtherWords', 'Delete a picture', 'Remove a picture'],
    ['inAnotherForm', 'Delete folders', 'Deletes folders'],
    ['nameAlone', 'open a request', 'create_pull_request'],
    ['withJoinedName', 'open a request', 'open a request, createpullrequest'],
    ['inJargon', 'open a request', 'zubafoti a request'],
  ])('%s makes of %j for example %j', (name, query, varied) => {
    expect((rules[name] as Rule)(query, first, TOOL)).toBe(varied);
  });

  it.each<[string, string]>([
    ['withTypo', 'what is it'],
    ['unfinished', 'repositories'],
    ['withServer', 'open a request in GitHub'],
    ['withAbout', 'hosting source code companies'],
    ['inOtherWords', 'xylophone'],
    ['inAnotherForm', '"folders" <reports>'],
    ['inJargon', '/etc/hosts'],
  ])('%s does not fit %j', (name, query) => {
    expect((rules[name] as Rule)(query, first, TOOL)).toBeUndefined();
  });

  it('finds words that stand by themselves, where they stand, and none in values', () => {
    expect(rules.contentWords('Show (nightly) builds of <build-id> in "old places", x_builds')).toEqual([
      { word: 'nightly', index: 6 },
      { word: 'builds', index: 15 },
    ]);
    fc.assert(
      fc.property(request, (query) => {
        for (const { word, index } of rules.contentWords(query))
          expect(query.slice(index, index + word.length)).toBe(word);
      }),
    );
  });

  it('misspells a word once, and never its first letter', () => {
    const word = fc.string({ unit: fc.constantFrom(...'abcdefgh'), minLength: 2, maxLength: 12 });
    fc.assert(
      fc.property(word, (right) => {
        for (const wrong of rules.misspellings(right)) {
          expect(wrong).not.toBe(right);
          expect(wrong[0]).toBe(right[0]);
          expect(Math.abs(wrong.length - right.length)).toBeLessThanOrEqual(1);
          // What differs lies within two letters: before and after it both are the same.
          let start = 0;
          while (start < right.length && wrong[start] === right[start]) start++;
          expect(wrong.endsWith(right.slice(start + 2))).toBe(true);
        }
      }),
    );
  });

  it('leaves of an unfinished query only its beginning', () => {
    fc.assert(
      fc.property(request, drawn, (query, numbers) => {
        const begun = (rules.unfinished as Rule)(query, randomOf(numbers));
        if (begun !== undefined) expect(query.startsWith(begun) && begun !== query).toBe(true);
      }),
    );
  });

  it('spells a name in the ways people do, and names two of them at once', () => {
    const all = ['get_big_file', 'get-big-file', 'get big file', 'Get Big File', 'getBigFile'];
    for (const name of all) expect(rules.spellings(name)).toEqual(all);
    expect(rules.spellings('ping')).toEqual([]);
    expect(rules.twoNames(['get_file', 'ping'], () => 2)).toBe('call get_file and then ping on what it gives');
  });

  it('calls a server what people call it', () => {
    expect(['@acme/github-mcp-server', 'mcp', 'trends-hub'].map(rules.spokenServer)).toEqual([
      'github',
      '',
      'trends hub',
    ]);
  });

  it('takes pieces of texts without spaces', () => {
    expect(rules.pieceOf('Search: 使用必应搜索指定的关键词', first)).toBe('使用必应搜索');
    expect(rules.pieceOf('nothing of the kind', first)).toBeUndefined();
  });

  it('makes words that are none, and a seed of every text', () => {
    expect(rules.madeUpWord(first)).toBe('babababa');
    expect(rules.seedOf('a')).not.toBe(rules.seedOf('b'));
  });
});
