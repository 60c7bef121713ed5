import { describe, expect, test } from 'vitest';
import { aCall, done } from '../../test/fixtures/execution/test-kit.ts';
import { type Handler, pipeline } from './pipeline.ts';

describe('pipeline', () => {
  test('the first step sees the call first and the result last', async () => {
    const seen: string[] = [];
    const step =
      (name: string) =>
      (next: Handler): Handler =>
      async (one) => {
        seen.push(`${name} in`);
        const result = await next(one);
        seen.push(`${name} out`);
        return result;
      };
    await pipeline([step('a'), step('b')], done)(aCall());
    expect(seen).toEqual(['a in', 'b in', 'b out', 'a out']);
  });
});
