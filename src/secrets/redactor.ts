/**
 * Redacts known secrets in any text: raw, escaped as in JSON, URLs and HTML, hex, and base64 at all three alignments,
 * standard and URL-safe, also with invisible characters inside. Secrets can be added at any time. This is the second
 * line of defence; the first is not to hold secrets at all.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { credentialSpans } from './credential-patterns.ts';
import { beyondSpans, MASK, maskSpans, type Span } from './mask-spans.ts';
import { looksRandom } from './secret-values.ts';
import { asSeen, endBehind, seenSpans, seenValueSpans } from './seen-spans.ts';

/** Replaces a secret. */
export const REDACTED = MASK;

export interface Redact {
  (text: string): string;
  /**
   * Redacts, then cuts. Use only this to shorten a text that may contain a secret: cutting first could leak half of
   * one.
   */
  cut(text: string, maxChars: number): string;
  /** Redacts as much of a stream as can be shown yet, up to `at`. Prepend `rest` to the next piece. */
  split(text: string, at: number): { readonly clean: string; readonly rest: string };
  /** How far past a cut to look, so that a secret is matched whole. */
  readonly reach: number;
}

/** Shorter secrets are ignored: masking every `on` or `abc` would make logs useless and protect nothing. */
const MIN_SECRET_LENGTH = 4;
/** So much of a secret at the end of a text is a secret that was cut. */
const MIN_BEGUN = 6;
const PREFIX = 4;
/** An escaped character takes up to so many. */
const ESCAPED = 6;

/** The secrets of one engine. A secret stays known while calls may still quote it. */
export class KnownSecrets {
  /** Masks known secrets only. For tool descriptions, which people must be able to read. */
  readonly redact: Redact = redactWith(
    (text) => this.#known(text),
    () => this.#reach,
  );
  /** Masks known secrets and text that looks like a credential. For errors, logs and other text of servers. */
  readonly redactWords: Redact = redactWith(
    (text) => [...this.#known(text), ...seenSpans(text, (seen) => credentialSpans(seen))],
    () => Math.max(this.#reach, LIMITS.secrets.reach),
  );
  #values = new Set<string>();
  readonly #passing = new Set<string>();
  // Needles by a hash of their first four characters; the bitmap rejects most positions. Secrets often share a prefix
  // (`ghp_`), so a bucket is searched with one look-up per length, not one comparison per needle.
  #buckets = new Map<number, Bucket>();
  #bitmap = new Uint8Array(65_536);
  #reach = 0;
  /** A secret contains white space, which may be written differently. */
  #hasBlanks = false;

  constructor(secrets: Iterable<string> = []) {
    this.learn(secrets);
  }

  /** Adds secrets. */
  learn(secrets: Iterable<string>): void {
    for (const secret of secrets) {
      if (secret.length < MIN_SECRET_LENGTH || this.#values.has(secret)) continue;
      if (this.#values.size >= LIMITS.secrets.known) this.#forgetOldest();
      this.#values.add(secret);
      this.#addForms(secret);
    }
  }

  /** Adds what only passes by, such as the tokens of callers. It is forgotten before any other secret. */
  learnPassing(secret: string): void {
    if (!this.#values.has(secret)) this.#passing.add(secret);
    this.learn([secret]);
  }

  #addForms(secret: string): void {
    // Only for random values: a sentence may end with the first letters of a password made of words.
    const begun = looksRandom(secret);
    this.#hasBlanks ||= secret.length <= LIMITS.secrets.encoded && /\s/.test(secret);
    for (const form of new Set(formsOf(secret))) if (form.length >= PREFIX) this.#add(form, begun);
    this.#reach = Math.max(this.#reach, Math.min(secret.length, LIMITS.secrets.encoded) * ESCAPED);
  }

  #forgetOldest(): void {
    const others = [...this.#values].filter((secret) => !this.#passing.has(secret));
    this.#values = new Set([...this.#passing, ...others].slice(LIMITS.secrets.known / 2));
    for (const secret of this.#passing) if (!this.#values.has(secret)) this.#passing.delete(secret);
    this.#buckets = new Map();
    this.#bitmap = new Uint8Array(65_536);
    for (const secret of this.#values) this.#addForms(secret);
  }

  #add(needle: string, begun: boolean): void {
    const hash = hashAt(needle, 0);
    this.#bitmap[hash & 0xffff] = 1;
    let bucket = this.#buckets.get(hash);
    if (bucket === undefined) {
      bucket = { needles: new Set(), lengths: [], begun: [], sorted: true };
      this.#buckets.set(hash, bucket);
    }
    bucket.needles.add(needle);
    if (begun) {
      bucket.begun.push(needle);
      bucket.sorted = false;
    }
    if (!bucket.lengths.includes(needle.length)) {
      bucket.lengths.push(needle.length);
      bucket.lengths.sort((a, b) => b - a);
    }
    this.#reach = Math.max(this.#reach, needle.length);
  }

  #known(text: string): Span[] {
    return this.#values.size === 0 ? [] : seenValueSpans(text, (seen) => this.#spans(seen), this.#hasBlanks);
  }

  #spans(text: string): Span[] {
    const spans: Span[] = [];
    const mayBeCut = text.length - this.#reach;
    for (let at = 0; at + PREFIX <= text.length; at++) {
      const hash = hashAt(text, at);
      if (this.#bitmap[hash & 0xffff] === 0) continue;
      const bucket = this.#buckets.get(hash);
      if (bucket === undefined) continue;
      const length = Math.max(longestAt(bucket, text, at), at > mayBeCut ? begunAt(bucket, text, at) : 0);
      if (length > 0) spans.push([at, at + length]);
    }
    return spans;
  }
}

interface Bucket {
  readonly needles: Set<string>;
  /** Longest first. */
  readonly lengths: number[];
  /** Needles whose beginning is masked at the end of a text; sorted on first use. */
  readonly begun: string[];
  sorted: boolean;
}

function longestAt({ needles, lengths }: Bucket, text: string, at: number): number {
  for (const length of lengths) if (needles.has(text.slice(at, at + length))) return length;
  return 0;
}

/** Returns the length of the rest of a text, if a secret starts with it: the text was cut there. */
function begunAt(bucket: Bucket, text: string, at: number): number {
  const rest = text.slice(at);
  if (rest.length < MIN_BEGUN) return 0;
  const { begun } = bucket;
  if (!bucket.sorted) begun.sort();
  bucket.sorted = true;
  let [low, high] = [0, begun.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((begun[middle] as string) < rest) low = middle + 1;
    else high = middle;
  }
  return begun[low]?.startsWith(rest) ? rest.length : 0;
}

/**
 * Returns a redactor for these secrets. It never throws, and passes over the text once, however many secrets there are.
 */
export const createRedactor = (secrets: Iterable<string>): Redact => new KnownSecrets(secrets).redact;

/** Makes a redactor of a plain function. Text is always redacted before it is cut. */
export const toRedact = (redact: (text: string) => string): Redact =>
  'cut' in redact
    ? (redact as Redact)
    : Object.assign((text: string) => redact(text), {
        cut: (text: string, maxChars: number) => redact(text).slice(0, maxChars),
        split: (text: string) => ({ clean: redact(text), rest: '' }),
        reach: 0,
      });

/** Masks text that looks like a credential. For use without known secrets. */
export const redactUnknown: Redact = new KnownSecrets().redactWords;

function redactWith(spansIn: (text: string) => Span[], reach: () => number): Redact {
  const redact = (text: string, maxChars = Number.POSITIVE_INFINITY): string => {
    const near = text.length > maxChars + reach() ? text.slice(0, endBehind(text, maxChars, reach())) : text;
    let before = maskSpans(near, spansIn(near), maxChars);
    if (before === near) return before;
    for (let round = 1; round < LIMITS.secrets.rounds; round++) {
      const after = maskSpans(before, spansIn(before));
      if (after === before) return after;
      before = after;
    }
    // A secret that contains our own mask could reappear forever.
    return maskSpans(before, spansIn(before)) === before ? before : MASK;
  };
  const split = (text: string, at: number) => {
    const spans = spansIn(text);
    // A span that reaches the end may continue: hold it back, unless it is too long for a secret.
    const open = spans.find(([from, to]) => to === text.length && from < at && text.length - from < LIMITS.secrets.key);
    const end = open ? open[0] : Math.min(text.length, beyondSpans(spans, at));
    return {
      clean: redact(
        maskSpans(
          text.slice(0, end),
          spans.filter(([from]) => from < end),
        ),
      ),
      rest: text.slice(end),
    };
  };
  return Object.defineProperty(
    Object.assign((text: string) => redact(text), { cut: redact, split, reach: 0 }),
    'reach',
    { get: reach },
  );
}

function hashAt(text: string, at: number): number {
  return (
    (Math.imul(text.charCodeAt(at), 0x9e3779b1) ^
      Math.imul(text.charCodeAt(at + 1), 0x85ebca6b) ^
      Math.imul(text.charCodeAt(at + 2), 0xc2b2ae35) ^
      Math.imul(text.charCodeAt(at + 3), 0x27d4eb2f)) >>>
    8
  );
}

function* formsOf(secret: string): Generator<string> {
  // PEM keys are often printed line by line.
  for (const line of secret.split('\n')) {
    const trimmed = line.trim();
    if (trimmed.length < 16 || trimmed.startsWith('-----')) continue;
    for (let at = 0; at < trimmed.length; at += LIMITS.secrets.encoded)
      yield trimmed.slice(at, at + LIMITS.secrets.encoded);
  }
  if (secret.length > LIMITS.secrets.encoded) return;
  const bytes = Buffer.from(secret, 'utf8');
  yield secret;
  // Half a surrogate pair is sent as a replacement character.
  yield bytes.toString('utf8');
  yield asSeen(secret);
  const hex = bytes.toString('hex');
  yield hex;
  yield hex.toUpperCase();
  for (const offset of [0, 1, 2]) {
    const core = base64Core(bytes, offset);
    yield core;
    yield core.replaceAll('+', '-').replaceAll('/', '_');
  }
}

/**
 * Returns the characters that depend on the secret alone when `offset` other bytes precede it in the encoded stream.
 */
function base64Core(bytes: Buffer, offset: number): string {
  const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
  const text = padded.toString('base64');
  return text.slice(offset === 0 ? 0 : offset + 1, Math.floor((padded.length * 8) / 6));
}
