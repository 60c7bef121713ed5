/**
 * Finds the secret parts of a configured value, given its name. A value is secret because of its name, its place (a
 * password in a URL), or because it looks random. Ordinary words are never secret: `LOG_LEVEL=info` must not mask
 * `get_info`.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { credentialSpans, isPlainWord } from './credential-patterns.ts';
import { endsWithSecretNoun, isSecretKey, isSecretName } from './secret-names.ts';

/** Tells whether a text looks like a generated key: no words, date, version, region or model name. */
export function looksRandom(text: string): boolean {
  if (text.length < 12 || text.length > LIMITS.text.raw || /\s|:\/\//.test(text)) return false;
  if (UUID.test(text) || HEX.test(text)) return true;
  const runs = text.split(/[^A-Za-z0-9]+/).filter((run) => run !== '');
  const isPath = /^(?:[.~]{0,2}|[A-Za-z]:)[\\/]/.test(text);
  if (runs.some((run) => run.length >= 16 && digitsIn(run) >= 2 && changesIn(run) >= 2)) return true;
  const all = runs.join('');
  return !isPath && all.length >= 10 && digitsIn(all) > 0 && changesIn(all) >= 0.3 * (all.length - 1);
}

/** Returns the secret parts of a value. `given`: the value is kept out of the configuration, in a file or a header. */
export function secretParts(value: string, name: string, given = false): string[] {
  const parts = partsOf(value.slice(0, LIMITS.text.raw), name, 0);
  const whole = value.trim();
  if (looksRandom(whole) || (given ? isKept(whole) : isNamedSecret(whole, name))) parts.push(whole);
  return [...new Set(parts)].filter((part) => part !== '');
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
const HEX = /(?<![A-Za-z0-9])(?=[\da-f]{0,63}\d)(?=[\da-f]{0,63}[a-f])[\da-f]{16,}(?![A-Za-z0-9])/i;
const SCHEME = /^(?:bearer|basic|token|apikey|api-key|key)[ \t]+(\S+)\s*$/i;
const ASSIGNMENT = /^-{0,2}([\w.-]{1,100})[ \t]*[=:][ \t]*(\S.*)$/s;
/** `-pPASSWORD` of mysql and sshpass. `-p8080:80` is a port, `-prune` an option. */
const SHORT_OPTION = /^-p(?![\d:.,/-]+$)(?![A-Za-z]+$)(\S{4,})$/;
const USER_AND_PASSWORD = /^[^\s:@/]{1,100}:([^\s/]{4,})$/;
// Values of switches, also of those with secret names: `AUTH=none`, `TOKEN=required`.
const ORDINARY = new Set(
  'none null true false default enabled disabled required optional always never bearer basic oauth oauth2 token password passwd secret apikey changeme header cookie session string number object public private production development staging example keychain keyring environment anonymous undefined unknown prompt manual automatic'.split(
    ' ',
  ),
);

/** Tells whether a value is a word of settings, such as `none` in `AUTH=none`. */
export const isOrdinary = (text: string): boolean => ORDINARY.has(text.toLowerCase());

const digitsIn = (text: string): number => text.replace(/\D+/g, '').length;

/** Counts changes between lower case, upper case and digits; random texts change often. */
const changesIn = (text: string): number => (text.match(/[a-z]+|[A-Z]+|\d+/g)?.length ?? 1) - 1;

const isAddress = (text: string): boolean => /^[\w+.-]{1,30}:\/\//.test(text);
const isPath = (text: string): boolean => /^(?:~|\.{0,2})[\\/]|^[A-Za-z]:[\\/]/.test(text) && !looksRandom(text);
const isWord = (text: string): boolean => /^[A-Za-z]+$/.test(text);

/** Tells whether a value with a secret name is a secret. A short plain word, a number or a URL is not. */
export function isNamedSecret(text: string, name: string): boolean {
  if (!isSecretName(name) || text.length < 4 || isAddress(text) || isPath(text)) return false;
  if (SCHEME.test(text)) return false;
  const last = endsWithSecretNoun(name);
  if (isOrdinary(text)) return false;
  if (isWord(text)) return text.length >= 12 || (last && text.length >= 6);
  if (/^\d+$/.test(text)) return last && text.length >= 6;
  // `--sort-key created_at` is not secret; a key with a digit is.
  if (!last || !isSecretKey(name)) return text.length >= (last ? 4 : 8) && /\d/.test(text);
  return true;
}

/**
 * Tells whether a text of a server is a credential because of the key that it stands under, as in
 * `{"client_secret": "x1y2"}`. A sentence or a word about the field is not: `{"password": "required"}`.
 */
export const isCredentialOf = (key: string, text: string): boolean =>
  isSecretKey(key) && !/\s/.test(text) && !isPlainWord(text) && isNamedSecret(text, key);

/** Tells whether a value kept in a file or sent in a header is a secret: not a word, a number or a path. */
const isKept = (text: string): boolean =>
  text.length >= 4 &&
  !isOrdinary(text) &&
  !isAddress(text) &&
  !isPath(text) &&
  !(isWord(text) && text.length < 12) &&
  !/^\d{1,7}$/.test(text) &&
  !SCHEME.test(text);

/** Returns credentials after a scheme, assigned values, parts of URLs, and text that looks like a credential. */
function partsOf(text: string, name: string, depth: number): string[] {
  const credentials = SCHEME.exec(text)?.[1];
  if (credentials !== undefined) return [credentials, ...basicParts(credentials)].filter(isLongEnough);
  const parts = urlParts(text);
  const option = SHORT_OPTION.exec(text)?.[1];
  if (option !== undefined) parts.push(option);
  const password = /^(?:u|user|login|credentials?)$/i.test(name) ? USER_AND_PASSWORD.exec(text)?.[1] : undefined;
  if (password !== undefined && !isAddress(text)) parts.push(password);
  for (const [from, to] of credentialSpans(text)) {
    const part = text.slice(from, to).replace(/^(["'])(.*)\1$/s, '$2');
    const colon = text.slice(Math.max(0, from - 3), from) === '://' ? part.indexOf(':') + 1 : 0;
    parts.push(...both(part.slice(colon)).filter(isLongEnough));
  }
  const [, key, value] = ASSIGNMENT.exec(text) ?? [];
  if (key === undefined || value === undefined || value.startsWith('//') || depth >= LIMITS.secrets.nesting)
    return parts;
  const own = value.trim();
  if (looksRandom(own) || isNamedSecret(own, key)) parts.push(own);
  return [...parts, ...partsOf(value, key, depth + 1)];
}

/** Returns user and password of `Basic` credentials. */
function basicParts(credentials: string): string[] {
  const plain = Buffer.from(credentials, 'base64').toString('utf8');
  const colon = plain.indexOf(':');
  // Any text decodes as base64; if the result is not text, it was something else.
  return colon === -1 || /[\u0000-\u001f\ufffd]/.test(plain) ? [] : [plain, plain.slice(colon + 1)];
}

/** Returns user, password, secret query values and random path segments of a URL. */
function urlParts(text: string): string[] {
  if (!text.includes('://') || !URL.canParse(text)) return [];
  const { username, password, search, pathname, hash } = new URL(text);
  const parts = [...both(password)];
  if (looksRandom(username) || (username !== '' && password === '')) parts.push(...both(username));
  const query = search.length + hash.length > 1 ? `${search.slice(1)}&${hash.slice(1)}` : '';
  for (const [key, value] of query === '' ? [] : new URLSearchParams(query))
    if (isSecretName(key) || key === 'code' || looksRandom(value)) parts.push(...written(text, value));
  for (const segment of pathname.split('/')) if (isSecretSegment(segment)) parts.push(...both(segment));
  return parts.filter(isLongEnough);
}

/** A path segment that is not a word: `/api/s3cr3t-4711-abcd/mcp`. Versions, dates and model names are shorter. */
const isSecretSegment = (segment: string): boolean =>
  looksRandom(segment) || (/^[\w+=.~%-]{16,}$/.test(segment) && /\d/.test(segment) && /[A-Za-z]/.test(segment));

/** Returns a query value decoded, and also as written if that differs. */
function written(text: string, value: string): string[] {
  const encoded = encodeURIComponent(value);
  return encoded !== value && text.includes(encoded) ? [value, encoded] : [value];
}

/** Returns a part of a URL as written and decoded. */
function both(part: string): string[] {
  try {
    return [part, decodeURIComponent(part)];
  } catch {
    // A lone percent sign is literal.
    return [part];
  }
}

/** `password` as a password is ignored: masking it would spoil ordinary sentences and protect nothing. */
const isLongEnough = (part: string): boolean =>
  part.length >= MIN_PART && !isOrdinary(part) && !(isWord(part) && isSecretKey(part));

/** Shortest password in a URL that is masked. */
const MIN_PART = 4;
