import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { firstSentence } from '../../text/plain-text.ts';
import { toolToManifest } from '../manifest.ts';
import { indexClassifier, ruleClassifier } from './classify-tool.ts';
import { inferCategories } from './infer-categories.ts';
import { extractPrimaryDomain, extractSubDomain, inferDomains } from './infer-domains.ts';
import { plural } from './name-words.ts';
import { CATEGORIES } from './verbs.ts';

describe('the examples of 004', () => {
  it('take the domain from the name of the server', () => {
    expect(extractPrimaryDomain('modelcontextprotocol/github')).toBe('github');
    expect(extractPrimaryDomain('aws-s3-server')).toBe('cloud.aws');
  });

  it('take the sub-domain from the name of the tool', () => {
    expect(extractSubDomain('list_issues')).toBe('issues');
    expect(extractSubDomain('get_pull_request')).toBe('pull_requests');
    expect(inferDomains('github', 'list_issues')).toEqual(['github', 'github.issues']);
  });

  it('take the category from the name of the tool', () => {
    expect(inferCategories('list_issues')).toEqual(['crud.read']);
    expect(inferCategories('create_issue')).toEqual(['crud.create']);
    expect(inferCategories('search_code')).toEqual(['crud.read', 'search']);
  });
});

describe('domains', () => {
  test.each([
    ['@acme/weather-mcp-server', 'weather'],
    ['io.github.acme/mcp-server-postgres', 'postgres'],
    ['com.notion/mcp', 'notion'],
    ['kioskmcp', 'kiosk'],
    ['@acme/hubspot-mcp-2', 'hubspot'],
    ['google-cloud-run', 'cloud.gcp'],
    ['xero-mcp@someone', 'xero'],
    ['mcp', 'mcp'],
    ['', 'unknown'],
  ])('the server %s is about %s', (server, domain) => {
    expect(extractPrimaryDomain(server)).toBe(domain);
  });

  test.each([
    ['getPullRequestAuthors', 'github', 'pull_request_authors'],
    ['kiosk_label_get', 'kiosk', 'labels'],
    ['kiosk_createShelfTemplate', 'kiosk', 'shelf_templates'],
    ['create_or_update_shelf', 'kiosk', 'shelfs'],
    ['add_reader_to_shelf', 'acme', 'readers'],
    ['add-to-reading-pile', 'acme', 'reading_piles'],
    ['shelf-row-update-plan', 'acme', 'plans'],
    ['API-retrieve-a-shelf', 'kiosk', 'shelfs'],
    ['discard_list', 'trello', 'lists'],
    ['kiosk_pull', 'kiosk', undefined],
    ['publish', 'acme', undefined],
    ['search_kiosk', 'kiosk', undefined],
  ])('the tool %s of %s is about %s', (tool, server, domain) => {
    expect(extractSubDomain(tool, server)).toBe(domain);
  });

  it('form plurals', () => {
    expect(['query', 'box', 'key', 'class', 'news', 'analysis', 'issues', 'status'].map(plural)).toEqual([
      'queries',
      'boxes',
      'keys',
      'classes',
      'news',
      'analysis',
      'issues',
      'status',
    ]);
  });
});

describe('categories', () => {
  test.each<[string, string[]]>([
    ['kiosk_create_shelf', ['crud.create']],
    ['shelf_get_trigger', ['crud.read']],
    ['compute_shelf_update', ['crud.update']],
    ['create_or_update_shelf', ['crud.create', 'crud.update']],
    ['shelves_delete', ['crud.delete']],
    ['shelf_search', ['crud.read', 'search']],
    ['send_postcard', ['send']],
    ['send_coins', ['execute']],
    ['run_kiosk', ['execute']],
    ['convert_shelf', ['transform']],
    ['generate_poster', ['generate']],
    ['barometer', []],
  ])('%s is %j', (tool, categories) => {
    expect(inferCategories(tool)).toEqual(categories);
  });

  it('come from the description if the name has no verb, and then from the annotations', () => {
    expect(inferCategories('barometer', { description: 'Returns the weather of a city.' })).toEqual(['crud.read']);
    expect(inferCategories('board', { description: 'This tool deletes boards.' })).toEqual(['crud.delete']);
    expect(inferCategories('barometer', { annotations: { readOnlyHint: true } })).toEqual(['crud.read']);
  });

  it('do not believe a server that calls a deletion read-only', () => {
    const hints = { annotations: { readOnlyHint: true }, description: 'Reads.' };
    expect(inferCategories('delete_shelf', hints)).toEqual(['crud.delete']);
  });

  it('leave the name of the server out of the tool’s', () => {
    expect(inferCategories('post_post_message', { server: 'post', description: 'Post a message.' })).toEqual(['send']);
  });
});

it('takes any names and texts, and gives plain domains and known categories', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'binary' }),
      fc.string(),
      (server, tool, description) => {
        const domains = inferDomains(server, tool);
        for (const domain of domains) expect(domain).toMatch(/^[\p{L}\p{N}_.]+$/u);
        expect(domains.length === 1 || domains[1]?.startsWith(`${domains[0]}.`)).toBe(true);
        for (const category of inferCategories(tool, { server, description })) expect(CATEGORIES).toContain(category);
      },
    ),
  );
  expect(inferDomains('a_'.repeat(1e6), 'get-'.repeat(1e6))[0]?.length).toBeLessThan(1000);
});

it('gives a search index the domains and categories of the manifest', () => {
  const word = fc.constantFrom(
    'get',
    'Lists',
    'issue',
    'board',
    'This',
    'tool',
    'deletes',
    '.',
    '!\n',
    '\n\n',
    '-',
    'a…',
    '`x`',
  );
  const text = fc.array(word, { maxLength: 40 }).map((words) => words.join(' '));
  const name = fc.array(fc.constantFrom('get', 'issue', 'send', 'coin', 'board'), { maxLength: 4 });
  fc.assert(
    fc.property(name, text, fc.boolean(), (words, description, readOnlyHint) => {
      const tool = { name: words.join('_'), description, annotations: { readOnlyHint } };
      const { domains, categories } = toolToManifest(tool, { name: 'github' });
      const classifier = indexClassifier([]);
      const known = { server: 'github', name: tool.name, summary: firstSentence(description), readOnly: readOnlyHint };
      expect([classifier.domains(known), classifier.categories(known)]).toEqual([domains, categories]);
    }),
  );
});

it('come from the configuration wherever they are shown', () => {
  const server = { name: 'github', domains: ['work'], tools: [{ name: 'nuke', categories: ['crud.delete'] }] };
  const [index, rules] = [indexClassifier([server]), ruleClassifier([server])];
  const tool = { name: 'nuke', inputSchema: {} };
  const { domains, categories } = toolToManifest(tool, server);
  expect([domains, categories]).toEqual([['work'], ['crud.delete']]);
  expect(rules('github', tool)).toEqual({ domains, categories, readOnly: false });
  const known = { server: 'github', name: 'nuke', summary: '', readOnly: true };
  expect([index.domains(known), index.categories(known)]).toEqual([domains, categories]);
  // What a project says of its servers gets past no rule.
  expect(ruleClassifier([{ ...server, isProjects: true }])('github', tool).domains[0]).toBe('github');
});
