/**
 * Any text in, the same without what looks like a secret out. For places that know no configuration: a crash, a provider
 * of somebody's own. Everywhere else the secrets themselves are known and taken out exactly.
 * @module
 */
import { isSecretName, SECRET_ASSIGNMENT } from './secret-names.ts';

const MASK = '***';
const MAX_TEXT = 4_000;

type Masking = readonly [RegExp, string];

const ADDRESS: Masking = [/:\/\/[^\s/?#@]{1,500}@/g, `://${MASK}@`];

// Only as connection strings and addresses write it: "duplicate key: 7" is no secret.
const SETTING: Masking = [
  /\b(\w{0,60}(?:password|passwd|pwd|secret|token|api_?key))=[^\s"'&,;]{1,2000}/gi,
  `$1=${MASK}`,
];
const BEARER: Masking = [/\b(bearer)\s+(?=[^\s"',;]{0,500}\d)[^\s"',;]{8,}/gi, `$1 ${MASK}`];

const PATTERNS: readonly Masking[] = [
  // Credentials behind a scheme, in an address, behind a telling name.
  [/\b(bearer|basic|token)\s+[^\s"',;]{4,}/gi, `$1 ${MASK}`],
  ADDRESS,
  [new RegExp(`(${SECRET_ASSIGNMENT})[^\\s"'&,;]{1,2000}`, 'gi'), `$1${MASK}`],
  // Keys that are known by how they begin, and long runs that no word is.
  [/\b(?:sk|pk|rk|gh[a-z]|github_pat|glpat|xox[a-z]|npm|hf|AKIA|eyJ)[-_.]?[\w.-]{12,}/g, MASK],
  [/(?=[\w+=-]{0,200}\d)(?=[\w+=-]{0,200}[A-Za-z])[\w+=-]{32,}/g, MASK],
];

/** Masks what looks like a secret, and the values of variables whose names say so. At most 4,000 characters. */
export function maskSecrets(text: string, env: Readonly<Record<string, string | undefined>> = {}): string {
  let masked = text.slice(0, MAX_TEXT);
  for (const [name, value = ''] of Object.entries(env)) {
    if (value.length >= 6 && isSecretName(name) && !value.startsWith('/')) masked = masked.replaceAll(value, MASK);
  }
  for (const [pattern, mask] of PATTERNS) masked = masked.replace(pattern, mask);
  return masked;
}

/** Masks only what can be nothing but a credential, in texts that say what went wrong with a call: ids stay readable. */
export const maskCredentials = (text: string): string =>
  [ADDRESS, SETTING, BEARER].reduce((masked, [pattern, mask]) => masked.replace(pattern, mask), text);
