/**
 * Tells which parts of a configured value are secret: a value in, under the name it is given, and its secret parts out.
 * A value is secret because of its name, because of its place (a password in an address), or because it looks random.
 * Ordinary words are none, wherever they come from: `LOG_LEVEL=info` must not blot out `get_info`.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { credentialSpans } from './credential-patterns.ts';
import { endsWithSecretNoun, isSecretKey, isSecretName } from './secret-names.ts';

/** Whether a text looks like a generated key: no words, no date, no version, no name of a region or a model. */
export function looksRandom(text: string): boolean {
  if (text.length < 12 || text.length > LIMITS.text.raw || /\s|:\/\//.test(text)) return false;
  if (UUID.test(text) || HEX.test(text)) return true;
  const runs = text.split(/[^A-Za-z0-9]+/).filter((run) => run !== '');
  const isPath = /^(?:[.~]{0,2}|[A-Za-z]:)[\\/]/.test(text);
  if (runs.some((run) => run.length >= 16 && digitsIn(run) >= 2 && changesIn(run) >= 2)) return true;
  const all = runs.join('');
  return !isPath && all.length >= 10 && digitsIn(all) > 0 && changesIn(all) >= 0.3 * (all.length - 1);
}

/** The secret parts of a value. `given` says that somebody keeps it out of the configuration: a file, a header. */
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
/** `-pPASSWORD` as mysql and sshpass take it. `-p8080:80` is a port, `-prune` an option. */
const SHORT_OPTION = /^-p(?![\d:.,/-]+$)(?![A-Za-z]+$)(\S{4,})$/;
const USER_AND_PASSWORD = /^[^\s:@/]{1,100}:([^\s/]{4,})$/;
// What switches are set to, also those whose names speak of secrets: `AUTH=none`, `TOKEN=required`.
const ORDINARY = new Set(
  'none null true false default enabled disabled required optional always never bearer basic oauth oauth2 token password passwd secret apikey changeme header cookie session string number object public private production development staging example keychain keyring environment anonymous undefined unknown prompt manual automatic'.split(
    ' ',
  ),
);

const digitsIn = (text: string): number => text.replace(/\D+/g, '').length;

/** How often a text changes between small letters, capitals and digits: random ones do so all the time. */
const changesIn = (text: string): number => (text.match(/[a-z]+|[A-Z]+|\d+/g)?.length ?? 1) - 1;

const isAddress = (text: string): boolean => /^[\w+.-]{1,30}:\/\//.test(text);
const isPath = (text: string): boolean => /^(?:~|\.{0,2})[\\/]|^[A-Za-z]:[\\/]/.test(text) && !looksRandom(text);
const isWord = (text: string): boolean => /^[A-Za-z]+$/.test(text);

/** Whether a value under a name that says it is secret is one. A short plain word is not, nor is a number or an address. */
export function isNamedSecret(text: string, name: string): boolean {
  if (!isSecretName(name) || text.length < 4 || isAddress(text) || isPath(text)) return false;
  if (SCHEME.test(text)) return false;
  const last = endsWithSecretNoun(name);
  if (ORDINARY.has(text.toLowerCase())) return false;
  if (isWord(text)) return text.length >= 12 || (last && text.length >= 6);
  if (/^\d+$/.test(text)) return last && text.length >= 6;
  // `--sort-key created_at` is none; a key with a digit in it is.
  if (!last || !isSecretKey(name)) return text.length >= (last ? 4 : 8) && /\d/.test(text);
  return true;
}

/** What somebody keeps in a file of its own or sends in a header: a secret, unless it is a word, a number or a place. */
const isKept = (text: string): boolean =>
  text.length >= 4 &&
  !ORDINARY.has(text.toLowerCase()) &&
  !isAddress(text) &&
  !isPath(text) &&
  !(isWord(text) && text.length < 12) &&
  !/^\d{1,7}$/.test(text) &&
  !SCHEME.test(text);

/** Credentials behind a scheme, assigned values, parts of addresses, and what reads like a credential. */
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

/** User and password in what `Basic` sends. */
function basicParts(credentials: string): string[] {
  const plain = Buffer.from(credentials, 'base64').toString('utf8');
  const colon = plain.indexOf(':');
  // Anything can be read as base64; what is not text in the end was something else.
  return colon === -1 || /[\u0000-\u001f\ufffd]/.test(plain) ? [] : [plain, plain.slice(colon + 1)];
}

/** User, password, telling query values and random path segments of an address. */
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

/** A segment of a path that is no word: `/api/s3cr3t-4711-abcd/mcp`. Versions, dates and names of models are shorter. */
const isSecretSegment = (segment: string): boolean =>
  looksRandom(segment) || (/^[\w+=.~%-]{16,}$/.test(segment) && /\d/.test(segment) && /[A-Za-z]/.test(segment));

/** A query value as it is meant, and as it is written where that is another way. */
function written(text: string, value: string): string[] {
  const encoded = encodeURIComponent(value);
  return encoded !== value && text.includes(encoded) ? [value, encoded] : [value];
}

/** A part of an address as it is written and as it is meant. */
function both(part: string): string[] {
  try {
    return [part, decodeURIComponent(part)];
  } catch {
    // A lone percent sign means itself.
    return [part];
  }
}

/** `password` for a password is left alone: masking it would spoil every other sentence and hide nothing. */
const isLongEnough = (part: string): boolean =>
  part.length >= MIN_PART && !ORDINARY.has(part.toLowerCase()) && !(isWord(part) && isSecretKey(part));

/** Shortest password in an address that is hidden. */
const MIN_PART = 4;
