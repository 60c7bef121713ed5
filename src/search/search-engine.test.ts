import { describe, expect, it } from 'vitest';
import { makeTool } from '../../test/fixtures/search/make-tool.ts';
import type { ToolMetadata } from '../core/types.ts';
import { SearchEngine } from './search-engine.ts';

const tool = (server: string, name: string, description = '', more: Partial<ToolMetadata> = {}): ToolMetadata => ({
  server,
  name,
  summary: description,
  description,
  enabled: true,
  tags: [],
  ...more,
});

const TOOLS: readonly ToolMetadata[] = [
  tool('github', 'create_issue', 'Create a new issue in a GitHub repository', {
    signature: 'repo, title, body?',
    tags: ['vcs'],
    inputSchema: {
      properties: { repo: { description: 'Owner and name' }, assignee: { enum: ['octocat'] } },
    },
  }),
  tool('github', 'list_issues', 'List issues of a repository'),
  tool('github', 'create_pull_request', 'Open a pull request'),
  tool('github', 'delete_repository', 'Delete a repository for good', { enabled: false }),
  tool('gitlab', 'create_issue', 'Create an issue in a GitLab project'),
  tool('files', 'readFile', 'Read a file from disk', { inputSchema: { properties: { encoding: {} } } }),
  tool('files', 'write_file', 'Write text to a file', { keywords: ['persist'] }),
  tool('files', 'search', 'Search for files by pattern'),
  tool('mail', 'send_message', 'Send an e-mail to somebody'),
  tool('bing-cn', 'bing_search', '使用必应搜索指定的关键词，并返回搜索结果列表'),
  tool('weather', 'forecast', 'Weather of the coming days', {
    inputSchema: undefined,
    parameters: [{ name: 'latitude', type: 'number', description: 'Degrees north', required: true }],
  }),
];

const engineOf = (tools: readonly ToolMetadata[] = TOOLS): SearchEngine => {
  const engine = new SearchEngine();
  engine.index(tools);
  return engine;
};

const found = (engine: SearchEngine, query: string, options = {}): string[] =>
  engine.search(query, options).map((hit) => `${hit.server}:${hit.tool}`);

describe('SearchEngine', () => {
  it('ranks the tool that does what was asked first', () => {
    const engine = engineOf();
    expect(found(engine, 'github issue create')[0]).toBe('github:create_issue');
    expect(found(engine, 'open a pull request')[0]).toBe('github:create_pull_request');
    expect(found(engine, 'sending an email')[0]).toBe('mail:send_message');
    expect(found(engine, 'what will the weather be tomorrow')[0]).toBe('weather:forecast');
  });

  it('gives a hit everything that search_tools shows', () => {
    expect(engineOf().search('github issue create')[0]).toEqual({
      server: 'github',
      tool: 'create_issue',
      summary: 'Create a new issue in a GitHub repository',
      relevance: expect.closeTo(0.95, 1),
      tags: ['vcs'],
      args: 'repo, title, body?',
    });
    expect(engineOf().search('list issues')[0]).not.toHaveProperty('args');
  });

  it.each([
    ['assignee', 'github:create_issue', 'a parameter name'],
    ['octocat', 'github:create_issue', 'a permitted value'],
    ['vcs', 'github:create_issue', 'a tag'],
    ['persist', 'files:write_file', 'a keyword'],
    ['latitude', 'weather:forecast', 'a listed parameter'],
    ['degrees', 'weather:forecast', 'a parameter description'],
    ['readfile', 'files:readFile', 'a name without its capitals'],
    ['必应', 'bing-cn:bing_search', 'Chinese text'],
    ['persist txt', 'files:write_file', 'a keyword among others'],
    ['ticket', 'github:create_issue', 'a synonym'],
    ['foreca', 'weather:forecast', 'the beginning of a word'],
    ['wether forcast', 'weather:forecast', 'words with typos'],
    ['reposittory isue', 'github:create_issue', 'typos in stems'],
  ])('finds %j → %s by %s', (query, expected) => {
    expect(found(engineOf(), query)).toContain(expected);
  });

  it.each([
    ['搜索', 'bing-cn:bing_search', 'part of a Chinese sentence'],
    ['必应搜索结果', 'bing-cn:bing_search', 'Chinese without spaces'],
    ['天気予報', 'jp:tenki', 'Japanese'],
    ['날씨', 'kr:weather_kr', 'Korean'],
    ['погода в Москве', 'ru:pogoda', 'Russian in another case'],
    ['ПОГОДА', 'ru:pogoda', 'capitals'],
    ['رسالة', 'ar:send_ar', 'Arabic'],
    ['สภาพอากาศ', 'th:weather_th', 'Thai'],
    ['Rechnung loschen', 'de:rechnung', 'German without its dots'],
    ['καιρός', 'gr:kairos', 'Greek'],
  ])('finds %j → %s: %s', (query, expected) => {
    const engine = engineOf([
      ...TOOLS,
      tool('jp', 'tenki', '東京の天気予報を取得します'),
      tool('kr', 'weather_kr', '서울의 날씨 정보를 조회합니다'),
      tool('ru', 'pogoda', 'Показывает погода и прогноз'),
      tool('ar', 'send_ar', 'إرسال رسالة إلى مستخدم'),
      tool('th', 'weather_th', 'ตรวจสอบสภาพอากาศวันนี้'),
      tool('de', 'rechnung', 'Eine Rechnung löschen'),
      tool('gr', 'kairos', 'Ο καιρός σήμερα'),
    ]);
    expect(found(engine, query)[0]).toBe(expected);
  });

  it('can do without synonyms and with other weights', () => {
    const engine = new SearchEngine({ synonyms: false, weights: { keywords: 0 }, k1: 2 });
    engine.index(TOOLS);
    expect(found(engine, 'persist')).toEqual([]);
  });

  it.each(['CREATE_ISSUE', 'createIssue', 'create issue'])(
    'puts a name in other letters first, but not as sure: %s',
    (query) => {
      const [first] = engineOf().search(query);
      expect(first?.tool).toBe('create_issue');
      expect(first?.relevance).toBeLessThan(1);
    },
  );

  it.each([
    'create_issue',
    'github:create_issue',
    'github__create_issue',
    'github.create_issue',
    'github/create_issue',
    'please call github:create_issue now',
  ])('puts an exact name first: %s', (query) => {
    const [first] = engineOf().search(query);
    expect(first).toMatchObject({ tool: 'create_issue', relevance: 1 });
  });

  it('obeys a server in front of a name', () => {
    expect(found(engineOf(), 'gitlab:create_issue')[0]).toBe('gitlab:create_issue');
    expect(engineOf().search('gitlab:create_issue', { limit: 5 })[1]?.relevance).toBeLessThan(1);
  });

  it('prefers the name that is spelled just so', () => {
    const engine = engineOf([tool('a', 'readfile'), tool('b', 'read_file'), tool('c', 'readFile')]);
    expect(found(engine, 'read_file')[0]).toBe('b:read_file');
  });

  it('gives each of several names a place, whoever else has them', () => {
    const many = Array.from({ length: 30 }, (_, index) => tool(`s${index}`, 'read_file', 'Read a file'));
    const engine = engineOf([...many, tool('z', 'write_file', 'Write'), tool('z', 'echo', 'Say it again')]);
    expect(found(engine, 'read_file, write_file', { limit: 3 })).toContain('z:write_file');
    expect(found(engine, 'echo read_file', { limit: 2 })[0]).toBe('z:echo');
  });

  it('does not take a plain word in a sentence for a name', () => {
    const [first] = engineOf().search('search the weather forecast of the coming days');
    expect(first).toMatchObject({ server: 'weather' });
  });

  it('takes names of any kind for names', () => {
    const names = ['__proto__', 'constructor', 'toString', '???', 'the', '検索', 'a'.repeat(300)];
    const engine = engineOf(names.map((name) => tool('odd', name)));
    for (const name of names) expect(engine.search(name)[0]).toMatchObject({ tool: name, relevance: 1 });
    engine.setServer('__proto__', [tool('x', 'hasOwnProperty')]);
    expect(found(engine, 'hasOwnProperty')).toEqual(['__proto__:hasOwnProperty']);
  });

  it('shows only tools of the server asked for', () => {
    expect(found(engineOf(), 'create issue', { server: 'gitlab' })).toEqual(['gitlab:create_issue']);
    expect(found(engineOf(), 'create issue', { server: 'nobody' })).toEqual([]);
  });

  it('withholds disabled tools and says how many', () => {
    const engine = engineOf();
    const { results, withheld } = engine.find('delete repository');
    expect(results.map((hit) => hit.tool)).not.toContain('delete_repository');
    expect(withheld).toBe(1);
    const all = engine.find('delete repository', { includeDisabled: true });
    expect(all.results[0]).toMatchObject({ tool: 'delete_repository' });
    expect(all.withheld).toBe(0);
    expect(engine.find('weather').withheld).toBe(0);
  });

  it('fills the places of withheld tools with the next best', () => {
    const engine = engineOf([
      ...Array.from({ length: 5 }, (_, index) => tool('a', `drop_table_${index}`, 'drop table', { enabled: false })),
      tool('b', 'table_info', 'About a table'),
    ]);
    expect(engine.find('drop table', { limit: 2 })).toMatchObject({ results: [{ tool: 'table_info' }], withheld: 2 });
  });

  it('shows at most ten, fewer where relevance falls off, and as many as asked for', () => {
    const many = Array.from({ length: 200 }, (_, index) => tool('s', `alpha_${index}`, 'alpha'));
    const engine = engineOf([...many, tool('t', 'beta', 'gamma delta'), tool('t', 'epsilon', 'mentions beta once')]);
    expect(found(engine, 'alpha')).toHaveLength(10);
    expect(found(engine, 'alpha', { limit: 25 })).toHaveLength(25);
    expect(found(engine, 'alpha', { limit: 5_000 })).toHaveLength(100);
    expect(found(engine, 'alpha', { limit: 0 })).toEqual([]);
    expect(found(engine, 'alpha', { limit: Number.NaN })).toHaveLength(10);
    expect(found(engine, 'beta delta alpha', { limit: 100 }).length).toBeGreaterThan(
      found(engine, 'beta delta alpha').length,
    );
  });

  it('keeps relevance low for nonsense and for questions nobody answers', () => {
    const engine = engineOf();
    for (const query of [
      'asdfgh qwerty zxcvb',
      'how do I bake sourdough bread',
      'colorless green ideas sleep furiously',
    ]) {
      for (const { relevance } of engine.search(query, { limit: 10 })) expect(relevance).toBeLessThan(0.2);
    }
    expect(engine.search('')).toEqual([]);
    expect(engine.search('   ')).toEqual([]);
    expect(engine.search('?!')).toEqual([]);
    expect(new SearchEngine().search('anything')).toEqual([]);
  });

  it('means the same by a relevance whether the index is small or large', () => {
    const others = Array.from({ length: 2_000 }, (_, index) =>
      tool(`s${index % 50}`, `unrelated_${index}`, `Thing number ${index} about topic${index % 77}`),
    );
    const small = engineOf().search('github issue create')[0]?.relevance ?? 0;
    const large = engineOf([...TOOLS, ...others]).search('github issue create')[0]?.relevance ?? 0;
    expect(Math.abs(small - large)).toBeLessThan(0.15);
  });

  it('finds a server by what is said about it, without making its words look common', () => {
    const engine = new SearchEngine();
    const list = (server: string): ToolMetadata[] =>
      Array.from({ length: 20 }, (_, index) => tool(server, `action_${index}`, 'Does it'));
    engine.setServer('ledger', list('ledger'), 'Bookkeeping and invoices');
    engine.setServer('other', [...list('other'), tool('other', 'invoice_pdf', 'Prints an invoice')], 'Printing');
    expect(found(engine, 'bookkeeping')[0]).toMatch(/^ledger:action_/);
    expect(found(engine, 'invoice')[0]).toBe('other:invoice_pdf');
    expect(engine.search('invoice')[0]?.relevance).toBeGreaterThan(0.8);
  });

  it('replaces, adds and removes one server at a time', () => {
    const engine = engineOf();
    expect(engine.size).toBe(TOOLS.length);
    expect(engine.servers()).toEqual(['bing-cn', 'files', 'github', 'gitlab', 'mail', 'weather']);
    engine.setServer('mail', [tool('mail', 'archive_thread', 'Archive a conversation')]);
    expect(found(engine, 'archive')).toEqual(['mail:archive_thread']);
    expect(found(engine, 'send somebody')).toEqual([]);
    engine.removeServer('mail');
    engine.removeServer('mail');
    expect(found(engine, 'archive')).toEqual([]);
    expect(engine.servers()).not.toContain('mail');
    expect(engine.size).toBe(TOOLS.length - 1);
    engine.setServer('empty', []);
    expect(engine.servers()).toContain('empty');
    engine.index([]);
    expect([engine.size, engine.servers(), engine.search('issue')]).toEqual([0, [], []]);
  });

  it('keeps a server findable while its replacement is read in steps', () => {
    const engine = engineOf();
    const tools = Array.from({ length: 250 }, (_, index) => tool('mail', `mail_${index}`, 'New mail tool'));
    const steps = engine.setServerInSteps('mail', tools);
    expect(steps.next()).toEqual({ done: false, value: 100 });
    expect(found(engine, 'send_message')).toContain('mail:send_message');
    expect([...steps]).toEqual([200]);
    expect(found(engine, 'send_message')).not.toContain('mail:send_message');
    expect(engine.size).toBe(TOOLS.length - 1 + 250);
  });

  it('counts the last of two tools with one name', () => {
    const engine = engineOf([tool('s', 'twice', 'first wording'), tool('s', 'twice', 'second wording')]);
    expect(engine.size).toBe(1);
    expect(engine.search('twice')[0]?.summary).toBe('second wording');
  });

  it('survives tools of unreasonable size', () => {
    const huge = tool('s', 'huge', `${'lorem ipsum '.repeat(2_000)} tail`, {
      annotations: { title: 7 } as never,
      inputSchema: {
        properties: Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`param_${index}`, {}])),
      },
      tags: ['a\u0000b', ''],
    });
    const engine = engineOf([...TOOLS, huge]);
    expect(found(engine, 'lorem')).toEqual(['s:huge']);
    expect(found(engine, 'create issue')[0]).not.toBe('s:huge');
    expect(engine.search('huge')[0]?.tags).toEqual(['ab', '']);
  });

  it('finds a name wherever it stands in a long query', () => {
    const words = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ');
    expect(found(engineOf(), `${words} github:create_issue`)[0]).toBe('github:create_issue');
  });

  it('does not let one tool in many versions take the whole answer', () => {
    const engine = new SearchEngine();
    const version = (number: number) => tool('shop', `get_item_v${number}`, 'Get an item of the shop by its id');
    engine.setServer(
      'shop',
      Array.from({ length: 30 }, (_, number) => version(number)),
    );
    engine.setServer('store', [tool('store', 'fetch_item', 'Fetch an item of the store by its number')]);
    const hits = found(engine, 'get an item by id');
    expect(hits).toContain('store:fetch_item');
    expect(hits.filter((hit) => hit.startsWith('shop:'))).toHaveLength(2);
    expect(found(engine, 'get an item by id', { limit: 10 })).toHaveLength(10);
  });

  it('takes tools whose schema is null for tools without one', () => {
    const engine = new SearchEngine();
    engine.index([{ ...tool('a', 'read_page', 'Reads a page'), inputSchema: null as never }]);
    expect(found(engine, 'read a page')).toEqual(['a:read_page']);
  });
});

describe('a tool that is described in another language', () => {
  const TOOLS = [
    makeTool('laden', 'erstattung', 'Erstattet dem Kunden die Zahlung für eine Bestellung zurück.'),
    makeTool('laden', 'uebersicht', 'Zeigt alle Rechnungen eines Monats.'),
    makeTool('dian', 'tianqi', '查询城市的天气预报'),
    makeTool('dian', 'xiazai', '下载邮件的附件'),
    makeTool('mise', 'kaigi', '会議の予定をカレンダーに追加する'),
  ];
  const first = (query: string, options = {}): string | undefined => {
    const engine = new SearchEngine(options);
    engine.index(TOOLS);
    return engine.search(query)[0]?.tool;
  };

  const REQUESTS = [
    ['give the customer a refund for an order', 'erstattung'],
    ['weather forecast for a city', 'tianqi'],
    ['download the attachment of an email', 'xiazai'],
    ['add a meeting to my calendar', 'kaigi'],
    ['añade una reunión al calendario', 'kaigi'],
  ] as const;

  it.each(REQUESTS)('is found by %j', (query, tool) => {
    expect(first(query)).toBe(tool);
  });

  it('is found by chance without its English words', () => {
    const found = REQUESTS.filter(([query, tool]) => first(query, { without: ['languages'] }) === tool);
    expect(found.length).toBeLessThan(4);
  });
});
