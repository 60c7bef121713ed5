import { expect, it } from 'vitest';
import { requestToken } from './token-request.ts';

const place = { tokenEndpoint: 'https://login.example/token', client: { client_id: 'x' } };
const asking = (answer: object) =>
  requestToken(place, { grant_type: 'refresh_token' }, async () => Response.json(answer));

it.each([
  ['no token', {}],
  ['an empty token', { access_token: '' }],
  ['a token with a line break', { access_token: 'a\r\nx-injected: 1' }],
  ['a token with a space', { access_token: 'a b' }],
  ['a token of other letters', { access_token: 'tökén' }],
  ['a token that is no text', { access_token: { a: 1 } }],
  ['a token of another type', { access_token: 'good', token_type: 'DPoP' }],
])('an answer with %s is no answer, and the login is kept', async (_what, answer) => {
  const asked = await asking(answer);
  expect(asked).toMatchObject({
    isTransient: true,
    reason: expect.stringContaining('the token endpoint answered with'),
  });
  expect(JSON.stringify(asked)).not.toContain('injected');
});

it('a refresh token that cannot be sent replaces no other', async () => {
  for (const refresh_token of ['', 'a b', 5])
    expect(await asking({ access_token: 'good', token_type: 'bearer', refresh_token })).toEqual({
      tokens: { accessToken: 'good', expiresAt: undefined },
    });
});
