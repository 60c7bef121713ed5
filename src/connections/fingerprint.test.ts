import { expect, it } from 'vitest';
import { fingerprint } from './fingerprint.ts';

const stdio = { type: 'stdio', command: 'a', args: ['b'], env: { T: '1' }, inheritEnv: [], cwd: undefined } as const;
const http = { type: 'http', url: 'http://a/', headers: { X: '1' }, auth: undefined } as const;

it('changes with what is reached and not with secrets', () => {
  expect(fingerprint(stdio)).toMatch(/^[0-9a-f]{16}$/);
  expect(fingerprint({ ...stdio, env: { T: '2' } })).toBe(fingerprint(stdio));
  expect(fingerprint({ ...stdio, args: ['c'] })).not.toBe(fingerprint(stdio));
  expect(fingerprint({ ...stdio, cwd: '/x' })).not.toBe(fingerprint(stdio));
  expect(fingerprint({ ...http, headers: { X: '2' } })).toBe(fingerprint(http));
  expect(fingerprint({ ...http, url: 'http://b/' })).not.toBe(fingerprint(http));
  expect(fingerprint({ ...http, auth: 'env' })).not.toBe(fingerprint(http));
});
