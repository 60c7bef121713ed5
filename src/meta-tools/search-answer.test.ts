import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, it } from 'vitest';
import { requests, workplace } from '../../test/fixtures/search/written.ts';
import type { SearchResult } from '../core/types.ts';
import { SearchEngine } from '../search/search-engine.ts';
import { searchAnswer } from './search-answer.ts';

const hit = (index: number, changes: Partial<SearchResult> = {}): SearchResult => ({
  server: 'github',
  tool: `create_pull_request_${index}`,
  summary: 'Create a new pull request in a repository, from one branch into another one, with title and body',
  relevance: 0.9 - index / 100,
  tags: [],
  args: "owner, repo, title, head, base, body?, draft?: boolean, state?: 'open'|'closed', labels?: string[]",
  ...changes,
});
const hits = Array.from({ length: 10 }, (_, index) => hit(index));
const shown = (results: readonly SearchResult[], limited = false) => {
  const text = String(searchAnswer(results, [], limited).content?.[0]?.text);
  return { text, results: JSON.parse(text).results as Record<string, unknown>[] };
};

it('stays within two hundred tokens when no number was asked for, the best hits in full', () => {
  const { text, results } = shown(hits);
  expect(countTokens(text)).toBeLessThan(200);
  expect(results.length).toBeGreaterThanOrEqual(4);
  expect(results[0]).toMatchObject({ server: 'github', tool: 'create_pull_request_0', relevance: 0.9 });
  expect(results[0]?.args).toBe('owner, repo, title, head, base, body?, draft?: boolean, …');
  expect(results.at(-1)).not.toHaveProperty('args');
});

it('stays within two hundred tokens for requests for several things, with a tool for each that fits', () => {
  const engine = new SearchEngine();
  engine.index(workplace());
  const answers = requests('several-acts').map(({ query }) => shown(engine.search(query)));
  expect(Math.max(...answers.map(({ text }) => countTokens(text)))).toBeLessThanOrEqual(200);
  const places = answers.map(({ results }) => results.map(({ server, tool }) => `${server}:${tool}`));
  const parts = requests('several-acts').flatMap(({ relevant }, at) =>
    [...new Set(relevant.map(({ group }) => group))].map((group) =>
      relevant.some((tool) => tool.group === group && places[at]?.slice(0, 5).includes(`${tool.server}:${tool.name}`)),
    ),
  );
  expect(parts.filter(Boolean).length / parts.length).toBeGreaterThanOrEqual(0.92);
});

it('names further tools without their summaries while there is room for the names', () => {
  const { results } = shown(hits);
  expect(results.at(-1)).toEqual({ server: 'github', tool: expect.any(String), relevance: expect.any(Number) });
});

it('gives all that was asked for, in full, when a number was', () => {
  expect(shown(hits, true).results).toEqual(hits.map(({ tags: _, ...rest }) => rest));
});

it('always shows the best hit, however long its names', () => {
  const { results } = shown([hit(0, { tool: 'x'.repeat(2000), tags: ['a'] }), hit(1)]);
  expect(results[0]).toMatchObject({ tags: ['a'] });
});

it('shows the first three, however long the names of one of them', () => {
  const { results } = shown([hit(0, { tool: 'x'.repeat(2000) }), ...hits.slice(1)]);
  expect(results.map(({ tool }) => tool).slice(1)).toEqual([hits[1]?.tool, hits[2]?.tool]);
});

it('cuts a single long parameter rather than leaving it out', () => {
  expect(shown([hit(0, { args: 'x'.repeat(200) })]).results[0]?.args).toMatch(/^x+…$/);
  expect(shown([hit(0, { args: undefined })]).results[0]).not.toHaveProperty('args');
});

it('keeps every tool that was asked for by name, with nothing but its names once room is short', () => {
  const named = Array.from({ length: 10 }, (_, index) => hit(index, { relevance: 1 }));
  const { results } = shown(named);
  expect(results).toHaveLength(10);
  expect(results[9]).toEqual({ server: 'github', tool: 'create_pull_request_9', relevance: 1 });
});

it('gives resources and prompts the room that tools leave, and says how to read those that it shows', () => {
  const item = hit(0, { kind: 'resource', tool: 'docs://pull-requests', relevance: 0.9 });
  const [first, ...others] = hits as [SearchResult, ...SearchResult[]];
  const full = shown([first, item, ...others]);
  expect(full.results).toEqual(shown(hits).results);
  expect(JSON.parse(full.text)).not.toHaveProperty('notes');
  const few = shown([first, item, hit(1, { kind: 'prompt', tool: 'review' })]);
  expect(few.results.map(({ tool, uri, name }) => tool ?? uri ?? name)).toEqual([first.tool, item.tool, 'review']);
  expect(JSON.parse(few.text).notes).toHaveLength(2);
  expect(shown([item, ...hits]).results[0]).toMatchObject({ kind: 'resource', uri: item.tool });
});
