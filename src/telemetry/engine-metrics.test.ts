import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { EngineCore } from '../engine/engine-core.ts';
import { engineMetrics } from './engine-metrics.ts';
import { Metrics } from './metric-families.ts';
import { serveMetrics } from './serve-metrics.ts';

const SERVER = fileURLToPath(new URL('../../test/fixtures/personal-server.mjs', import.meta.url));

it('calls of users with credentials of their own are counted together, and no number names a user', async () => {
  const userEnv = { ann: { USER_CANARY: 'a' }, bob: { USER_CANARY: 'b' } };
  const connection = { type: 'stdio' as const, command: process.execPath, args: [SERVER], userEnv };
  await using engine = new EngineCore(
    { cache: { enabled: false }, servers: [{ name: 'personal', connection, credentials: 'user' }] },
    { env: { PATH: process.env.PATH } },
  );
  for (const principal of ['ann', 'bob'])
    expect((await engine.call({ server: 'personal', tool: 'whoami', caller: { principal } })).success).toBe(true);
  const metrics = new Metrics();
  engineMetrics(metrics, engine);
  const text = await metrics.text();
  expect(text.split('\n').filter((line) => line.startsWith('anygpt_calls_running{'))).toEqual([
    'anygpt_calls_running{server="personal"} 0',
  ]);
  expect(text).not.toMatch(/ann|bob|\0/);
});

it.each(['127.0.0.1', 'localhost'])(
  'a page of another site that points its name at %s reads no numbers',
  async (host) => {
    const served = await serveMetrics({ host, port: 0 }, async () => 'numbers');
    const statusFor = (name: string) =>
      new Promise((resolve, reject) => {
        const asked = request(served.url, { headers: { host: name } }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        asked.on('error', reject).end();
      });
    expect([await statusFor('evil.example'), await statusFor('localhost:1')]).toEqual([403, 200]);
    await served.close();
  },
);
