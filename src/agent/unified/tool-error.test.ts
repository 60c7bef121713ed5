import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DiscoveryError, ERROR_CODES } from '../../core/errors.ts';
import { fail } from '../../core/result.ts';
import { isRetryable, TOOL_ERROR_CODES, toRegistryFailure, toRegistryResult } from './tool-error.ts';
import { formatToolName, parseToolName } from './unified-name.ts';

describe('the four codes', () => {
  it('stand for all of ours, and each is used', () => {
    const shown = ERROR_CODES.map((code) => toRegistryResult(fail(code, 'why')));
    const codes = shown.map((result) => !result.success && result.error.code);
    expect(new Set(codes)).toEqual(new Set(TOOL_ERROR_CODES));
  });

  it.each([
    ['SERVER_CONNECTION_ERROR', 'TOOL_UNAVAILABLE'],
    ['CONFIGURATION_ERROR', 'TOOL_INVALID_INPUT'],
    ['TOOL_VALIDATION_ERROR', 'TOOL_INVALID_INPUT'],
    ['TOOL_NOT_FOUND', 'TOOL_NOT_IMPLEMENTED'],
    ['TOOL_EXECUTION_ERROR', 'TOOL_EXECUTION_FAILED'],
  ] as const)('%s is %s, and stays in the details', (code, shown) => {
    expect(toRegistryResult(fail(code, 'why', { server: 's', suggestions: ['t'] }))).toMatchObject({
      success: false,
      error: { code: shown, message: 'why', details: { code, server: 's', suggestions: ['t'] } },
    });
  });

  it('make an unexpected exception TOOL_EXECUTION_FAILED', () => {
    expect(toRegistryFailure(new TypeError('a bug'))).toMatchObject({
      error: { code: 'TOOL_EXECUTION_FAILED', message: 'a bug', retryable: false },
    });
    expect(toRegistryFailure('text')).toMatchObject({ error: { message: 'text' } });
  });
});

describe('isRetryable', () => {
  const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
  it.each<[string, unknown, boolean]>([
    ['a failed result that is', toRegistryResult(fail('SERVER_BUSY', 'x')), true],
    ['a failed result that is not', toRegistryResult(fail('TOOL_NOT_FOUND', 'x')), false],
    ['a successful result', { success: true, data: { retryable: true } }, false],
    ['an error of ours', new DiscoveryError('RATE_LIMITED', 'x'), true],
    ['an error of ours that says no', new DiscoveryError('RATE_LIMITED', 'x', { retryable: false }), false],
    ['a connection that was reset', reset, true],
    ['the cause of a failed fetch', new TypeError('fetch failed', { cause: reset }), true],
    ['an error inside another', { error: reset }, true],
    ['HTTP 429', Object.assign(new Error('x'), { status: 429 }), true],
    ['HTTP 404', { statusCode: 404 }, false],
    ['a time-out', new DOMException('x', 'TimeoutError'), true],
    ['an abort', new DOMException('x', 'AbortError'), false],
    ['a bug', new TypeError('x'), false],
    ['a failure without an error', { success: false, error: 'x' }, false],
    ['nothing', undefined, false],
  ])('%s', (_what, error, expected) => {
    expect(isRetryable(error)).toBe(expected);
  });

  it('ends for causes in a ring, and never throws', () => {
    const ring = new Error('a');
    ring.cause = ring;
    expect(isRetryable(ring)).toBe(false);
    fc.assert(fc.property(fc.anything(), (value) => typeof isRetryable(value) === 'boolean'));
  });
});

describe('parseToolName', () => {
  it.each([
    ['server__tool', 'server', 'tool'],
    ['server__a__b', 'server', 'a__b'],
    ['server____tool', 'server', '__tool'],
    ['a___b', 'a', '_b'],
    ['__proto___x__y', undefined, undefined],
  ])('splits %s at the first "__"', (name, serverName, toolName) => {
    expect(parseToolName(name)).toMatchObject(serverName ? { data: { serverName, toolName } } : { success: false });
  });

  it.each(['', '__', '__tool', 'server__', 'plain', 'a_b', `${'x'.repeat(1100)}__y`, 7, null])('rejects %j', (name) => {
    expect(parseToolName(name as string)).toMatchObject({
      success: false,
      error: { code: 'TOOL_INVALID_INPUT', retryable: false },
    });
  });

  it('is the way back from formatToolName, for servers without "__"', () => {
    const server = fc.string({ minLength: 1, maxLength: 50 }).filter((name) => !name.includes('_'));
    const tool = fc.string({ minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(server, tool, (serverName, toolName) => {
        const name = formatToolName({ serverName, toolName });
        expect(name).toBe(formatToolName({ server: serverName, tool: toolName }));
        expect(parseToolName(name)).toEqual({ success: true, data: { serverName, toolName } });
      }),
    );
  });
});
