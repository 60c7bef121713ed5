import { describe, expect, it } from 'vitest';
import { REQUIREMENTS } from './requirements.ts';
import { type RanTest, unproven } from './unproven.ts';

const PROMISES = { 'a:b': { promise: 'It works', proofs: [['x.test.ts', 'it works']] } } as const;
const ran = (name: string, state: RanTest['state'] = 'passed'): RanTest => ({ file: 'x.test.ts', name, state });
const found = (tests: readonly RanTest[], exists = true) => unproven(PROMISES, tests, () => exists);

describe('a promise of the specification', () => {
  it('is proven by a test that ran and passed', () => {
    expect(found([ran('it works everywhere'), ran('something else', 'skipped')])).toEqual([]);
  });

  it('is proven by all rows of a table, where its name leaves room for them', () => {
    const table = { t: { promise: 'All', proofs: [['x.test.ts', 'takes %s (and $name)']] } } as const;
    const rows = (state: RanTest['state']) => [ran('takes a (and b)'), ran('takes c (and d), too', state)];
    expect(unproven(table, rows('passed'), () => true)).toEqual([]);
    expect(unproven(table, rows('failed'), () => true)).toHaveLength(1);
    expect(unproven(table, [ran('takes a or b')], () => true)).toHaveLength(1);
  });

  it('is not proven by a test that was skipped, failed, renamed or commented out', () => {
    expect(found([ran('it works', 'skipped')])).toEqual(['a:b: skipped: x.test.ts: it works']);
    expect(found([ran('it works', 'failed')])).toHaveLength(1);
    expect(found([ran('it works here'), ran('it works there', 'pending')])).toHaveLength(1);
    expect(found([ran('it worked')])).toEqual(['a:b: x.test.ts has no test that begins with "it works"']);
  });

  it('may be skipped where a machine lacks what its test needs, if that is allowed', () => {
    expect(unproven(PROMISES, [ran('it works', 'skipped')], () => true, true)).toEqual([]);
    expect(unproven(PROMISES, [ran('it works', 'failed')], () => true, true)).toHaveLength(1);
  });

  it('is not proven by a file that is gone, while a run of other files says nothing of it', () => {
    expect(found([], false)).toEqual(['a:b: x.test.ts does not exist any more']);
    expect(found([])).toEqual([]);
  });

  it('has at least one proof', () => {
    const without = { c: { promise: 'Nobody looks', proofs: [] } };
    expect(unproven(without, [], () => true)).toEqual(['c: nobody proves: Nobody looks']);
    expect(Object.values(REQUIREMENTS).every(({ proofs }) => proofs.length > 0)).toBe(true);
  });
});
