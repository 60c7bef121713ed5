/**
 * Any text in, the same without what looks like a secret out. For the one place that knows no configuration: a crash.
 * Everywhere else the secrets themselves are known and taken out exactly.
 * @module
 */
import { isSecretName, SECRET_ASSIGNMENT } from './secret-names.ts';

const MASK = '***';
const MAX_TEXT = 4_000;

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // Credentials behind a scheme, in an address, behind a telling name.
  [/\b(bearer|basic|token)\s+[^\s"',;]{4,}/gi, `$1 ${MASK}`],
  [/:\/\/[^\s/?#@]{1,500}@/g, `://${MASK}@`],
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
