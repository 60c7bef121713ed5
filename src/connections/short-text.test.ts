import { expect, it } from 'vitest';
import { KnownSecrets } from '../secrets/redactor.ts';
import { lastWords, sentence, shortText } from './short-text.ts';

const { redactWords } = new KnownSecrets();

it('makes one short, harmless line of anything', () => {
  expect(shortText('\u001b[31mred\u001b[0m\r\nnext\u0007\u009b1m line', redactWords)).toBe('red next line');
  expect(shortText(`\u001b]0;title\u0007${'x'.repeat(5000)}`, redactWords, 10)).toBe('x'.repeat(10));
});

it('ends a sentence once', () => {
  expect(['no', 'No.', 'Why?', 'No!', ''].map(sentence)).toEqual(['no.', 'No.', 'Why?', 'No!', '.']);
});

it('shows the end of a log that has no error', () => {
  expect(lastWords('one\ntwo\n\u001b[1mthree\u001b[0m\nfour\n', redactWords)).toBe('two | three | four');
  expect(lastWords('x'.repeat(5000), redactWords)).toHaveLength(200);
  expect(lastWords('', redactWords)).toBe('');
});

const NODE = `node:internal/modules/cjs/loader:1228
  throw err;
  ^

Error: Cannot find module '/srv/server.js'
    at Function._resolveFilename (node:internal/modules/cjs/loader:1225:15)
    at node:internal/main/run_main_module:28:49 {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.19.0
`;
const PYTHON = `Traceback (most recent call last):
  File "/srv/server.py", line 1, in <module>
    import missing_thing
ModuleNotFoundError: No module named 'missing_thing'
`;
const NPM = `npm error code E404
npm error 404  'no-such@*' is not in this registry.
npm error A complete log of this run can be found in: /home/me/.npm/_logs/x.log
`;
const NPM_ADVICE = `npm error code E404
npm error 404 Not Found - GET https://registry.npmjs.org/@no%2fsuch
npm error 404
npm error 404  The requested resource '@no/such@*' could not be found or you do not have permission to access it.
npm error 404
npm error 404 Note that you can also install from a
npm error 404 tarball, folder, http url, or git url.
npm error A complete log of this run can be found in: /home/me/.npm/_logs/x.log
`;
const NPM_VERSION = `npm ERR! code ETARGET
npm ERR! notarget No matching version found for such@99.
npm ERR! notarget In most cases you or one of your dependencies are requesting
npm ERR! notarget a package version that doesn't exist.
`;
const NPM_OFFLINE = `npm error code ENOTFOUND
npm error syscall getaddrinfo
npm error errno ENOTFOUND
npm error network request to https://registry.npmjs.org/such failed, reason: getaddrinfo ENOTFOUND registry.npmjs.org
npm error network This is a problem related to network connectivity.
npm error network In most cases you are behind a proxy or have bad network settings.
npm error network
npm error network If you are behind a proxy, please make sure that the
npm error network 'proxy' config is set properly.  See: 'npm help config'
`;
const NPM_SCRIPT = `TypeError: token is undefined
npm error Lifecycle script \`start\` failed with error:
npm error code 1
npm error path /srv
`;

it.each([
  [NODE, "Error: Cannot find module '/srv/server.js'"],
  [PYTHON, "ModuleNotFoundError: No module named 'missing_thing'"],
  [NPM, "npm error 404 'no-such@*' is not in this registry."],
  [NPM_ADVICE, 'npm error 404 Not Found - GET https://registry.npmjs.org/@no%2fsuch'],
  [NPM_VERSION, 'npm ERR! notarget No matching version found for such@99.'],
  [
    NPM_OFFLINE,
    'npm error network request to https://registry.npmjs.org/such failed, reason: getaddrinfo ENOTFOUND registry.npmjs.org',
  ],
  [NPM_SCRIPT, 'TypeError: token is undefined'],
  ['npm error could not determine executable to run\n', 'npm error could not determine executable to run'],
  ['starting\nAPI_KEY is missing\nbye\n', 'API_KEY is missing'],
  [`Error: ${'x'.repeat(1000)}`, `Error: ${'x'.repeat(193)}`],
])('finds the reason in %j', (log, reason) => {
  expect(lastWords(log, redactWords)).toBe(reason);
});

it('removes a secret before it cuts, wherever the cut falls', () => {
  const secret = 'ghx_9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7';
  const { redactWords: redact } = new KnownSecrets([secret]);
  for (let before = 0; before < 1300; before += 7) {
    const text = `${'x'.repeat(before)} ${secret} ${'y'.repeat(2000)}`;
    for (const short of [shortText(text, redact), lastWords(`Error: ${text}`, redact)])
      for (let at = 0; at + 8 <= secret.length; at++) expect(short).not.toContain(secret.slice(at, at + 8));
  }
});
