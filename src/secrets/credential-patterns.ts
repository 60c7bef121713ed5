/**
 * Finds text that looks like a credential. Holds the only table of such patterns. Used together with the known secrets
 * for servers' error texts, and alone if no configuration is known: in a crash, or with a custom provider.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { maskSpans, type Span } from './mask-spans.ts';
import { isSecretName, SECRET_ASSIGNMENT } from './secret-names.ts';
import { endBehind, seenSpans, seenValueSpans } from './seen-spans.ts';

/**
 * One pattern, optionally with a check of the value and the four characters after it. The first group stays, the rest
 * of the match is masked. Each pattern runs in linear time: every repetition except a final one is bounded, and a test
 * runs all of them over hostile text.
 */
type Pattern = RegExp | readonly [RegExp, (value: string, after: string) => boolean];

const NOUN =
  '(?:pass(?:word|wd|phrase|code)|pwd|secret|token|api[_-]?key|(?:access|private|secret|auth|account)[_-]?key)';
const VALUE = '[^\\s"\'&,;<>]+';
// Words that messages use about a field: `password: required` is not a password.
const PLAIN_WORDS =
  'required|missing|invalid|expected|unexpected|undefined|null|none|nil|true|false|string|number|boolean|object|array|empty|unset|unknown|expired|wrong|incorrect|must|should|cannot|not|is|the|a|an|too|value|field|please|no';

/** Tells whether a text is such a word alone. */
export const isPlainWord = (text: string): boolean => PLAIN_WORD.test(text);
const PLAIN_WORD = new RegExp(`^(?:${PLAIN_WORDS})$`, 'i');

const hasDigit = (value: string): boolean => /[\d=]/.test(value);
const isLastOrMixed = (value: string, after: string): boolean =>
  /\d/.test(value) || (value.length >= 4 && /^(?:[,;)}\]]|[ \t]{0,3}(?:[\r\n]|$))/.test(after));

/** Patterns that match only credentials, so they are safe in texts whose ids must stay readable. */
const CREDENTIALS: readonly Pattern[] = [
  // user:password@ of a URL. A password may contain an @ itself.
  /(:\/\/)[^\s/?#@"'<>]{1,500}(?:@[^\s/?#@"'<>]{1,500}){0,2}(?=@)/g,
  // password=x, client_secret='x y', ?access_token=x
  new RegExp(`(${NOUN}\\w{0,20}\\s{0,2}=\\s{0,2})(?:"[^"\\n]{1,2000}"|'[^'\\n]{1,2000}'|${VALUE})`, 'gi'),
  // "client_secret": "x", also inside nested JSON text
  new RegExp(`(${NOUN}[\\w-]{0,20}\\\\{0,3}["']\\s{0,3}:\\s{0,3}\\\\{0,3}["'])[^"'\\\\\\n]+`, 'gi'),
  /(["']pass\\{0,3}["']\s{0,3}:\s{0,3}\\{0,3}["'])[^"'\\\n]+/gi,
  // password: 'x y'
  new RegExp(`(${NOUN}:\\s{0,3})(?!["'](?:${PLAIN_WORDS})\\b)(?:"[^"\\n]{1,2000}"|'[^'\\n]{1,2000}')`, 'gi'),
  // --db-password x1, as in a command line that failed
  [
    new RegExp(
      `((?<![\\w-])--?(?:\\w{1,20}-){0,3}(?:${NOUN}|pass)\\s{1,3})(?:"[^"\\n]{1,2000}"|'[^'\\n]{1,2000}'|${VALUE})`,
      'gi',
    ),
    hasDigit,
  ],
  // api_key: x. In prose, the value must contain a digit or end its line.
  [new RegExp(`(${NOUN}:\\s{0,3})(?!(?:${PLAIN_WORDS})\\b)[^\\s"',;)}\\]]{3,}`, 'gi'), isLastOrMixed],
  // Authorization: Basic x, Cookie: x
  /(\b(?:proxy-)?authorization["']?\s{0,3}[:=]\s{0,3}["']?(?:(?:bearer|basic|digest|token|apikey|negotiate)\s{1,3})?)(?!(?:header|bearer|basic|required|missing|failed|is|was|must)\b)[^\s"',;]{4,}/gi,
  /(\b(?:set-)?cookie["']?:\s{0,3}["']?[\w.-]{1,100}=)[^\s"',;]{4,}/gi,
  [/(\b(?:bearer|basic)\s{1,3})[^\s"',;]{8,}/gi, hasDigit],
  // Keys with a known prefix.
  /\banygpt_[0-9a-f]{8}_[\w-]{43}/g,
  /\b(?:gh[a-z]_|github_pat_|glpat-|xox[a-z]-|xapp-|npm_|hf_|shp(?:at|ca|pa|ss)_|dop_v1_|lin_api_|ntn_|figd_)[\w-]{12,}/g,
  [/\b(?:sk|pk|rk|ak)[-_][\w-]{16,}/g, hasDigit],
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[\w-]{30,60}|\bya29\.[\w-]{20,}/g,
  /\beyJ[\w-]{8,4000}\.[\w-]{4,4000}(?:\.[\w-]*)?/g,
];

/** Patterns that may match other text: used only if readability does not matter, as in a crash. */
const GUESSES: readonly Pattern[] = [
  /(\b(?:bearer|basic|token)\s{1,3})[^\s"',;]{4,}/gi,
  new RegExp(`(${SECRET_ASSIGNMENT})[^\\s"'&,;]+`, 'gi'),
  /\b(?:sk|pk|rk|gh[a-z]|github_pat|glpat|xox[a-z]|npm|hf|AKIA|eyJ)[-_.]?[\w.-]{12,}/g,
];
/** Runs too long for a word; masked if they contain letters and digits. */
const LONG_RUN = /[\w+=-]{32,}/g;
/** The name of a variable, which the user has to read to set it. */
const VARIABLE = /^[A-Z][A-Z0-9]{0,15}(?:_[A-Z0-9]{1,15}){2,}$/;

const KEY_EDGE = /-----(BEGIN|END) [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;

const KEY_LINE = /^[ \t"']{0,40}[A-Za-z0-9+/=]{1,128}[ \t\r"']{0,4}$/;

/** Finds private keys: whole, without an end, or without a beginning, because a log may be cut anywhere. */
function keySpans(text: string): Span[] {
  const spans: Span[] = [];
  let begun = -1;
  let after = 0;
  for (const { 0: edge, 1: which, index } of text.matchAll(KEY_EDGE)) {
    if (which === 'BEGIN') {
      if (begun !== -1 && index - begun > LIMITS.secrets.key) spans.push([begun, begun + LIMITS.secrets.key]);
      if (begun === -1 || index - begun > LIMITS.secrets.key) begun = index;
      continue;
    }
    const end = index + edge.length;
    spans.push([begun !== -1 && end - begun <= LIMITS.secrets.key ? begun : bodyBefore(text, index, after), end]);
    begun = -1;
    after = end;
  }
  if (begun !== -1) spans.push([begun, Math.min(text.length, begun + LIMITS.secrets.key)]);
  return spans;
}

/** Returns the start of the key lines that end here. */
function bodyBefore(text: string, end: number, least: number): number {
  let start = end;
  const limit = Math.max(least, end - LIMITS.secrets.key);
  for (let lineEnd = end - 1; lineEnd > limit; ) {
    const from = Math.max(text.lastIndexOf('\n', lineEnd - 1) + 1, limit);
    if (!KEY_LINE.test(text.slice(from, lineEnd))) break;
    start = from;
    lineEnd = from - 1;
  }
  return start;
}

/** A mask of ours, a reference, `token=null`, `max_tokens=4096`: harmless, and useful to an agent. */
const isHarmless = (value: string, name: string): boolean =>
  value.length < 100 && (PLACEHOLDER.test(value) || (/token/i.test(name) && /^\d{1,7}$/.test(value)));
const PLACEHOLDER =
  /^["']?(?:none|null|nil|undefined|true|false|bearer|basic|digest|\$\{[^}]{0,80}\}?|\$\w{1,80}|\*{1,20}|x{3,20}|\.{3}|…)[^\w\s]?["']?$/i;

/** `${NAME:-default}` names a variable; its default is a word. */
const isDefault = (value: string, before: string): boolean =>
  /^-[A-Za-z]{0,20}\}?[^\w\s]?$/.test(value) && /\$\{\w{0,100}$/.test(before);

/** A quick check that every pattern requires; most texts of a configuration fail it. */
const MAY_HOLD_ONE =
  /[=:]|[\w-]{16}|PRIVATE KEY|eyJ|bearer|basic|token|-[\w-]*(?:pass|pwd|secret|key)|(?:sk|pk|rk|gh[a-z]|github_pat|glpat|xox[a-z]|npm|hf|AKIA)[-_.]?[\w.-]{12}/i;

/** Returns the spans of a text that look like credentials. */
export function credentialSpans(text: string, guess = false): Span[] {
  if (!MAY_HOLD_ONE.test(text)) return [];
  const spans = text.includes('PRIVATE KEY') ? keySpans(text) : [];
  if (guess)
    for (const { 0: run, index } of text.matchAll(LONG_RUN))
      if (/\d/.test(run) && /[A-Za-z]/.test(run) && !VARIABLE.test(run)) spans.push([index, index + run.length]);
  for (const pattern of guess ? [...CREDENTIALS, ...GUESSES] : CREDENTIALS) {
    const [find, check] = pattern instanceof RegExp ? [pattern] : pattern;
    for (const match of text.matchAll(find)) {
      const from = match.index + (match[1]?.length ?? 0);
      const to = match.index + match[0].length;
      const value = text.slice(from, to);
      if (to === from || isHarmless(value, match[1] ?? '')) continue;
      if (value.startsWith('-') && isDefault(value, text.slice(Math.max(0, match.index - 100), match.index))) continue;
      if (check === undefined || check(value, text.slice(to, to + 4))) spans.push([from, to]);
    }
  }
  return spans;
}

/**
 * Masks text that looks like a secret, and the values of variables with secret names. Cuts to 4,000 characters
 * afterwards.
 */
export function maskSecrets(
  text: string,
  env: Readonly<Record<string, string | undefined>> = {},
  maxChars = LIMITS.text.message,
): string {
  const near = upTo(text, maxChars);
  const values = Object.entries(env).flatMap(([name, value = '']) =>
    value.length < 6 || !isSecretName(name) || value.startsWith('/') ? [] : [value],
  );
  const spans = seenSpans(near, (seen) => credentialSpans(seen, true));
  if (values.length > 0) spans.push(...seenValueSpans(near, (seen) => spansOf(seen, values), false));
  return maskSpans(near, spans, maxChars);
}

function spansOf(text: string, values: readonly string[]): Span[] {
  const spans: Span[] = [];
  for (const value of values) {
    for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + 1)) spans.push([at, at + value.length]);
    const begun = begunAtEnd(text, value);
    if (begun > 0) spans.push([text.length - begun, text.length]);
  }
  return spans;
}

/** Masks only definite credentials, in texts about a failed call: ids stay readable. */
export const maskCredentials = (text: string, maxChars = Number.POSITIVE_INFINITY): string => {
  const near = upTo(text, maxChars);
  return maskSpans(
    near,
    seenSpans(near, (seen) => credentialSpans(seen)),
    maxChars,
  );
};

const upTo = (text: string, maxChars: number): string =>
  text.length > maxChars + LIMITS.secrets.reach ? text.slice(0, endBehind(text, maxChars, LIMITS.secrets.reach)) : text;

/** Returns how many characters at the end of a cut text are the beginning of a value. */
function begunAtEnd(text: string, value: string): number {
  for (let length = Math.min(value.length - 1, text.length); length >= 6; length--)
    if (text.endsWith(value.slice(0, length))) return length;
  return 0;
}
