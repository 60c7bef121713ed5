import { expect, it } from 'vitest';
import { type ClientType, clientOf } from './clients.ts';
import { loginFields } from './login-fields.ts';

const fieldsOf = (client: ClientType, raw: Record<string, unknown>) =>
  loginFields(raw, clientOf(client).dialect, (text) => text);

it.each([
  [
    'claude-code',
    { oauth: { clientId: 'c', callbackPort: 8080, scopes: 'a b' } },
    { clientId: 'c', redirectUri: 'http://localhost:8080/callback', scopes: ['a', 'b'] },
  ],
  [
    'cursor',
    { auth: { CLIENT_ID: 'c', CLIENT_SECRET: 's', scopes: ['a'] } },
    { clientId: 'c', clientSecret: 's', redirectUri: 'http://localhost:8787/callback', scopes: ['a'] },
  ],
  ['vscode', { oauth: { clientId: 'c' } }, { clientId: 'c', redirectUri: 'http://127.0.0.1:33418' }],
  [
    'kiro',
    { oauth: { clientId: 'c', clientSecret: 's', redirectUri: 'http://127.0.0.1:9/x' } },
    { clientId: 'c', clientSecret: 's', redirectUri: 'http://127.0.0.1:9/x' },
  ],
  [
    'gemini-cli',
    { oauth: { enabled: true, clientId: 'c', tokenUrl: 'https://x/t', scopes: ['a'] } },
    { clientId: 'c', redirectUri: 'http://localhost:7777/oauth/callback', scopes: ['a'] },
  ],
  [
    'opencode',
    { oauth: { client_id: 'c', scope: 'a b' } },
    { clientId: 'c', redirectUri: 'http://127.0.0.1:19876/mcp/oauth/callback', scopes: ['a', 'b'] },
  ],
  [
    'codex',
    { oauth: { client_id: 'c', callback_port: 7 }, scopes: ['a'], oauth_resource: 'https://r' },
    { clientId: 'c', redirectUri: 'http://localhost:7/callback', scopes: ['a'], resource: 'https://r' },
  ],
  [
    'cursor',
    { auth: { CLIENT_ID: 'c', redirectUri: 'cursor://x' } },
    { clientId: 'c', redirectUri: 'http://localhost:8787/callback' },
  ],
  ['opencode', { oauth: false }, undefined],
  ['cursor', { auth: { token: 'never read' }, url: 'https://x' }, undefined],
] as const)('the login settings of %s are understood: %j', (client, raw, expected) => {
  expect(fieldsOf(client as ClientType, raw as never)).toEqual(expected);
});
