import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeTool } from '../../test/fixtures/search/make-tool.ts';
import {
  asksForClasses,
  type Classifier,
  type Filterable,
  matchesPattern,
  passes,
  readFilters,
} from './query-filters.ts';
import { SearchEngine } from './search-engine.ts';

const tool: Filterable = {
  server: 'GitHub',
  name: 'create_issue',
  tags: ['Issues', 'write'],
  readOnly: false,
  destructive: false,
  domains: ['github', 'github.issues'],
  categories: ['crud', 'crud.create'],
};
const admits = (query: string, of: Partial<Filterable> = {}): boolean =>
  passes({ ...tool, ...of }, readFilters(query).filters);

describe('readFilters', () => {
  it('takes filters out of a query and leaves the rest', () => {
    const { filters, text } = readFilters('server:github open a ticket -tag:"to do" NAME:Create_*');
    expect(filters).toEqual([
      { key: 'server', value: 'github', pieces: ['github'], not: false },
      { key: 'tag', value: 'to do', pieces: ['to do'], not: true },
      { key: 'name', value: 'create_*', pieces: ['create_', ''], not: false },
    ]);
    expect(text.split(/\s+/).filter(Boolean)).toEqual(['open', 'a', 'ticket']);
  });

  it('takes a value of many stars, or a very long one, for text', () => {
    expect(readFilters(`name:${'*a'.repeat(9)}`).filters).toEqual([]);
    expect(readFilters(`name:${'a'.repeat(129)}`).filters).toEqual([]);
  });

  it.each([
    'https://server:8080/x',
    'fileserver:github',
    'server: github',
    'name:""',
    'servers:github',
    'colour:red',
    'time 12:30',
  ])('leaves %j alone', (query) => {
    expect(readFilters(query)).toEqual({ filters: [], text: query });
  });

  it('takes a domain or a category for text where nothing tells them', () => {
    const query = 'domain:github -category:crud.read open';
    expect(readFilters(query, false)).toEqual({ filters: [], text: query });
    expect(readFilters(query).filters.map(({ key }) => key)).toEqual(['domain', 'category']);
    expect([query, '-category:x', 'DOMAIN:x'].every(asksForClasses)).toBe(true);
    expect(['subdomain:x', 'the domain of x', 'https://domain:80'].some(asksForClasses)).toBe(false);
  });

  it('reads at most sixteen and gives what is beyond to the search', () => {
    const { filters, text } = readFilters('tag:x '.repeat(20));
    expect(filters).toHaveLength(16);
    expect(text.match(/tag:x/g)).toHaveLength(4);
  });

  it('reads any string, and all it takes out is a filter', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 500 }), (noise) => {
        const { filters, text } = readFilters(noise);
        expect(filters.length).toBeLessThanOrEqual(16);
        if (filters.length === 0) expect(text).toBe(noise);
      }),
    );
  });

  it.each(['server:', 'server:"', '-', 'tag:"a', 'name:* '])('stays linear on %j repeated', (piece) => {
    const started = performance.now();
    readFilters(piece.repeat(2_000));
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});

describe('passes', () => {
  it.each<[string, boolean]>([
    ['server:github', true],
    ['server:GITHUB', true],
    ['server:git*', true],
    ['server:git', false],
    ['-server:github', false],
    ['-server:gitlab', true],
    ['server:gitlab server:github', true],
    ['server:github name:delete_*', false],
    ['name:*_issue', true],
    ['tag:issues', true],
    ['tag:issues tag:nothing', true],
    ['tag:iss*', true],
    ['tag:write -tag:issues', false],
    ['readonly:true', false],
    ['readonly:false', true],
    ['readonly:no', true],
    ['-readonly:true', true],
    ['destructive:yes', false],
    ['domain:github', true],
    ['domain:GitHub.Issues', true],
    ['domain:issues', false],
    ['domain:*.issues', true],
    ['-domain:github', false],
    ['category:crud', true],
    ['category:crud.read', false],
    ['category:crud.read category:crud.create', true],
    ['domain:github category:search', false],
    ['', true],
  ])('%j: %s', (query, expected) => {
    expect(admits(query)).toBe(expected);
  });

  it('looks at the hints of a tool', () => {
    expect(admits('readonly:true', { readOnly: true })).toBe(true);
    expect(admits('destructive:1', { destructive: true })).toBe(true);
    expect(admits('-destructive:true', { destructive: true })).toBe(false);
  });
});

describe('matchesPattern', () => {
  it('agrees with the regular expression that a pattern would be', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*'), maxLength: 12 });
    fc.assert(
      fc.property(text, text, (of, pattern) => {
        const expression = pattern.split('*').map((piece) => piece.replaceAll('.', '\\.'));
        expect(matchesPattern(of, pattern.split('*'))).toBe(new RegExp(`^${expression.join('.*')}$`).test(of));
      }),
    );
  });

  it('is quick where a regular expression would not be', () => {
    const started = performance.now();
    expect(matchesPattern('a'.repeat(5_000), `${'*a'.repeat(500)}b`.split('*'))).toBe(false);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

describe('filters in a search', () => {
  const engine = new SearchEngine();
  engine.index([
    makeTool('github', 'create_issue', 'Create an issue', { tags: ['vcs'] }),
    makeTool('github', 'list_issues', 'List issues', { tags: ['vcs'], annotations: { readOnlyHint: true } }),
    makeTool('gitlab', 'create_issue', 'Create an issue', { tags: ['vcs', 'beta'] }),
    makeTool('gitlab', 'delete_project', 'Delete a project', { annotations: { destructiveHint: true } }),
    makeTool('server', 'reboot', 'Boot again'),
  ]);
  const found = (query: string): string[] => engine.search(query).map((hit) => `${hit.server}:${hit.tool}`);

  it('show only what passes them, whichever way it was found', () => {
    expect(found('server:gitlab create_issue')).toEqual(['gitlab:create_issue']);
    expect(found('open a ticket -server:gitlab')[0]).toBe('github:create_issue');
    expect(found('open a ticket -server:gitlab').every((name) => !name.startsWith('gitlab:'))).toBe(true);
    expect(found('issues readonly:true')).toEqual(['github:list_issues']);
    expect(found('server:nobody issues')).toEqual([]);
  });

  it('alone list all that pass them', () => {
    expect(found('tag:vcs').sort()).toEqual(['github:create_issue', 'github:list_issues', 'gitlab:create_issue']);
    expect(found('tag:vcs -tag:beta name:create_*')).toEqual(['github:create_issue']);
    expect(found('destructive:true')).toEqual(['gitlab:delete_project']);
  });

  it('by domain and category ask for each tool once, and only if a query has them', () => {
    let asked = '';
    const classifier: Classifier = {
      domains: ({ server }) => {
        asked += 'd';
        return [`vcs.${server}`];
      },
      categories: ({ name, summary, readOnly }) => {
        asked += 'c';
        return [readOnly ? 'read' : `${name}: ${summary}`.toLowerCase()];
      },
    };
    const names = (query: string): string[] =>
      engine.find(engine.read(query, classifier)).results.map((hit) => `${hit.server}:${hit.tool}`);
    expect(names('tag:beta')).toEqual(['gitlab:create_issue']);
    expect(asked).toBe('');
    expect(names('domain:vcs.github category:read')).toEqual(['github:list_issues']);
    expect(names('domain:vcs -domain:vcs.git* boot')).toEqual(['server:reboot']);
    expect(names('category:"delete_project: delete a project"')).toEqual(['gitlab:delete_project']);
    expect(names('domain:nothing issue')).toEqual([]);
    expect([...asked].sort().join('')).toBe('cccccddddd');
  });

  it('never hide a tool that the query names, server and all', () => {
    expect(found('server:reboot')[0]).toBe('server:reboot');
  });
});
