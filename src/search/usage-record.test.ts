import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../core/limits.ts';
import { UsageRecord, type UsageRecordOptions } from './usage-record.ts';

const DAY = 24 * 3_600_000;
const NOW = 1_700_000_000_000;
/** Not a secret one; tests want to see that words do not come out as they went in. */
const hash = (word: string): string => Buffer.from(word).toString('hex').slice(0, 32);
const empty = (more: Partial<UsageRecordOptions> = {}) => new UsageRecord({ hash, ...more });
/** A word that no other number gives. */
const word = (at: number): string => `q${[...String(at)].map((digit) => 'bcdfghjklm'[Number(digit)]).join('')}q`;
const score = (record: UsageRecord, query: string, tool: string, now = NOW): number =>
  record.learntFor(query, now).find((learnt) => learnt.tool === tool)?.score ?? 0;

describe('a use', () => {
  it('raises the tool for the same request and for like ones, the more alike the more', () => {
    const record = empty();
    record.record('open ticket please', 'tracker', 'create_issue', NOW);
    expect(record.learntFor('open a ticket', NOW)).toEqual([
      { server: 'tracker', tool: 'create_issue', score: 0.5, uses: 1, lastUsed: NOW },
    ]);
    expect(score(record, 'open a ticket about printing', 'create_issue')).toBeCloseTo(0.125 / 1.125);
  });

  it('meets other forms of its words, in any order', () => {
    const record = empty();
    record.record('closing old tickets', 'tracker', 'close', NOW);
    expect(score(record, 'old ticket: closed', 'close')).toBe(0.5);
  });

  it('says nothing about requests that have a word or none in common', () => {
    const record = empty();
    record.record('open a ticket for the printer', 'tracker', 'create_issue', NOW);
    expect(record.learntFor('what is the weather in Oslo', NOW)).toEqual([]);
    expect(record.learntFor('open the pod bay doors and play some quiet music', NOW)).toEqual([]);
    expect(record.learntFor('', NOW)).toEqual([]);
  });

  it('is not tied to the values of a request', () => {
    const record = empty();
    record.record('read the log file "/var/log/a.log"', 'files', 'read', NOW);
    expect(score(record, 'read the log file /home/me/b.log', 'read')).toBe(0.5);
  });

  it('counts more the more often, never fully, and tells how often and when', () => {
    const record = empty();
    const scores = Array.from({ length: 20 }, (_, at) => {
      record.record('open ticket', 'tracker', 'create_issue', NOW + at);
      return score(record, 'open ticket', 'create_issue', NOW + 20);
    });
    expect(scores).toEqual([...scores].sort((a, b) => a - b));
    expect(scores.at(-1)).toBeLessThan(1);
    expect(record.learntFor('open a ticket', NOW)).toMatchObject([{ uses: 20, lastUsed: NOW + 19 }]);
    expect(record.size).toBe(1);
  });

  it('that teaches less raises less', () => {
    const record = empty();
    record.record('open ticket', 'tracker', 'create_issue', NOW, 0.1);
    expect(score(record, 'open ticket', 'create_issue')).toBeCloseTo(0.1 / 1.1);
  });

  it('shares with the other tools that like requests ended with', () => {
    const record = empty();
    record.record('open ticket', 'tracker', 'create_issue', NOW);
    record.record('open ticket', 'tracker', 'create_issue', NOW);
    record.record('open ticket', 'desk', 'new_ticket', NOW);
    expect(record.learntFor('open ticket', NOW).map(({ tool, score: how }) => [tool, how])).toEqual([
      ['create_issue', 0.5],
      ['new_ticket', 0.25],
    ]);
  });

  it('fades by half in thirty days', () => {
    const record = empty();
    record.record('open ticket', 'tracker', 'create_issue', NOW);
    expect(score(record, 'open ticket', 'create_issue', NOW + 30 * DAY)).toBeCloseTo(0.5 / 1.5);
    expect(score(record, 'open ticket', 'create_issue', NOW + 3650 * DAY)).toBeLessThan(1e-9);
    record.record('open ticket', 'tracker', 'create_issue', NOW + 30 * DAY);
    expect(score(record, 'open ticket', 'create_issue', NOW + 30 * DAY)).toBeCloseTo(1.5 / 2.5);
  });

  it('of a clock that is behind neither grows nor takes anything back', () => {
    const record = empty();
    record.record('open ticket', 'tracker', 'create_issue', NOW);
    record.record('open ticket', 'tracker', 'create_issue', NOW - 30 * DAY);
    expect(record.learntFor('open ticket', NOW - DAY)).toMatchObject([{ uses: 2, lastUsed: NOW, score: 2 / 3 }]);
  });

  it('of a tool with any name is kept apart from all others', () => {
    const record = empty();
    const names = ['__proto__', 'constructor', 'a\nb', '["a","b"]', ''];
    for (const server of names) for (const tool of names) record.record('open ticket', server, tool, NOW);
    // Eight a query: the rest had to go.
    expect(new Set(record.learntFor('open ticket', NOW).map(({ server, tool }) => `${server}|${tool}`)).size).toBe(8);
  });
});

describe('a record', () => {
  it('comes back from JSON as it was', () => {
    const record = empty();
    record.record('open ticket', 'tracker', 'create_issue', NOW);
    record.record('open ticket', 'desk', 'new_ticket', NOW);
    record.record('close ticket', 'tracker', 'close_issue', NOW, 0.1);
    const back = UsageRecord.from(JSON.parse(JSON.stringify(record)), { hash });
    expect(back.learntFor('open the ticket', NOW)).toEqual(record.learntFor('open the ticket', NOW));
    expect(back.toJSON()).toEqual(record.toJSON());
  });

  it('holds hashes and no word of a request, unless requests are to be kept', () => {
    const record = empty();
    record.record('Fire Ms. Lindqvist', 'hr', 'remove_person', NOW);
    const text = JSON.stringify(record);
    for (const word of ['fire', 'lindqvist']) expect(text.toLowerCase()).not.toContain(word);
    const kept = empty({ keepQueries: true });
    kept.record('Fire Ms. Lindqvist', 'hr', 'remove_person', NOW);
    expect(JSON.stringify(kept)).toContain('Fire Ms. Lindqvist');
    // Switched off again, the next writing leaves them out.
    const off = UsageRecord.from(JSON.parse(JSON.stringify(kept)), { hash });
    expect(off.size).toBe(1);
    expect(JSON.stringify(off)).not.toContain('Lindqvist');
  });

  it('forgets the weakest requests first, and keeps its bounds', () => {
    const record = empty();
    record.record('open ticket', 'tracker', 'create_issue', NOW);
    record.record('open ticket', 'tracker', 'create_issue', NOW);
    for (let at = 0; at < 3 * LIMITS.usage.queries; at++) record.record(`${word(at)} x${word(at)}`, 's', `t${at}`, NOW);
    expect(record.size).toBeLessThanOrEqual(LIMITS.usage.queries);
    expect(score(record, 'open ticket', 'create_issue')).toBeGreaterThan(0.6);
    expect(record.learntFor(word(2), NOW)).toEqual([]);
    expect(UsageRecord.from(JSON.parse(JSON.stringify(record)), { hash }).size).toBe(record.size);
  });

  it('never writes more than its bytes, and what it writes can be read', () => {
    const record = empty({ keepQueries: true });
    const long = 'ä'.repeat(LIMITS.usage.name);
    for (let at = 0; at < LIMITS.usage.queries; at++)
      for (let tool = 0; tool < 2; tool++)
        record.record(`${word(at)} ${'ü'.repeat(300)}`, long, `${at}-${tool}${long}`.slice(0, LIMITS.usage.name), NOW);
    const text = JSON.stringify(record);
    expect(Buffer.byteLength(text)).toBeLessThan(LIMITS.usage.bytes + 4096);
    expect(UsageRecord.from(JSON.parse(text), { hash }).size).toBeGreaterThan(100);
  });

  it('does not take names that are too long, nor requests without words', () => {
    const record = empty();
    record.record('open ticket', 'x'.repeat(LIMITS.usage.name + 1), 'create_issue', NOW);
    record.record('open ticket', 'tracker', 'x'.repeat(LIMITS.usage.name + 1), NOW);
    record.record('?!', 'tracker', 'create_issue', NOW);
    expect(record.size).toBe(0);
  });

  it('writes nothing down that had faded away by the time of most others', () => {
    const record = empty();
    record.record('open ticket', 'tracker', 'create_issue', NOW - 400 * DAY);
    record.record('close ticket', 'tracker', 'close_issue', NOW);
    expect(record.toJSON().queries).toHaveLength(2);
    record.record('print ticket', 'tracker', 'print_issue', NOW);
    expect(record.toJSON().queries).toHaveLength(2);
    expect(score(UsageRecord.from(record.toJSON(), { hash }), 'open ticket', 'create_issue')).toBe(0);
  });

  it.each([
    ['ahead', 3650 * DAY],
    ['back', -NOW],
  ])('survives a clock that jumps far %s and is put right again', (_, jump) => {
    let record = empty();
    for (const at of [0, 1, 2, 3]) record.record(`open ${word(at)}`, 'tracker', `t${at}`, NOW);
    const known = (): number[] => [0, 1, 2, 3].map((at) => score(record, `open ${word(at)}`, `t${at}`));
    const before = known();
    expect(Math.min(...before)).toBeGreaterThan(0.4);
    record.record('close ticket', 'tracker', 'close_issue', NOW + jump);
    record.record('print ticket', 'tracker', 'print_issue', NOW + jump);
    // Written and read while the clock is wrong, and once more when it is right.
    for (let times = 0; times < 2; times++) record = UsageRecord.from(JSON.parse(JSON.stringify(record)), { hash });
    expect(known()).toEqual(before);
  });

  const whole = () => {
    const record = empty();
    record.record('open ticket', 'tracker', 'create_issue', NOW);
    return JSON.parse(JSON.stringify(record));
  };
  it.each<[string, (data: ReturnType<typeof whole>) => unknown]>([
    ['nothing', () => undefined],
    ['null', () => null],
    ['a list', () => []],
    ['another version', (data) => ({ ...data, version: 99 })],
    ['no tools', ({ tools: _, ...data }) => data],
    ['a tool without a name', (data) => ({ ...data, tools: [['tracker']] })],
    ['a tool that is a number', (data) => ({ ...data, tools: [['tracker', 1]] })],
    ['no queries', (data) => ({ ...data, queries: {} })],
    ['too many queries', (data) => ({ ...data, queries: Array(2000).fill(data.queries[0]) })],
    ['a query that is text', (data) => ({ ...data, queries: ['open'] })],
    ['a query without words', (data) => ({ ...data, queries: [{ ...data.queries[0], words: [] }] })],
    ['a word that is a number', (data) => ({ ...data, queries: [{ ...data.queries[0], words: [1] }] })],
    ['a text that is a number', (data) => ({ ...data, queries: [{ ...data.queries[0], text: 1 }] })],
    ['uses that are none', (data) => ({ ...data, queries: [{ ...data.queries[0], uses: 'x' }] })],
    ['a use of an unknown tool', (data) => ({ ...data, queries: [{ ...data.queries[0], uses: [[7, 1, 1, 1]] }] })],
    ['a use below zero', (data) => ({ ...data, queries: [{ ...data.queries[0], uses: [[0, 1, -5, 1]] }] })],
    ['a use with too much', (data) => ({ ...data, queries: [{ ...data.queries[0], uses: [[0, 1, 1, 1, 1]] }] })],
    ['a use with too little', (data) => ({ ...data, queries: [{ ...data.queries[0], uses: [[0, 1]] }] })],
  ])('that holds %s is taken for an empty one', (_, damage) => {
    expect(UsageRecord.from(whole(), { hash }).size).toBe(1);
    expect(UsageRecord.from(damage(whole()), { hash }).size).toBe(0);
  });

  it('takes any JSON and any request, and scores stay between 0 and 1', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.tuple(fc.string(), fc.string(), fc.string(), fc.nat())), (data, uses) => {
        const record = UsageRecord.from(data, { hash });
        for (const [query, server, tool, at] of uses) record.record(query, server, tool, at);
        for (const [query] of uses) {
          const learnt = record.learntFor(query, NOW);
          expect(learnt.every(({ score: how }) => how >= 0 && how < 1)).toBe(true);
          expect(learnt.reduce((sum, { score: how }) => sum + how, 0)).toBeLessThan(1);
        }
        expect(UsageRecord.from(JSON.parse(JSON.stringify(record)), { hash }).size).toBeLessThanOrEqual(record.size);
      }),
      { numRuns: 100 },
    );
  });

  it('names no more tools than are worth raising', () => {
    const record = empty();
    for (let at = 0; at < 100; at++) record.record(`list open tickets of team ${word(at)}`, 'tracker', `t${at}`, NOW);
    expect(record.learntFor('list open tickets of team seven', NOW)).toHaveLength(32);
  });
});
