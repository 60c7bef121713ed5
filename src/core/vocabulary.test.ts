import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  ConfigurationError,
  DiscoveryError,
  ERROR_CODES,
  isRetryableCode,
  ServerConnectionError,
  ToolExecutionError,
  ToolNotFoundError,
  ValidationError,
} from './errors.ts';
import { LIMITS } from './limits.ts';
import { createJsonLogger, createLogger, silentLogger } from './log.ts';
import { causeOf, fail, ok, toFailure } from './result.ts';
import { IDENTITY, VERSION } from './version.ts';

describe('errors', () => {
  it('show what is there and nothing that is absent', () => {
    const error = new DiscoveryError('RATE_LIMITED', 'slow down', { server: 's', retryAfterMs: 5, suggestions: [] });
    expect(error.toInfo()).toEqual({
      code: 'RATE_LIMITED',
      message: 'slow down',
      server: 's',
      retryable: true,
      retryAfterMs: 5,
    });
    expect(new DiscoveryError('CANCELLED', 'x', { tool: 't', outcome: 'unknown', schema: {} }).toInfo()).toEqual({
      code: 'CANCELLED',
      message: 'x',
      tool: 't',
      retryable: false,
      outcome: 'unknown',
      schema: {},
    });
    expect(error.server).toBe('s');
    expect(error.tool).toBeUndefined();
  });

  it('have one class per kind, and a code each', () => {
    const cause = new Error('below');
    expect(new ConfigurationError('m', ['a', 'b'])).toMatchObject({
      code: 'CONFIGURATION_ERROR',
      problems: ['a', 'b'],
    });
    expect(new ValidationError('m')).toMatchObject({ code: 'VALIDATION_ERROR', name: 'ValidationError' });
    expect(new ServerConnectionError('s', 'm', { cause }).cause).toBe(cause);
    expect(new ServerConnectionError('s', 'm').toInfo()).toMatchObject({ outcome: 'not_sent', retryable: true });
    expect(new ToolExecutionError('s', 't', 'm').toInfo()).toMatchObject({ code: 'TOOL_EXECUTION_ERROR', tool: 't' });
    expect(new ToolNotFoundError('s', 't').message).toBe('No tool "t" on server "s".');
    expect(ERROR_CODES.filter(isRetryableCode)).toContain('SERVER_BUSY');
    expect(new Set(ERROR_CODES).size).toBe(18);
  });
});

describe('results', () => {
  it('are data or a failure', () => {
    expect(ok(1)).toEqual({ success: true, data: 1 });
    expect(fail('SERVER_BUSY', 'm')).toEqual({
      success: false,
      error: { code: 'SERVER_BUSY', message: 'm', retryable: true },
    });
  });

  it('come from whatever was thrown', () => {
    const cause = new Error('below');
    const known = toFailure(new DiscoveryError('CANCELLED', 'm', { cause }), { server: 's', tool: 't' });
    expect(known).toMatchObject({ error: { code: 'CANCELLED', server: 's', tool: 't' } });
    expect(known.success || causeOf(known.error)).toBe(cause);
    for (const thrown of [new TypeError('odd'), 'odd'])
      expect(toFailure(thrown)).toMatchObject({
        error: { code: 'TOOL_EXECUTION_ERROR', message: 'odd', outcome: 'unknown' },
      });
    const plain = new DiscoveryError('CANCELLED', 'm');
    const same = toFailure(plain);
    expect(same.success || causeOf(same.error)).toBe(plain);
    const told = fail('CANCELLED', 'm');
    expect(told.success || causeOf(told.error)).toBeUndefined();
  });
});

describe('a logger', () => {
  it('writes one bounded line each, from its level up, without control characters or secrets', () => {
    const lines: string[] = [];
    const log = createLogger(
      (line) => lines.push(line),
      'warn',
      (text) => text.replaceAll('SECRET', '***'),
    );
    log.debug({}, 'no');
    log.info({}, 'no');
    log.warn({ server: 'a\nb', code: 5 }, 'hello \u001b[31mSECRET');
    log.error({ long: 'x'.repeat(10_000) });
    expect(lines).toHaveLength(2);
    expect(lines[0]).toBe('warn hello  [31m*** server=a b code=5');
    expect(lines[1]?.length).toBe(LIMITS.text.message);
    expect(createLogger(() => lines.push('never'), 'silent').error({}, 'x')).toBeUndefined();
    expect(silentLogger.error({}, 'x')).toBeUndefined();
    expect(lines).toHaveLength(2);
  });

  it('of programs writes JSON objects, whose fields cannot pose as level, message or time', () => {
    const lines: string[] = [];
    const log = createJsonLogger(
      (line) => lines.push(line),
      'warn',
      () => ({ time: 'now', trace_id: 'a1' }),
    );
    log.info({}, 'no');
    log.warn(
      { server: 'a\nb', level: 'debug', message: 'faked', time: 'never', more: { text: '\u200bhidden' } },
      'hello',
    );
    log.error({ long: 'x'.repeat(10_000) });
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        server: 'a\nb',
        more: { text: 'hidden' },
        time: 'now',
        trace_id: 'a1',
        level: 'warn',
        message: 'hello',
      },
      { long: 'x'.repeat(LIMITS.text.message), time: 'now', trace_id: 'a1', level: 'error', message: '' },
    ]);
    expect(lines.join('')).not.toContain('\n');
  });
});

it('the version is that of package.json', () => {
  const { version, name } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect([VERSION, IDENTITY.version, IDENTITY.name]).toEqual([version, version, name]);
});
