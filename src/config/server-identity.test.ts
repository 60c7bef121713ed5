import { describe, expect, it } from 'vitest';
import type { WrittenConnection } from '../core/transport-parts.ts';
import { identityOf } from './server-identity.ts';

const type = 'stdio';
const http = { type: 'http', url: 'https://example.com/mcp' } as const;
const same: readonly (readonly [string, WrittenConnection, WrittenConnection])[] = [
  [
    'defaults left out',
    { type, command: 'x' },
    { type, command: 'x', args: [], env: {}, inheritEnv: [], cwd: undefined },
  ],
  [
    'variables in another order',
    { type, command: 'x', env: { A: '1', B: '2' } },
    { type, command: 'x', env: { B: '2', A: '1' } },
  ],
  [
    'a variable passed on either way',
    { type, command: 'x', inheritEnv: ['A'] },
    { type, command: 'x', env: { A: '${A}' } },
  ],
  ['a slash at the end of the address', http, { ...http, url: `${http.url}/` }],
  ['the fallback transport', http, { ...http, type: 'sse' }],
  ['the case of headers', { ...http, headers: { 'X-Key': '1' } }, { ...http, headers: { 'x-key': '1' } }],
];
const different: readonly (readonly [string, WrittenConnection, WrittenConnection])[] = [
  ['arguments', { type, command: 'x', args: ['a', 'b'] }, { type, command: 'x', args: ['b', 'a'] }],
  ['the value of a variable', { type, command: 'x', env: { A: '1' } }, { type, command: 'x', env: { A: '2' } }],
  ['the folder', { type, command: 'x', cwd: '/a' }, { type, command: 'x', cwd: '/b' }],
  ['the token', { ...http, auth: 'env' }, http],
];

describe('identityOf', () => {
  it.each(same)('is the same with %s', (_, a, b) => {
    expect(identityOf(a)).toBe(identityOf(b));
  });

  it.each(different)('differs with %s', (_, a, b) => {
    expect(identityOf(a)).not.toBe(identityOf(b));
  });
});
