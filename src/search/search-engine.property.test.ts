import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ToolMetadata } from '../core/types.ts';
import { SearchEngine } from './search-engine.ts';

/** Few enough that tools share words, and of every kind there is: scripts, forms, compounds, numbers, stop words. */
const VOCABULARY =
  `create issue file read delete user list search weather mail repo created issues files reading deletes mailing
  invoice payment refund calendar meeting message channel translate document folder upload image video database table
  row query branch commit deploy container cluster secret token price stock map route flight hotel temperature the of a
  with HTTPRequest getUserById v2 404 3.14 größe naïve файл найти файлы 検索 ファイル 天气预报 파일 ค้นหา λόγος مرحبا x`.split(
    /\s+/,
  );
const word = fc.oneof(fc.constantFrom(...VOCABULARY.slice(0, 11)), fc.constantFrom(...VOCABULARY));
const phrase = fc.array(word, { maxLength: 6 }).map((words) => words.join(' '));
/** Up to and past the 2,000 characters that are read. */
const longText = fc.oneof(
  fc.array(word, { minLength: 60, maxLength: 500 }).map((words) => words.join(' ')),
  fc.string({ unit: 'grapheme', minLength: 300, maxLength: 2_500 }),
  fc.tuple(word, fc.integer({ min: 100, max: 2_100 })).map(([each, times]) => each.repeat(times).slice(0, 2_200)),
);
const name = fc.oneof(
  fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join('_')),
  fc.constantFrom('__proto__', 'constructor', 'createIssue', '検索'),
);
const tools = fc.uniqueArray(
  fc.record({
    server: fc.constantFrom('alpha', 'beta', 'gamma', '__proto__', 'δέλτα'),
    name,
    summary: phrase,
    description: phrase,
    enabled: fc.boolean(),
    tags: fc.array(word, { maxLength: 2 }),
  }),
  { maxLength: 30, selector: (tool) => `${tool.server}\n${tool.name}` },
) as fc.Arbitrary<ToolMetadata[]>;
const query = fc.oneof(
  { weight: 3, arbitrary: phrase },
  { weight: 2, arbitrary: name },
  { weight: 2, arbitrary: fc.string({ unit: 'binary' }) },
  { weight: 2, arbitrary: fc.constantFrom('creat', 'isue', 'sear', 'wether', 'invoce', 'databse', 'ファイ') },
  { weight: 1, arbitrary: longText },
);
/** In words that no tool has: only meaning finds them. */
const paraphrase = fc.constantFrom(
  'throw the ticket away',
  'is it going to rain',
  'look something up',
  'who has an account',
  'jot down a defect',
);
/** What may stand in a filter by name: pieces of names, with stars anywhere. */
const starred = fc
  .array(
    fc.oneof(
      { weight: 2, arbitrary: fc.constant('*') },
      { weight: 2, arbitrary: word },
      { weight: 1, arbitrary: fc.constantFrom('_', 'cre', 'ISS', 'e', 'a', '.', '[a-z]', '(x+)+', '\\d', '__proto__') },
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map((pieces) => pieces.join(''));
const filter = fc.oneof(
  fc.constantFrom(
    '',
    'server:alpha',
    '-server:beta',
    'tag:file',
    'name:*issue*',
    'readonly:false',
    'server:"__proto__"',
    'destructive:true',
  ),
  fc
    .tuple(fc.constantFrom('', '-'), fc.constantFrom('server', 'tag', 'name'), starred)
    .map(([minus, key, value]) => `${minus}${key}:${value}`),
);
/** Anything a person may ask, filters and all. */
const request = fc.tuple(fc.oneof(query, paraphrase), filter).map((parts) => parts.join(' '));

const byServer = (list: readonly ToolMetadata[]): Map<string, ToolMetadata[]> => {
  const servers = new Map<string, ToolMetadata[]>();
  for (const tool of list) servers.set(tool.server, [...(servers.get(tool.server) ?? []), tool]);
  return servers;
};

const engineOf = (list: readonly ToolMetadata[]): SearchEngine => {
  const engine = new SearchEngine();
  engine.index(list);
  return engine;
};

const answers = (engine: SearchEngine, text: string): unknown => [
  engine.find(text),
  engine.find(text, { limit: 50, includeDisabled: true }),
  engine.find(text, { server: 'beta' }),
];

const STARGAZING = ['telescope', 'galaxy', 'eclipse', 'comet', 'orbit', 'nebula'].flatMap((thing) =>
  ['observe', 'measure'].map((act) => ({
    server: 'observatory',
    name: `${act}_${thing}`,
    summary: `${act} the brightness of a ${thing}`,
    enabled: true,
    tags: [],
  })),
);

/** Where it answers nothing by itself, it is about something else. */
const observatory = engineOf(STARGAZING);

describe('SearchEngine, for all inputs', () => {
  it('answers any string with relevances in [0, 1], best first', () => {
    const engine = engineOf([{ server: 's', name: 'create_issue', summary: 'x', enabled: true, tags: [] }]);
    fc.assert(
      fc.property(
        tools,
        fc.string({ unit: 'binary', maxLength: 3_000 }),
        longText,
        request,
        (list, noise, long, text) => {
          engine.index(list);
          for (const asked of [noise, long, text, `${text} ${noise}`, `${text} ${long}`]) {
            const { results } = engine.find(asked);
            let before = 1;
            for (const { relevance } of results) {
              expect(relevance).toBeGreaterThanOrEqual(0);
              expect(relevance).toBeLessThanOrEqual(before);
              before = relevance;
            }
          }
        },
      ),
    );
  });

  it('puts an exact name first', () => {
    fc.assert(
      fc.property(tools, fc.nat(), (list, choice) => {
        const wanted = list[choice % list.length];
        fc.pre(wanted !== undefined);
        const engine = engineOf(list);
        const [first] = engine.search(wanted.name, { includeDisabled: true });
        expect(first?.relevance).toBe(1);
        expect(first?.tool.toLowerCase()).toBe(wanted.name.toLowerCase());
        const [qualified] = engine.search(`${wanted.server}:${wanted.name}`, { includeDisabled: true });
        expect(qualified).toMatchObject({ server: wanted.server, relevance: 1 });
      }),
    );
  });

  it('answers the same whatever order the tools and servers came in, and whenever it was asked before', () => {
    fc.assert(
      fc.property(tools, fc.infiniteStream(fc.nat()), request, (list, random, text) => {
        const shuffled = list
          .map((tool) => ({ tool, key: random.next().value as number }))
          .sort((a, b) => a.key - b.key)
          .map(({ tool }) => tool);
        const other = new SearchEngine();
        for (const [server, own] of byServer(shuffled)) {
          other.setServer(server, own);
          other.search(text);
        }
        expect(answers(other, text)).toEqual(answers(engineOf(list), text));
      }),
    );
  });

  it('forgets a server as if it had never been there', () => {
    fc.assert(
      fc.property(tools, tools, request, (list, passing, text) => {
        const engine = engineOf(list);
        const before = answers(engine, text);
        for (const [server, own] of byServer(passing)) {
          engine.setServer(`passing ${server}`, own);
          engine.search(text);
        }
        for (const server of byServer(passing).keys()) engine.removeServer(`passing ${server}`);
        expect(answers(engine, text)).toEqual(before);
      }),
    );
  });

  it('answers after a change of some tools as if all were indexed anew', () => {
    fc.assert(
      fc.property(tools, tools, tools, fc.boolean(), request, (first, second, third, asks, text) => {
        const engine = engineOf(first);
        let before = byServer(first);
        for (const list of [second, third]) {
          const now = byServer(list);
          for (const server of new Set([...before.keys(), ...now.keys()])) {
            const own = now.get(server) ?? [];
            const known = new Map((before.get(server) ?? []).map((tool) => [tool.name, JSON.stringify(tool)]));
            const changed = own.filter((tool) => known.get(tool.name) !== JSON.stringify(tool));
            const gone = [...known.keys()].filter((name) => !own.some((tool) => tool.name === name));
            for (const _ of engine.changeServerInSteps(server, changed, gone));
            if (own.length === 0) engine.removeServer(server);
          }
          before = now;
          if (asks) engine.search(text);
        }
        expect(engine.size).toBe(third.length);
        expect(answers(engine, text)).toEqual(answers(engineOf(third), text));
      }),
    );
  });

  it('returns to the same answers when a server is replaced and put back', () => {
    fc.assert(
      fc.property(tools, request, (list, text) => {
        const engine = engineOf(list);
        const before = answers(engine, text);
        for (const [server, own] of byServer(list)) {
          engine.setServer(server, []);
          engine.search(text);
          engine.setServer(server, own);
        }
        expect(answers(engine, text)).toEqual(before);
      }),
    );
  });

  it('keeps the best hit when a server with other words is added', () => {
    fc.assert(
      fc.property(tools, phrase, fc.integer({ min: 1, max: 40 }), (list, text, count) => {
        const engine = engineOf(list);
        const [best] = engine.search(text);
        fc.pre(best !== undefined);
        const strangers = Array.from({ length: count }, (_, index) => ({
          server: 'zz',
          // No digits: a query may ask for a number.
          name: `qqq${'bcdfghjklm'[Math.floor(index / 10)]}${'bcdfghjklm'[index % 10]}zzz`,
          summary: 'vvvvv kkkkk',
          enabled: true,
          tags: [],
        }));
        engine.setServer('zz', strangers);
        const hits = engine.search(text).map((hit) => `${hit.server}:${hit.tool}`);
        expect(hits).toContain(`${best.server}:${best.tool}`);
      }),
    );
  });

  it('keeps the best hit when a server about something else is added', () => {
    fc.assert(
      fc.property(tools, fc.oneof(phrase, paraphrase), fc.integer({ min: 1, max: 12 }), (list, text, count) => {
        const engine = engineOf(list);
        const [best] = engine.search(text);
        fc.pre(best !== undefined && observatory.search(text).length === 0);
        engine.setServer('observatory', STARGAZING.slice(0, count), 'Stars and planets');
        const hits = engine.search(text).map((hit) => `${hit.server}:${hit.tool}`);
        expect(hits).toContain(`${best.server}:${best.tool}`);
      }),
    );
  });

  it('shows nothing that a filter keeps out', () => {
    fc.assert(
      fc.property(tools, fc.oneof(query, paraphrase), (list, text) => {
        const engine = engineOf(list);
        const names = (filters: string) => engine.search(`${filters} ${text}`, { includeDisabled: true, limit: 50 });
        for (const { server } of names('server:alpha')) expect(server).toBe('alpha');
        for (const { server } of names('-server:alpha')) expect(server).not.toBe('alpha');
        for (const { tool } of names('name:create*')) expect(tool.toLowerCase()).toMatch(/^create/);
        for (const { tags } of names('tag:file')) expect(tags).toContain('file');
      }),
    );
  });

  it('shows exactly what a filter with stars lets through', () => {
    fc.assert(
      fc.property(tools, starred, fc.constantFrom('name', 'server', 'tag'), (list, pattern, key) => {
        const engine = engineOf(list);
        const escaped = pattern
          .toLowerCase()
          .split('*')
          .map((piece) => piece.replace(/[^\p{L}\p{N}]/gu, '\\$&'));
        const fits = new RegExp(`^${escaped.join('.*')}$`, 's');
        const values = (tool: ToolMetadata): readonly string[] => (key === 'tag' ? tool.tags : [tool[key as 'name']]);
        const meant = list.filter((tool) => values(tool).some((value) => fits.test(value.toLowerCase())));
        const names = (asked: string): string[] =>
          engine
            .search(asked, { includeDisabled: true, limit: 100 })
            .map((hit) => `${hit.server}:${hit.tool}`)
            .sort();
        const all = (some: readonly ToolMetadata[]): string[] =>
          some.map((tool) => `${tool.server}:${tool.name}`).sort();
        expect(names(`${key}:${pattern}`)).toEqual(all(meant));
        expect(names(`-${key}:${pattern}`)).toEqual(all(list.filter((tool) => !meant.includes(tool))));
      }),
    );
  });

  it('puts an exact name first, whatever was learnt or another embedder says', () => {
    const scores = fc.array(fc.record({ tool: name, score: fc.double() }), { maxLength: 10 });
    fc.assert(
      fc.property(tools, fc.nat(), scores, scores, (list, choice, learnt, similar) => {
        const wanted = list[choice % list.length];
        fc.pre(wanted !== undefined);
        const of = (each: readonly { tool: string; score: number }[]) =>
          each.flatMap((score) => ['alpha', 'beta'].map((server) => ({ server, ...score })));
        const options = { includeDisabled: true, learnt: of(learnt), similar: of(similar) };
        const [first] = engineOf(list).search(wanted.name, options);
        expect(first).toMatchObject({ relevance: 1 });
        expect(first?.tool.toLowerCase()).toBe(wanted.name.toLowerCase());
      }),
    );
  });

  it('explains any tool for any query, with points that add up', () => {
    fc.assert(
      fc.property(tools, request, fc.string({ unit: 'binary', maxLength: 300 }), (list, text, noise) => {
        const engine = engineOf(list);
        for (const asked of [text, noise, `${text} ${noise}`]) {
          for (const tool of list.slice(0, 5)) {
            const explanation = engine.explain(asked, tool);
            const { words = [], score } = explanation ?? {};
            const points = words.reduce((sum, word) => sum + word.points, 0);
            // Each of at most 64 words is rounded to thousandths.
            expect(Math.abs(points - (score?.words ?? Number.NaN))).toBeLessThan(0.002 + words.length * 0.0006);
            expect(explanation?.relevance).toBeGreaterThanOrEqual(0);
            expect(explanation?.relevance).toBeLessThanOrEqual(1);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('answers the same after a trip to the disk, and stays editable', () => {
    fc.assert(
      fc.property(tools, request, fc.integer({ min: 0, max: 3 }), (list, text, shift) => {
        const engine = engineOf(list);
        const bytes = engine.toSnapshot();
        const shifted = new Uint8Array(bytes.length + shift).subarray(shift);
        shifted.set(bytes);
        const restored = SearchEngine.fromSnapshot(shifted) as SearchEngine;
        expect(answers(restored, text)).toEqual(answers(engine, text));
        expect([restored.size, restored.servers()]).toEqual([engine.size, engine.servers()]);
        for (const each of [engine, restored]) {
          each.removeServer('alpha');
          each.setServer('late', [{ server: 'late', name: 'late_issue', summary: text, enabled: true, tags: [] }]);
        }
        expect(answers(restored, text)).toEqual(answers(engine, text));
        expect(restored.toSnapshot()).toEqual(engine.toSnapshot());
      }),
    );
  });

  it('refuses damaged bytes without throwing', () => {
    fc.assert(
      fc.property(tools, fc.nat(), fc.integer({ min: 1, max: 255 }), fc.nat(), (list, place, change, cut) => {
        const bytes = engineOf(list).toSnapshot();
        const flipped = bytes.slice();
        const at = place % bytes.length;
        flipped[at] = (flipped[at] as number) ^ change;
        expect(SearchEngine.fromSnapshot(flipped)).toBeUndefined();
        expect(SearchEngine.fromSnapshot(bytes.slice(0, cut % bytes.length))).toBeUndefined();
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(SearchEngine.fromSnapshot(bytes)).toBeUndefined();
      }),
    );
  });
});
