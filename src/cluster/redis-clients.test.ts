import { expect, it } from 'vitest';
import { redisClients } from './redis-clients.ts';

const optionsOf = (url: string) => {
  const clients = redisClients(url);
  for (const client of clients.all) client.on('error', () => {});
  clients.close();
  return clients.subscriber.options;
};

it.each([
  ['user:pass', { username: 'user', password: 'pass' }],
  [':p%40ss%2F%25', { password: 'p@ss/%' }],
  // As `redis://` reads them.
  [':pa:ss', { password: 'pa:ss' }],
  ['user:p@ss', { username: 'user', password: 'p@ss' }],
])('reads the login %s of several hosts whole, so that no part of a password becomes a host', (login, read) => {
  const sentinel = optionsOf(`redis+sentinel://${login}@127.0.0.1:1,[::1]:2/name/3`);
  const sentinels = [
    { host: '127.0.0.1', port: 1 },
    { host: '::1', port: 2 },
  ];
  expect(sentinel).toMatchObject({ ...read, name: 'name', db: 3, sentinels });
  expect(optionsOf(`redis+cluster://${login}@127.0.0.1:1`)).toMatchObject({ ...read, host: '127.0.0.1', port: 1 });
});

it.each([
  'redis+cluster://user:secret%@127.0.0.1:1',
  'redis+sentinel://:secret@127.0.0.1:1/name/zero',
  'redis+sentinel://:secret@/name',
  'redis+cluster://secret:secret',
  'http://:secret@127.0.0.1:1',
])('refuses %s and says nothing of it', (url) => {
  expect(() => redisClients(url)).toThrow(/^cluster\.redis is no address of Redis(?!.*secret)/);
});
