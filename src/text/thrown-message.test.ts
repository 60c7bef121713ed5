import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messageOf, thrownAs } from './thrown-message.ts';

const revoked = (): unknown => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
const hostile = {
  get message(): string {
    throw new Error('not even this');
  },
};

describe('what was thrown', () => {
  it.each<[string, unknown, string]>([
    ['an error', new Error('disk full'), 'disk full'],
    ['a text', 'disk full', 'disk full'],
    ['an object with a message', { message: 'quota' }, 'quota'],
    ['an object without one', { code: 7 }, '{"code":7}'],
    ['a number', 5, '5'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['nothing', undefined, 'no reason was given'],
    ['null', null, 'no reason was given'],
    ['an error that says nothing', new Error(' '), 'no reason was given'],
    ['an object without a prototype', Object.create(null), 'no reason was given'],
    ['an object whose message cannot be read', hostile, 'no reason was given'],
    ['a revoked proxy', revoked(), 'no reason was given'],
  ])('is put into words: %s', (_, thrown, message) => {
    expect(messageOf(thrown)).toBe(message);
  });

  it('is bounded, and says something of the caller where it is silent', () => {
    expect(messageOf(new Error('x'.repeat(100_000)))).toHaveLength(16_384);
    expect(messageOf(undefined, 'It failed.')).toBe('It failed.');
  });

  it('never throws again, whatever it is', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: true, withMap: true }), (thrown) => {
        expect(messageOf(thrown)).not.toBe('');
      }),
    );
  });

  it('is an error of a kind, or not', () => {
    const error = new TypeError('x');
    expect(thrownAs(TypeError, error)).toBe(error);
    expect(thrownAs(RangeError, error)).toBeUndefined();
    expect(thrownAs(Error, revoked())).toBeUndefined();
  });
});
