import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { joinPages } from '../../test/fixtures/execution/join-pages.ts';
import { ManualClock } from '../../test/fixtures/execution/manual-clock.ts';
import type { CallToolResult } from '../core/types.ts';
import { jsonBytes } from './json-bytes.ts';
import { PAGE_KEY, PART_KEY, PagedResult } from './result-pager.ts';
import { ResultPages } from './result-pages.ts';

/** Runs all steps at once. */
function finish<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
const keep = (pages: ResultPages, ...args: Parameters<ResultPages['keep']>) => finish(pages.keep(...args));
const cut = (...args: Parameters<typeof PagedResult.cut>) => finish(PagedResult.cut(...args));

const PAGE = 4_096;

const readAll = async (result: CallToolResult, pageBytes = PAGE): Promise<CallToolResult[]> => {
  const pages = new ResultPages();
  const caller = { session: 's' };
  const all = [keep(pages, result, pageBytes, caller)];
  for (;;) {
    const mark = all.at(-1)?.content?.at(-1)?._meta as Record<string, { id: string; page: number; pages: number }>;
    const at = mark[PAGE_KEY];
    if (at === undefined || at.page === at.pages) return all;
    const next = await pages.read({ id: at.id, page: at.page + 1 }, caller);
    if (!next.success) throw new Error(next.error.message);
    all.push(next.data);
  }
};

describe('cut results', () => {
  test('whatever the result, its pages fit the limit and give it back whole', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 50 }),
      fc
        .tuple(fc.constantFrom('a', '"', '😀', '中\n', '\ud800', '\u0001'), fc.nat(6_000))
        .map(([unit, n]) => unit.repeat(n)),
    );
    const block = fc.oneof(
      text.map((one) => ({ type: 'text', text: one })),
      text.map((one) => ({ type: 'text', text: one, annotations: { audience: ['user'], priority: 1 } })),
      text.map((one) => ({ type: 'text', text: one, _meta: { [PART_KEY]: { of: 0, as: 'json' } } })),
      fc.record({ type: fc.constant('image'), data: text, mimeType: fc.constant('image/png') }),
      fc.record({ type: fc.constant('resource'), resource: fc.record({ uri: fc.constant('a:b'), text }) }),
    );
    const result = fc.record(
      {
        content: fc.array(block, { maxLength: 5 }),
        structuredContent: fc.oneof(fc.jsonValue(), fc.array(text, { maxLength: 4 })),
        _meta: fc.dictionary(fc.string({ maxLength: 5 }), text, { maxKeys: 3 }),
        isError: fc.boolean(),
        resultType: fc.constant('complete'),
      },
      { requiredKeys: ['content'] },
    );
    await fc.assert(
      fc.asyncProperty(result, async (whole) => {
        const plain = JSON.parse(JSON.stringify(whole)) as CallToolResult;
        const pages = await readAll(plain);
        for (const page of pages) expect(jsonBytes(page)).toBeLessThanOrEqual(PAGE);
        expect(joinPages(pages)).toEqual(plain);
      }),
      { numRuns: 300 },
    );
  });

  test('text is never cut inside a character', async () => {
    const pages = await readAll({ content: [{ type: 'text', text: '😀'.repeat(5_000) }] });
    expect(pages.length).toBeGreaterThan(3);
    for (const page of pages)
      for (const block of page.content ?? []) expect(String(block.text)).not.toMatch(/\p{Surrogate}/u);
  });

  test('20 MB are cut into pages of 5 MiB without blocking for long', () => {
    const started = performance.now();
    const paged = cut({ content: [{ type: 'text', text: 'line of text\n'.repeat(1_600_000) }] }, 5 * 1024 * 1024);
    expect(paged.pages).toBe(5);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test('the first page keeps isError and small fields, and tells how to read on', async () => {
    const pages = new ResultPages({ newId: () => 'the-id' });
    const first = keep(
      pages,
      { content: [{ type: 'text', text: 'x'.repeat(10_000) }], isError: true, _meta: { a: 1 } },
      PAGE,
      {},
    );
    expect(first).toMatchObject({ isError: true, _meta: { a: 1 } });
    const mark = String(first.content?.at(-1)?.text);
    expect(mark).toContain('page 1 of 6');
    expect(mark).toContain('server "anygpt", tool "read_result", arguments {"id":"the-id","page":2}');
    const last = await pages.read({ id: 'the-id', page: 6 }, {});
    expect(last.success && String(last.data.content?.at(-1)?.text)).toContain('End of the result');
  });
});

describe('ResultPages', () => {
  const large = (n = 10_000): CallToolResult => ({ content: [{ type: 'text', text: 'x'.repeat(n) }] });
  const withIds = (options: object = {}) => {
    let next = 0;
    return new ResultPages({ newId: () => `id${next++}`, ...options });
  };

  test('an id works only for the caller that made the call', async () => {
    const pages = withIds();
    keep(pages, large(), PAGE, { principal: 'ann', session: '1' });
    expect((await pages.read({ id: 'id0', page: 2 }, { principal: 'ann', session: '2' })).success).toBe(true);
    for (const caller of [{}, { session: '1' }, { principal: 'bob' }, { session: 'ann' }]) {
      expect(await pages.read({ id: 'id0', page: 2 }, caller)).toMatchObject({
        success: false,
        error: { code: 'TOOL_VALIDATION_ERROR' },
      });
    }
    expect((await pages.read({ id: '__proto__', page: 2 }, {})).success).toBe(false);
  });

  test('ids cannot be guessed', () => {
    const pages = new ResultPages();
    const ids = Array.from(
      { length: 50 },
      () => JSON.stringify(keep(pages, large(), PAGE, {})).match(/"id":"([^"]+)"/)?.[1],
    );
    expect(new Set(ids).size).toBe(50);
    expect(ids[0]).toMatch(/^[\w-]{22}$/);
  });

  test('a result is forgotten after ten minutes', async () => {
    const clock = new ManualClock();
    const pages = withIds({ clock });
    keep(pages, large(), PAGE, {});
    await clock.advance(599_000);
    expect((await pages.read({ id: 'id0', page: 1 }, {})).success).toBe(true);
    await clock.advance(2_000);
    expect((await pages.read({ id: 'id0', page: 1 }, {})).success).toBe(false);
    expect(pages.bytes).toBe(0);
  });

  test('the total is bounded: the least recently read goes first', async () => {
    const pages = withIds({ maxBytes: 25_000 });
    keep(pages, large(), PAGE, {});
    keep(pages, large(), PAGE, {});
    expect((await pages.read({ id: 'id0', page: 1 }, {})).success).toBe(true);
    keep(pages, large(), PAGE, {});
    const reads = await Promise.all(['id0', 'id1', 'id2'].map((id) => pages.read({ id, page: 1 }, {})));
    expect(reads.map(({ success }) => success)).toEqual([true, false, true]);
    expect(pages.bytes).toBeLessThanOrEqual(25_000);
    pages.close();
    expect(pages.bytes).toBe(0);
  });

  test('a result larger than the whole store is cut, and the mark says that the rest is lost', () => {
    const pages = withIds({ maxBytes: 5_000 });
    const first = keep(pages, large(), PAGE, {});
    expect(String(first.content?.at(-1)?.text)).toContain('too large to be kept');
    expect(pages.bytes).toBe(0);
  });

  test('wrong arguments and pages that do not exist are told as such', async () => {
    const pages = withIds();
    keep(pages, large(), PAGE, {});
    expect(await pages.read({}, {})).toMatchObject({ error: { code: 'TOOL_VALIDATION_ERROR' } });
    expect(await pages.read({ id: 'id0', page: 0 }, {})).toMatchObject({
      error: { message: 'This result has 6 pages, counted from 1.' },
    });
  });
});

describe('a result of many megabytes', () => {
  const BAD = '\ud800'.repeat(500_000);
  test.each<[string, CallToolResult]>([
    ['text', { content: [{ type: 'text', text: BAD }] }],
    ['an image', { content: [{ type: 'image', data: BAD, mimeType: 'image/png' }] }],
    ['a resource', { content: [{ type: 'resource', resource: { uri: 'a:b', text: BAD } }] }],
    ['a field beside a text', { content: [{ type: 'text', text: 'x', other: BAD }] }],
    ['structured content', { content: [], structuredContent: { text: BAD } }],
  ])('is never written as a whole, nor measured in one go: %s', (_, result) => {
    const stringify = vi.spyOn(JSON, 'stringify');
    const steps = new ResultPages().keep(result, 1024 * 1024, { session: 's' });
    let count = 1;
    while (!steps.next().done) count++;
    const longest = Math.max(0, ...stringify.mock.results.map(({ value }) => String(value).length));
    stringify.mockRestore();
    expect(longest).toBeLessThan(512 * 1024);
    expect(count).toBeGreaterThan(30);
  });
});
