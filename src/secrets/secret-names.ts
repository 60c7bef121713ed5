/**
 * Tells whether a name suggests a secret value. Holds the only table of such names, for logs, crashes, diffs and copies
 * of configurations.
 * @module
 */

import { LIMITS } from '../core/limits.ts';

// Found anywhere in a name in lower case without separators, so `X-Api_Key` is `xapikey`.
const PARTS = [
  'token',
  'secret',
  'password',
  'passwd',
  'passphrase',
  'pwd',
  'authorization',
  'bearer',
  'apikey',
  'accesskey',
  'privatekey',
  'secretkey',
  'sshkey',
  'cookie',
  'credential',
  'sessionid',
  'signature',
  'onetimecode',
];
const WHOLE: ReadonlySet<string> = new Set(['auth', 'pass', 'otp', 'pin', 'jwt', 'sid']);
// Also used for harmless things, such as the key of an issue: matched only for names of settings.
const LAST: ReadonlySet<string> = new Set([...WHOLE, 'key', 'keys', 'sig', 'pat', 'pw', 'creds', 'session']);

/** Tells whether any key's name suggests a secret value. */
export function isSecretKey(name: string): boolean {
  const plain = name
    .slice(0, LIMITS.names.shown)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
  return WHOLE.has(plain) || PARTS.some((part) => plain.includes(part));
}

/** Like `isSecretKey`, for the name of a variable, option, header or URL parameter: `--api-key`, `GITHUB_PAT`. */
export const isSecretName = (name: string): boolean => isSecretKey(name) || LAST.has(lastWord(name));

/** Tells whether a name means the secret itself, as in `API_TOKEN`, not something about it, as in `TOKEN_LIMIT`. */
export function endsWithSecretNoun(name: string): boolean {
  const last = lastWord(name);
  return LAST.has(last) || PARTS.some((part) => last.endsWith(part)) || last === 'code';
}

const lastWord = (name: string): string =>
  name
    .slice(0, LIMITS.names.shown)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
    .at(-1) ?? '';

// Endings of secret names; short words only as whole words.
const ENDS = `${PARTS.join('|')}|key|auth|credentials|(?<![a-z])(?:${[...LAST].join('|')})`;

/** Matches a secret name and the separator before its value, in texts without other context. */
export const SECRET_ASSIGNMENT = `(?:${ENDS})["']?\\s{0,3}[=:]\\s{0,3}["']?`;
