/**
 * Tells whether a name suggests a secret value. The one table of such names: for logs, crashes, diffs and copies of
 * configurations alike.
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
// Said of harmless things too, such as the key of an issue: only where a name is that of a setting.
const LAST: ReadonlySet<string> = new Set([...WHOLE, 'key', 'keys', 'sig', 'pat', 'pw', 'creds', 'session']);

/** Whether a name says that its value is secret, wherever it stands. */
export function isSecretKey(name: string): boolean {
  const plain = name
    .slice(0, LIMITS.names.shown)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
  return WHOLE.has(plain) || PARTS.some((part) => plain.includes(part));
}

/** The same for the name of a variable, an option, a header or a parameter of an address: `--api-key`, `GITHUB_PAT`. */
export const isSecretName = (name: string): boolean => isSecretKey(name) || LAST.has(lastWord(name));

/** Whether the secret itself is what is named, as in `API_TOKEN`, and not something about it, as in `TOKEN_LIMIT`. */
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

// What such a name ends with; short words only where they are words.
const ENDS = `${PARTS.join('|')}|key|auth|credentials|(?<![a-z])(?:${[...LAST].join('|')})`;

/** A name of that kind and what stands between it and its value, for texts of which nothing else is known. */
export const SECRET_ASSIGNMENT = `(?:${ENDS})["']?\\s{0,3}[=:]\\s{0,3}["']?`;
