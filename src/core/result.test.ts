import { describe, expect, it } from 'vitest';
import { DiscoveryError, ToolNotFoundError } from './errors.ts';
import { causeOf, toFailure } from './result.ts';

describe('a thrown value becomes a failure', () => {
  it.each<[string, unknown, string]>([
    ['an object without a prototype', Object.create(null), 'no reason was given'],
    ['an object with a message', { message: 'quota' }, 'quota'],
    ['nothing', undefined, 'no reason was given'],
    ['an error', new Error('disk full'), 'disk full'],
  ])('that is %s', (_, thrown, message) => {
    expect(toFailure(thrown, { tool: 'x' })).toEqual({
      success: false,
      error: { code: 'TOOL_EXECUTION_ERROR', message, tool: 'x', retryable: false, outcome: 'unknown' },
    });
  });

  it('that is ours: with its code, its cause, and where it happened', () => {
    const cause = new Error('below');
    const failure = toFailure(new DiscoveryError('RATE_LIMITED', 'Too fast', { cause }), { server: 's', tool: 't' });
    expect(failure).toMatchObject({ error: { code: 'RATE_LIMITED', retryable: true, server: 's', tool: 't' } });
    expect(failure.success || causeOf(failure.error)).toBe(cause);
  });
});

it('a tool that is not found can come without a server and with suggestions', () => {
  const { message, tool, server, details } = new ToolNotFoundError('a', undefined, 'No "a".', { suggestions: ['b'] });
  expect({ message, tool, server, ...details }).toMatchObject({ message: 'No "a".', tool: 'a', suggestions: ['b'] });
  expect(server).toBeUndefined();
});
