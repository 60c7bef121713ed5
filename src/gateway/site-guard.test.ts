import { expect, it } from 'vitest';
import { foreignness } from './site-guard.ts';

const site = { port: 80, isSecure: false, isLoopback: true, hosts: [], origins: [] };
const request = (...rawHeaders: string[]) => ({ rawHeaders });

it.each([[['Host', 'localhost:80']], [['Host', '127.0.0.1']], [['host', '[::1]:80', 'Origin', 'http://localhost:80']]])(
  'serves %j',
  (headers) => {
    expect(foreignness(request(...headers), site)).toBeUndefined();
  },
);

it.each([
  [[], 'Host'],
  [['Host', 'evil.example:80'], 'Host'],
  [['Host', '127.0.0.1.evil.example'], 'Host'],
  [['Host', 'user@127.0.0.1'], 'Host'],
  [['Host', 'localhost:81'], 'Host'],
  [['Host', 'localhost', 'Host', 'evil.example'], 'Host'],
  [['Host', 'localhost', 'Origin', 'http://evil.example'], 'Origin'],
  [['Host', 'localhost', 'Origin', 'null'], 'Origin'],
  [['Host', 'localhost', 'Origin', 'http://localhost.evil.example'], 'Origin'],
  [['Host', 'localhost', 'Origin', 'http://localhost:81'], 'Origin'],
  [['Host', 'localhost', 'Origin', 'https://localhost:80'], 'Origin'],
])('refuses %j', (headers, header) => {
  expect(foreignness(request(...headers), site)).toContain(`Invalid ${header}`);
});
