import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../../test/fixtures/execution/manual-clock.ts';
import { aCall, codeOf, done, failing } from '../../../test/fixtures/execution/test-kit.ts';
import type { AuditEntry } from '../../audit/audit-entry.ts';
import { noteBytes, noteFlag } from '../../core/call-notes.ts';
import { DiscoveryError } from '../../core/errors.ts';
import { ok } from '../../core/result.ts';
import type { ToolCall } from '../../core/types.ts';
import type { Handler } from '../pipeline.ts';
import { audit } from './audit.ts';

describe('audit', () => {
  const run = async (handler: Handler, more?: Partial<ToolCall>) => {
    const entries: AuditEntry[] = [];
    const clock = new ManualClock();
    const result = await audit({ record: (entry) => entries.push(entry) }, clock, () => 1_000)(handler)(aCall(more));
    return { entries, result };
  };

  test('records a call with its caller, tool, duration and sizes', async () => {
    const { entries } = await run(done, {
      arguments: { a: 1 },
      caller: { principal: 'ann', profile: 'team', session: 'x' },
    });
    expect(entries).toEqual([
      expect.objectContaining({
        time: new Date(1_000),
        traceId: 'trace',
        principal: 'ann',
        profile: 'team',
        session: 'x',
        server: 's',
        tool: 't',
        arguments: { a: 1 },
        outcome: 'success',
        durationMs: 0,
        bytesIn: 7,
      }),
    ]);
  });

  test.each<[Handler, string, string | undefined]>([
    [failing('TOOL_DISABLED', { outcome: 'not_sent' }), 'refused', 'TOOL_DISABLED'],
    [failing('SERVER_NOT_FOUND'), 'refused', 'SERVER_NOT_FOUND'],
    [failing('TOOL_EXECUTION_ERROR', { outcome: 'failed' }), 'failed', 'TOOL_EXECUTION_ERROR'],
    [failing('TOOL_EXECUTION_TIMEOUT', { outcome: 'unknown' }), 'unknown', 'TOOL_EXECUTION_TIMEOUT'],
    [failing('CANCELLED', { outcome: 'unknown' }), 'cancelled', 'CANCELLED'],
    [async () => ok({ isError: true }), 'tool_error', undefined],
    [async () => Promise.reject(new Error('boom')), 'unknown', 'TOOL_EXECUTION_ERROR'],
  ])('case %#: refusals and failures are recorded too', async (handler, outcome, code) => {
    const { entries } = await run(handler);
    expect(entries).toEqual([expect.objectContaining({ outcome, code })]);
  });

  test('flags and size noted by the steps below are recorded, each flag once', async () => {
    const { entries } = await run(async (call) => {
      for (const flag of ['invalid_output', 'cut', 'invalid_output']) noteFlag({ ...call }, flag);
      noteBytes(call, 14);
      return ok({ content: [] });
    });
    expect(entries[0]).toMatchObject({ flags: ['invalid_output', 'cut'], bytesOut: 14 });
  });

  test('calls with cyclic or unreadable arguments are recorded too', async () => {
    const endless: Record<string, unknown> = {};
    endless.again = endless;
    const unreadable = {
      toJSON: () => {
        throw new Error('no');
      },
    };
    expect((await run(done, { arguments: endless })).entries[0]?.bytesIn).toBeGreaterThan(1_000_000);
    expect((await run(done, { arguments: { unreadable } })).entries).toMatchObject([{ outcome: 'success' }]);
  });

  test('a log that refuses fails the call it could not record', async () => {
    const sink = {
      record: () => {
        throw new DiscoveryError('STORAGE_ERROR', 'disk full');
      },
    };
    expect(codeOf(await audit(sink)(done)(aCall()))).toBe('STORAGE_ERROR');
  });
});
