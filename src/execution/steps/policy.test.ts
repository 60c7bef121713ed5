import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../../test/fixtures/execution/manual-clock.ts';
import { aCall, codeOf, done, held } from '../../../test/fixtures/execution/test-kit.ts';
import { fail, ok } from '../../core/result.ts';
import type { ToolDefinition } from '../../core/types.ts';
import { policy } from './policy.ts';
import { resolve } from './resolve.ts';

describe('resolve and policy', () => {
  const definition: ToolDefinition = { name: 't', inputSchema: {} };

  test('the definition travels with the call', async () => {
    const { handler, calls, end } = held();
    const running = resolve(() => ok(definition))(handler)(aCall());
    await Promise.resolve();
    end();
    await running;
    expect(calls[0]?.definition).toBe(definition);
    const later = resolve(async () => ok(definition))(async (one) => ok({ structuredContent: one.definition }));
    expect(await later(aCall())).toEqual(ok({ structuredContent: definition }));
  });

  test('an unknown name ends the call', async () => {
    expect(codeOf(await resolve(() => fail('TOOL_NOT_FOUND', 'no'))(done)(aCall()))).toBe('TOOL_NOT_FOUND');
  });

  test('a lookup that hangs ends with the deadline or the cancellation', async () => {
    const clock = new ManualClock();
    const abort = new AbortController();
    const hang = resolve(() => new Promise(() => undefined), clock)(done);
    const late = hang(aCall({ deadline: 100 }));
    const cancelled = hang(aCall({ signal: abort.signal }));
    await clock.advance(100);
    abort.abort();
    expect(await late).toMatchObject({ error: { code: 'TOOL_EXECUTION_TIMEOUT', outcome: 'not_sent' } });
    expect(await cancelled).toMatchObject({ error: { code: 'CANCELLED', outcome: 'not_sent' } });
    expect(codeOf(await hang(aCall({ signal: AbortSignal.abort() })))).toBe('CANCELLED');
  });

  test('what the rules forbid is refused with their reason, and so is what they cannot decide', async () => {
    expect(await policy(() => ({ enabled: false, reason: 'Rule 3.' }))(done)(aCall())).toMatchObject({
      error: { code: 'TOOL_DISABLED', message: 's:t may not be called. Rule 3.', outcome: 'not_sent' },
    });
    expect(codeOf(await policy(() => ({ enabled: false, code: 'TOOL_NOT_APPROVED' }))(done)(aCall()))).toBe(
      'TOOL_NOT_APPROVED',
    );
    expect(
      codeOf(
        await policy(() => {
          throw new Error('x');
        })(done)(aCall()),
      ),
    ).toBe('TOOL_DISABLED');
    expect(codeOf(await policy(() => ({ enabled: true }))(done)(aCall()))).toBe('ok');
  });
});
