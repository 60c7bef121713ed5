/**
 * Known secrets in, a function out that takes them away from any text: raw, JSON-escaped, URL-encoded, hex, and base64 at
 * all three alignments, standard and URL-safe. The second line of defence; the first is not to hold secrets at all.
 * @module
 */

/** Stands where a secret stood. */
export const REDACTED = '***';

/** Shorter secrets are left alone: hiding every `on` or `abc` would make logs useless and hide nothing. */
export const MIN_SECRET_LENGTH = 4;

const PREFIX = 4;
const MAX_ROUNDS = 4;

/** A redactor for these secrets. It never throws and takes one pass over the text, however many secrets there are. */
export function createRedactor(secrets: Iterable<string>): (text: string) => string {
  const needles = new Set<string>();
  for (const secret of secrets) {
    for (const form of formsOf(secret)) if (form.length >= PREFIX) needles.add(form);
  }
  if (needles.size === 0) return (text) => text;
  // Needles by a hash of their first four characters; the bitmap answers "none" for most positions. Secrets often share
  // a prefix (`ghp_`), so within a bucket one look-up per length finds a needle, not one comparison per needle.
  const buckets = new Map<number, { readonly needles: Set<string>; readonly lengths: Set<number> }>();
  const bitmap = new Uint8Array(65_536);
  for (const needle of [...needles].sort((a, b) => b.length - a.length)) {
    const hash = hashAt(needle, 0);
    bitmap[hash & 0xffff] = 1;
    const bucket = buckets.get(hash) ?? { needles: new Set(), lengths: new Set() };
    bucket.needles.add(needle);
    bucket.lengths.add(needle.length);
    buckets.set(hash, bucket);
  }
  const longestAt = (text: string, at: number, hash: number): number => {
    const bucket = buckets.get(hash);
    for (const length of bucket?.lengths ?? []) {
      if (bucket?.needles.has(text.slice(at, at + length))) return length;
    }
    return 0;
  };

  const pass = (text: string): string => {
    let out = '';
    let hiddenUntil = 0;
    for (let at = 0; at + PREFIX <= text.length; at++) {
      const hash = hashAt(text, at);
      if (bitmap[hash & 0xffff] === 0) continue;
      const length = longestAt(text, at, hash);
      if (length === 0) continue;
      // Secrets that overlap are hidden as one stretch, so that no end of the second one stays readable.
      if (at >= hiddenUntil) out += text.slice(hiddenUntil, at) + REDACTED;
      hiddenUntil = Math.max(hiddenUntil, at + length);
    }
    return hiddenUntil === 0 ? text : out + text.slice(hiddenUntil);
  };

  return (text) => {
    let before = text;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const after = pass(before);
      if (after === before) return after;
      before = after;
    }
    // A secret made of our own marker could grow back for ever.
    return pass(before) === before ? before : REDACTED;
  };
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
  if (secret.length < MIN_SECRET_LENGTH) return;
  const bytes = Buffer.from(secret, 'utf8');
  // encodeURIComponent throws on half a surrogate pair; the bytes hold what would really be sent.
  const wellFormed = bytes.toString('utf8');
  yield secret;
  yield wellFormed;
  yield JSON.stringify(secret).slice(1, -1);
  for (const encode of [encodeURIComponent, encodeURI, encodeStrictly, encodeForm]) {
    const encoded = encode(wellFormed);
    yield encoded;
    yield encoded.replace(/%[0-9A-F]{2}/g, (triplet) => triplet.toLowerCase());
  }
  const hex = bytes.toString('hex');
  yield hex;
  yield hex.toUpperCase();
  for (const offset of [0, 1, 2]) {
    const core = base64Core(bytes, offset);
    yield core;
    yield core.replaceAll('+', '-').replaceAll('/', '_');
  }
  // Keys in PEM form are often printed line by line.
  for (const line of wellFormed.split('\n')) {
    const trimmed = line.trim();
    if (trimmed.length >= 16 && !trimmed.startsWith('-----')) yield trimmed;
  }
}

const encodeForm = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);
const encodeStrictly = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

/** The characters that depend on the secret alone when `offset` other bytes stand before it in the encoded stream. */
function base64Core(bytes: Buffer, offset: number): string {
  const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
  const text = padded.toString('base64');
  return text.slice(offset === 0 ? 0 : offset + 1, Math.floor((padded.length * 8) / 6));
}
