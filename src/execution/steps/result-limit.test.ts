import { describe, expect, test } from 'vitest';
import { aCall, codeOf, DONE, done, failing } from '../../../test/fixtures/execution/test-kit.ts';
import { ok } from '../../core/result.ts';
import type { CallNotes } from '../../core/types.ts';
import type { Handler } from '../pipeline.ts';
import { ResultPages } from '../result-pages.ts';
import { resultLimit } from './result-limit.ts';

describe('resultLimit', () => {
  test('what came in a message that fits is not counted again; what came in a larger one is', async () => {
    const pages = new ResultPages();
    const run = (bytes: number, text: string) => {
      const notes: CallNotes = {};
      const read: Handler = async () => {
        notes.bytes = bytes;
        return ok({ content: [{ type: 'text', text }] });
      };
      return resultLimit(pages, 1_000)(read)(aCall({ notes })).then((result) => ({ result, notes }));
    };
    expect((await run(900, 'small')).notes).toEqual({ bytes: 900 });
    expect((await run(1_100, 'small')).notes.bytes).toBeLessThan(100);
    expect((await run(20_000, 'x'.repeat(10_000))).notes.flags).toEqual(['cut']);
  });

  test('a small result is the same object, with its size noted', async () => {
    const call = aCall();
    expect(await resultLimit(new ResultPages())(done)(call)).toBe(DONE);
    expect(call.notes?.bytes).toBe(JSON.stringify(DONE.success && DONE.data).length);
  });

  test('a large one is cut and flagged, failures pass', async () => {
    const pages = new ResultPages();
    const large: Handler = async () => ok({ content: [{ type: 'text', text: 'x'.repeat(10_000) }] });
    const call = aCall();
    const cut = await resultLimit(pages, 4_096)(large)(call);
    const size = JSON.stringify(cut.success && cut.data).length;
    expect(call.notes).toEqual({ flags: ['cut'], bytes: size });
    expect(size).toBeLessThan(10_000);
    expect(pages.bytes).toBeGreaterThan(10_000);
    expect(codeOf(await resultLimit(pages)(failing('TOOL_DISABLED'))(aCall()))).toBe('TOOL_DISABLED');
  });

  test('content is fitted on the way', async () => {
    const result = await resultLimit(new ResultPages())(async () => ok({ content: [{ type: 'smell' }] }))(aCall());
    expect(result).toMatchObject({ data: { content: [{ type: 'text' }] } });
  });
});
