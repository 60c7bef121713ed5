import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maskCredentials, maskSecrets } from './credential-patterns.ts';

describe('maskSecrets', () => {
  test.each([
    ['Authorization: Bearer abcd1234', 'abcd1234'],
    ['Basic dXNlcjpwYXNz was refused', 'dXNlcjpwYXNz'],
    ['postgres://me:hunter2@db/x', 'hunter2'],
    ['https://x/?api_key=abc123&y=1', 'abc123'],
    ['{"password":"open sesame"}', 'open'],
    ['bad key ghp_0123456789abcdefABCDEF', 'ghp_0123456789abcdefABCDEF'],
    ['token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig', 'eyJhbGciOiJIUzI1NiJ9'],
    ['hash 0123456789abcdef0123456789abcdef', '0123456789abcdef'],
  ])('%s', (text, secret) => {
    expect(maskSecrets(text)).not.toContain(secret);
    expect(maskSecrets(text)).toContain('***');
  });

  test('values of variables with telling names are masked, others are not', () => {
    const env = { MY_TOKEN: 'one-two', MODE: 'production', KEY_FILE: '/a/key/file', SHORT_KEY: 'x' };
    expect(maskSecrets('one-two production /a/key/file x', env)).toBe('*** production /a/key/file x');
  });

  test('plain sentences stay as they are', () => {
    const text = "Cannot read properties of undefined (reading 'servers') in /home/me/app/dist/index.js:10:5";
    expect(maskSecrets(text)).toBe(text);
  });

  test('any text ends quickly and bounded', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (part) => maskSecrets(part.repeat(500)).length <= 60_000),
      { numRuns: 50 },
    );
  });
});

test.each([
  ['connect pg://user:geheim@db/x failed', 'connect pg://***@db/x failed'],
  ['Server=db;Password=geheim;Port=1', 'Server=db;Password=***;Port=1'],
  ['GET /x?access_token=geheim&page=2', 'GET /x?access_token=***&page=2'],
  ['sent Bearer abc123def456', 'sent Bearer ***'],
  ['duplicate key: 550e8400-e29b-41d4-a716-446655440000', 'duplicate key: 550e8400-e29b-41d4-a716-446655440000'],
  ['Unexpected token in JSON; bearer authentication failed', 'Unexpected token in JSON; bearer authentication failed'],
])('takes only credentials out of what a tool says went wrong: %s', (text, masked) => {
  expect(maskCredentials(text)).toBe(masked);
});
