/**
 * Encodes and decodes a segment. Decoding makes views, not copies; bytes that do not fit give undefined, never an error.
 * Layout: 32-bit words (magic, version, settings, checksum, section lengths), then the sections, each padded to 4 bytes.
 * @module
 */
import type { Segment } from './segment.ts';
import { CODE_BITS, TEXTS } from './segment.ts';
import type { SearchSettings } from './settings.ts';

/** Also tells byte orders apart: another byte order reads another number. */
const MAGIC = 0x41_47_44_31;
/** Rises whenever the format, the tokenizer or a default changes. */
const VERSION = 7;
const SECTIONS = 14;
const HEADER_WORDS = 5 + SECTIONS;
const CHECKSUM_WORD = 3;

/** Encodes a segment, with a mark of the settings it was built with. */
export function encodeSnapshot(segment: Segment, settings: SearchSettings): Uint8Array {
  const parts = snapshotParts(segment, settings);
  const bytes = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.byteLength;
  }
  return bytes;
}

/** The same bytes in parts, most of them the segment's own, for a writer that has no room for a second copy. */
export function snapshotParts(segment: Segment, settings: SearchSettings): readonly Uint8Array[] {
  const sections: readonly (Uint32Array | Float32Array | Uint16Array | Uint8Array | Int8Array)[] = [
    segment.dictionary.offsets,
    segment.postingOffsets,
    segment.postingDocuments,
    segment.serverOffsets,
    segment.documentServers,
    segment.textOffsets,
    segment.dictionary.units,
    segment.postingImpacts,
    segment.flags,
    new TextEncoder().encode(JSON.stringify(segment.servers)),
    segment.text,
    segment.meaningScales,
    segment.meanings,
    segment.codes,
  ];
  const size = HEADER_WORDS * 4 + sections.reduce((sum, { byteLength }) => sum + pad(byteLength), 0);
  const header = new Uint32Array(HEADER_WORDS);
  header.set([MAGIC, VERSION, settingsMark(settings), 0, size, ...sections.map(({ byteLength }) => byteLength)]);
  const parts = [new Uint8Array(header.buffer), ...sections.flatMap(inWords)];
  header[CHECKSUM_WORD] = checksum(parts.map(wordsOf));
  return parts;
}

/** A section as whole words: the last one is padded. */
function inWords({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array[] {
  const whole = byteLength & ~3;
  const first = new Uint8Array(buffer, byteOffset, whole);
  if (whole === byteLength) return [first];
  const last = new Uint8Array(4);
  last.set(new Uint8Array(buffer, byteOffset + whole, byteLength - whole));
  return [first, last];
}

const wordsOf = (bytes: Uint8Array): Uint32Array => {
  const { buffer, byteOffset, byteLength } = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
  return new Uint32Array(buffer, byteOffset, byteLength / 4);
};

/** Decodes a segment. The bytes stay in use and must not change. */
export function decodeSnapshot(bytes: Uint8Array, settings: SearchSettings): Segment | undefined {
  if (bytes.byteLength % 4 !== 0 || bytes.byteLength < HEADER_WORDS * 4) return undefined;
  // Not `slice`: a Buffer would give a view of the same memory.
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
  const words = new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 4);
  const fits = words[0] === MAGIC && words[1] === VERSION && words[2] === settingsMark(settings);
  if (!fits || words[4] !== aligned.byteLength || words[CHECKSUM_WORD] !== checksum([words])) return undefined;
  const sections = readSections(aligned, words.subarray(5, HEADER_WORDS));
  return sections && toSegment(sections);
}

function readSections(bytes: Uint8Array, lengths: Uint32Array): Uint8Array[] | undefined {
  const sections: Uint8Array[] = [];
  let at = HEADER_WORDS * 4;
  for (const length of lengths) {
    if (at + length > bytes.byteLength) return undefined;
    sections.push(bytes.subarray(at, at + length));
    at += pad(length);
  }
  return sections;
}

function toSegment(sections: readonly Uint8Array[]): Segment | undefined {
  const [terms, postingOffsets, documents, serverOffsets, documentServers, textOffsets] = sections
    .slice(0, 6)
    .map(words);
  const [units, impacts] = sections.slice(6, 8).map(halves);
  const [flags, names, text, scales, numbers, codes] = sections.slice(8);
  const servers = readServers(names as Uint8Array);
  if (servers === undefined) return undefined;
  const meanings = signed(numbers as Uint8Array);
  const segment = {
    dictionary: { units, offsets: terms },
    postingOffsets,
    postingDocuments: documents,
    postingImpacts: impacts,
    servers,
    serverOffsets,
    documentServers,
    flags,
    textOffsets,
    text,
    meanings,
    meaningScales: floats(scales as Uint8Array),
    codes: words(codes as Uint8Array),
  } as Segment;
  return isSound(segment) ? segment : undefined;
}

const words = (section: Uint8Array): Uint32Array =>
  new Uint32Array(section.buffer, section.byteOffset, section.byteLength >>> 2);

const floats = (section: Uint8Array): Float32Array =>
  new Float32Array(section.buffer, section.byteOffset, section.byteLength >>> 2);

const signed = (section: Uint8Array): Int8Array =>
  new Int8Array(section.buffer, section.byteOffset, section.byteLength);

const halves = (section: Uint8Array): Uint16Array =>
  new Uint16Array(section.buffer, section.byteOffset, section.byteLength >>> 1);

function readServers(bytes: Uint8Array): string[] | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
    return Array.isArray(value) && value.every((name) => typeof name === 'string') ? value : undefined;
  } catch {
    // Not JSON: the bytes are not ours.
    return undefined;
  }
}

/** Tells whether every offset stays inside its array, so that reading is safe. */
function isSound(segment: Segment): boolean {
  const { dictionary, postingOffsets, postingDocuments, postingImpacts, servers, serverOffsets } = segment;
  const { documentServers, flags, textOffsets, text, meanings, meaningScales, codes } = segment;
  const count = documentServers.length;
  return (
    postingOffsets.length === dictionary.offsets.length &&
    postingDocuments.length === postingImpacts.length &&
    serverOffsets.length === servers.length + 1 &&
    flags.length === count &&
    meaningScales.length === count &&
    meanings.length === codes.length * CODE_BITS &&
    (count === 0 ? meanings.length === 0 : meanings.length % count === 0) &&
    textOffsets.length === count * TEXTS + 1 &&
    ascends(dictionary.offsets, dictionary.units.length) &&
    ascends(postingOffsets, postingDocuments.length) &&
    ascends(serverOffsets, count) &&
    ascends(textOffsets, text.length) &&
    staysBelow(postingDocuments, count) &&
    staysBelow(documentServers, servers.length)
  );
}

function ascends(offsets: Uint32Array, end: number): boolean {
  for (let index = 1; index < offsets.length; index++) {
    if ((offsets[index] as number) < (offsets[index - 1] as number)) return false;
  }
  return offsets[0] === 0 && offsets[offsets.length - 1] === end;
}

function staysBelow(values: Uint32Array, limit: number): boolean {
  for (let index = 0; index < values.length; index++) if ((values[index] as number) >= limit) return false;
  return true;
}

const pad = (length: number): number => (length + 3) & ~3;

/** FNV-1a over words: finds damage, not intent. The checksum's own place counts as zero. */
function checksum(parts: readonly Uint32Array[]): number {
  let hash = 0x811c_9dc5;
  for (const [part, words] of parts.entries()) {
    const own = part === 0 ? CHECKSUM_WORD : -1;
    for (let index = 0; index < words.length; index++) {
      const word = index === own ? 0 : (words[index] as number);
      hash = Math.imul(hash ^ word, 0x0100_0193);
      hash ^= hash >>> 15;
    }
  }
  return hash >>> 0;
}

function settingsMark(settings: SearchSettings): number {
  const { fields, k1, model, ownPhrases, parts } = settings;
  const phrases = ownPhrases && [...ownPhrases];
  const bytes = new TextEncoder().encode(JSON.stringify([fields, k1, model?.id, phrases, parts]));
  return checksum([Uint32Array.from(bytes)]);
}
