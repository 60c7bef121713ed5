import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expandReferences } from '../config/references.ts';
import { credentialSpans, maskCredentials, maskSecrets } from './credential-patterns.ts';
import { KnownSecrets, redactUnknown } from './redactor.ts';

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

  test('takes out a token at the place where it cuts', () => {
    const token = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
    for (let before = 3_900; before < 4_010; before++) {
      const masked = maskSecrets(`${'x '.repeat(before / 2)}${token} ${token}`);
      for (let at = 0; at + 8 <= token.length; at++) expect(masked).not.toContain(token.slice(at, at + 8));
      const named = maskSecrets(`${'x '.repeat(before / 2)}open.sesame.now`, { MY_TOKEN: 'open.sesame.now' });
      expect(named).not.toContain('open.s');
    }
  });

  test('any text ends quickly and bounded', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (part) => maskSecrets(part.repeat(500)).length <= 60_000),
      { numRuns: 50 },
    );
  });
});

const PEM = `-----BEGIN RSA PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0B\n'.repeat(3)}-----END RSA PRIVATE KEY-----`;

test.each([
  ['connect pg://user:geheim@db/x failed', 'connect pg://***@db/x failed'],
  ['Server=db;Password=geheim;Port=1', 'Server=db;Password=***;Port=1'],
  ['GET /x?access_token=geheim&page=2', 'GET /x?access_token=***&page=2'],
  ['sent Bearer abc123def456', 'sent Bearer ***'],
  ['{"client_secret":"geheim","id":7}', '{"client_secret":"***","id":7}'],
  ['{\\"client_secret\\": \\"geheim\\"}', '{\\"client_secret\\": \\"***\\"}'],
  ["config {'password': 'ge heim', 'user': 'me'}", "config {'password': '***', 'user': 'me'}"],
  ['Authorization: Basic bWU6aHVudGVy was sent', 'Authorization: Basic *** was sent'],
  ['authorization=Token geheim1', 'authorization=Token ***'],
  ['api_key: geheim\nnext', 'api_key: ***\nnext'],
  ['password: hunter2 is wrong', 'password: *** is wrong'],
  ['DB_PASSWORD = "ge heim"; next', 'DB_PASSWORD = ***; next'],
  ["Password: 'ge heim' is wrong", 'Password: *** is wrong'],
  ['{"auth":{"pass":"geheim"}}', '{"auth":{"pass":"***"}}'],
  ['failed: psql --db-password geh3im -h db', 'failed: psql --db-password *** -h db'],
  ['failed: x --pass "ge h3im" y', 'failed: x --pass *** y'],
  [
    'give --password FILE, --token-file /run/token1 or --max-tokens 4096',
    'give --password FILE, --token-file /run/token1 or --max-tokens 4096',
  ],
  ['password: "must be longer"', 'password: "must be longer"'],
  [`the key ${PEM} is bad`, 'the key *** is bad'],
  [PEM.slice(0, 60), '***'],
  [`line one\n${PEM.slice(40)}`, 'line one\n***'],
  ['jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln', 'jwt ***'],
  ['bad token ghp_16C7e42F292c6912E7710c838347Ae178B4a.', 'bad token ***.'],
  ['key sk-proj-1234567890abcdefgh rejected', 'key *** rejected'],
  ['Cookie: session=abc123def; x', 'Cookie: session=***; x'],
  ['redis://:p@ss@cache:6379/0', 'redis://***@cache:6379/0'],
  ['password: required', 'password: required'],
  ['max_tokens=4096 exceeds tokens=2048', 'max_tokens=4096 exceeds tokens=2048'],
  ['api_key=None, token=null, password=${DB_PASSWORD}', 'api_key=None, token=null, password=${DB_PASSWORD}'],
  ['password=1234 is wrong', 'password=*** is wrong'],
  ['already password=***.', 'already password=***.'],
  ['password: String must contain at least 8 characters', 'password: String must contain at least 8 characters'],
  ['secret: must not be empty', 'secret: must not be empty'],
  ['token: Invalid input: expected string', 'token: Invalid input: expected string'],
  ['get_info list_tokens max_tokens sk-learn tokenize', 'get_info list_tokens max_tokens sk-learn tokenize'],
  ['see https://example.com/a@b and mail me@example.com', 'see https://example.com/a@b and mail me@example.com'],
  ['Basic authentication is required', 'Basic authentication is required'],
  ['duplicate key: 550e8400-e29b-41d4-a716-446655440000', 'duplicate key: 550e8400-e29b-41d4-a716-446655440000'],
  ['Unexpected token in JSON; bearer authentication failed', 'Unexpected token in JSON; bearer authentication failed'],
])('takes only credentials out of what a tool says went wrong: %s', (text, masked) => {
  expect(maskCredentials(text)).toBe(masked);
});

test('no text of a megabyte takes long, with a thousand known secrets', () => {
  const { redactWords } = new KnownSecrets(Array.from({ length: 1_000 }, (_, at) => `ghp_${at}x${at * 7919}abcDEF`));
  const pieces = [
    'a',
    'A1',
    '-----BEGIN PRIVATE KEY',
    '-----BEGIN PRIVATE KEY-----',
    '-----END PRIVATE KEY-----',
    'QUJDREVGR0hJSktM\n',
    'password',
    'password=',
    'password"',
    'token: ',
    '://a',
    '://a@',
    '@a',
    'eyJ',
    'eyJaaaaaaaaa.',
    'sk-',
    'sk_a',
    '_',
    '"',
    'secret\\',
    ' ',
    '\n',
    'authorization ',
    'bearer ',
    'cookie:a=',
    'secret:',
    'ghp_',
    '=',
    '1',
    'tokentoken',
    "password='",
    'password: "',
    '"pass": ',
    '--password ',
    '--a-b',
    '-a_pass',
  ];
  for (const piece of pieces) {
    const text = piece.repeat(1_000_000 / piece.length);
    const started = process.cpuUsage();
    credentialSpans(text, true);
    redactWords(text);
    // The goal is 1 ms for 1 KiB. Other tests may run beside this one, so only time of the processor counts.
    expect({ piece, slow: process.cpuUsage(started).user / 1_000 > 8_000 }).toEqual({ piece, slow: false });
  }
}, 240_000);

describe('what we advise ourselves stays readable', () => {
  const missing = (name: string): string => {
    try {
      expandReferences(`\${${name}}`, {}, 'server "remote"');
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  };

  test.each([
    missing('GITHUB_TOKEN'),
    missing('AWS_SECRET_ACCESS_KEY'),
    missing('MY_PASSWORD'),
    'export GITHUB_TOKEN=… and add it to the entry: "env": {"GITHUB_TOKEN": "${GITHUB_TOKEN}"} (server "x")',
    'export API_KEY=… DB_PASSWORD=…',
    '"headers": {"Authorization": "Bearer ${DOCS_TOKEN}"}',
    "write headers: { Authorization: 'Bearer ${NAME}' } in place of auth",
    'GITHUB_TOKEN is not set',
    'COMPANY_SERVICE_2_ACCOUNT_DEPLOY_TOKEN is not set',
  ])('%s', (advice) => {
    expect(advice).not.toBe('');
    for (const mask of [(text: string) => maskSecrets(text), maskCredentials, redactUnknown])
      expect(mask(advice)).toBe(advice);
  });

  test('while a default that looks like a secret is masked', () => {
    for (const text of ['${API_TOKEN:-hunter2-4711}', '${DB_PASSWORD:-s3same}', '${X_TOKEN:-ghp_0123456789abcdefghij}'])
      expect(maskCredentials(text)).toContain('***');
    expect(maskSecrets('Authorization: Bearer hunter2x')).toBe('Authorization: Bearer ***');
  });
});
