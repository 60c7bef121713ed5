import { describe, expect, it } from 'vitest';
import { type AnyConnection, identityOf } from './server-identity.ts';

const url = 'https://example.com/mcp';
const same: readonly (readonly [string, AnyConnection, AnyConnection])[] = [
  ['defaults left out', { command: 'x' }, { command: 'x', args: [], env: {}, inheritEnv: [], cwd: undefined }],
  ['variables in another order', { command: 'x', env: { A: '1', B: '2' } }, { command: 'x', env: { B: '2', A: '1' } }],
  ['a variable passed on either way', { command: 'x', inheritEnv: ['A'] }, { command: 'x', env: { A: '${A}' } }],
  ['a slash at the end of the address', { url }, { url: `${url}/` }],
  ['the case of headers', { url, headers: { 'X-Key': '1' } }, { url, headers: { 'x-key': '1' } }],
];
const different: readonly (readonly [string, AnyConnection, AnyConnection])[] = [
  ['arguments', { command: 'x', args: ['a', 'b'] }, { command: 'x', args: ['b', 'a'] }],
  ['the value of a variable', { command: 'x', env: { A: '1' } }, { command: 'x', env: { A: '2' } }],
  ['the folder', { command: 'x', cwd: '/a' }, { command: 'x', cwd: '/b' }],
  ['the token', { url, auth: 'env' }, { url }],
];

describe('identityOf', () => {
  it.each(same)('is the same with %s', (_, a, b) => {
    expect(identityOf(a)).toBe(identityOf(b));
  });

  it.each(different)('differs with %s', (_, a, b) => {
    expect(identityOf(a)).not.toBe(identityOf(b));
  });
});
