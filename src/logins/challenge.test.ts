import fc from 'fast-check';
import { expect, it } from 'vitest';
import { challengeIn } from './challenge.ts';
import { challengeOf } from './login-flow.ts';

it.each([
  [null, {}],
  ['Bearer', {}],
  ['Bearer resource_metadata="https://x/y", scope="a b"', { resourceMetadata: 'https://x/y', scope: 'a b' }],
  ['Negotiate, Bearer realm="a, b", error=invalid_token', { error: 'invalid_token' }],
  ['Basic realm="x", bearer scope="say \\"hi\\""', { scope: 'say "hi"' }],
  ['DPoP algs="ES256", resource_metadata="https://d"', { resourceMetadata: 'https://d' }],
  ['Basic resource_metadata="https://not-ours"', {}],
] as const)('reads the challenge of %j', (header, expected) => {
  expect(challengeIn(header)).toEqual({ resourceMetadata: undefined, scope: undefined, error: undefined, ...expected });
});

it('reads any header without throwing', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 500 }), (header) => {
      for (const value of Object.values(challengeIn(`Bearer ${header}`)))
        expect(['string', 'undefined']).toContain(typeof value);
    }),
  );
});

it.each([
  ['knows only the new greeting', 400, 'server/discover', null],
  ['greets everybody', 200, 'tools/list', 'a session'],
])('is read from a server that %s', async (_what, status, then, session) => {
  const asked: string[] = [];
  const answer = (status: number, headers = {}) => new Response('{}', { status, headers });
  const send = async (_url: unknown, init?: RequestInit) => {
    const { method } = JSON.parse(String(init?.body)) as { method: string };
    asked.push(method);
    if (method === 'initialize') return answer(status, { 'mcp-session-id': 'a session' });
    expect(new Headers(init?.headers).get('mcp-session-id')).toBe(session);
    return answer(401, { 'www-authenticate': 'Bearer scope="read"' });
  };
  const target = { url: 'https://a.example/mcp', headers: new Headers(), opensWith: 'POST' };
  expect(await challengeOf(target as never, send as typeof fetch)).toMatchObject({ scope: 'read' });
  expect(asked).toEqual(['initialize', then]);
});
