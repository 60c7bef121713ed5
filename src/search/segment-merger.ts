/**
 * Merges two segments and drops the servers that are gone. Copies integers and bytes; nothing is tokenized again.
 * @module
 */
import { type Dictionary, termCount } from './dictionary.ts';
import { documentCount, type Segment, signCodes, TEXTS } from './segment.ts';
import { compareText } from './segment-builder.ts';

/** A segment and, for each of its servers, whether it still counts (1) or was replaced or removed (0). */
export interface LiveSegment {
  readonly segment: Segment;
  readonly alive: Uint8Array;
}

const GONE = 0xffff_ffff;

/** Merges two segments; the order of the arguments does not matter, as no server may be alive in both. */
export function mergeSegments(left: LiveSegment, right: LiveSegment): Segment {
  const sources = [left, right].map(({ segment, alive }) => ({
    segment,
    alive,
    /** The new number of each document. */
    map: new Uint32Array(documentCount(segment)).fill(GONE),
    dimensions: segment.meanings.length / Math.max(1, documentCount(segment)),
  })) as [Source, Source];
  const slots = sources
    .flatMap((source) => {
      const { servers, serverOffsets: of } = source.segment;
      return servers.map((name, at) => ({ name, at, source, start: of[at] as number, end: of[at + 1] as number }));
    })
    .filter(({ source, at }) => source.alive[at] === 1)
    .sort((a, b) => compareText(a.name, b.name));

  const total = slots.reduce((sum, { start, end }) => sum + end - start, 0);
  const dimensions = Math.max(...sources.map((source) => source.dimensions));
  const serverOffsets = new Uint32Array(slots.length + 1);
  const documentServers = new Uint32Array(total);
  const flags = new Uint8Array(total);
  const meanings = new Int8Array(total * dimensions);
  const meaningScales = new Float32Array(total);
  const textOffsets = new Uint32Array(total * TEXTS + 1);
  const text = new Uint8Array(left.segment.text.length + right.segment.text.length);
  // The documents of a server stay together and in order, so all of them are copied at once.
  for (const [server, { source, start, end }] of slots.entries()) {
    const from = source.segment;
    const to = serverOffsets[server] as number;
    serverOffsets[server + 1] = to + end - start;
    documentServers.fill(server, to, to + end - start);
    for (let document = start; document < end; document++) source.map[document] = to + document - start;
    flags.set(from.flags.subarray(start, end), to);
    meaningScales.set(from.meaningScales.subarray(start, end), to);
    meanings.set(from.meanings.subarray(start * source.dimensions, end * source.dimensions), to * dimensions);
    const first = from.textOffsets[start * TEXTS] as number;
    const at = textOffsets[to * TEXTS] as number;
    text.set(from.text.subarray(first, from.textOffsets[end * TEXTS]), at);
    for (let index = 1; index <= (end - start) * TEXTS; index++) {
      textOffsets[to * TEXTS + index] = at + (from.textOffsets[start * TEXTS + index] as number) - first;
    }
  }
  return {
    ...mergePostings(...sources),
    servers: slots.map(({ name }) => name),
    serverOffsets,
    documentServers,
    flags,
    meanings,
    meaningScales,
    codes: signCodes(meanings),
    textOffsets,
    text: text.slice(0, textOffsets[total * TEXTS]),
  };
}

interface Source extends LiveSegment {
  readonly map: Uint32Array;
  readonly dimensions: number;
}

function mergePostings(
  { segment: left, map: leftMap }: Source,
  { segment: right, map: rightMap }: Source,
): Pick<Segment, 'dictionary' | 'postingOffsets' | 'postingDocuments' | 'postingImpacts'> {
  const room = left.postingDocuments.length + right.postingDocuments.length;
  const documents = new Uint32Array(room);
  const impacts = new Uint16Array(room);
  const units = new Uint16Array(left.dictionary.units.length + right.dictionary.units.length);
  const terms = termCount(left.dictionary) + termCount(right.dictionary);
  const termOffsets = new Uint32Array(terms + 1);
  const postingOffsets = new Uint32Array(terms + 1);
  let count = 0;
  let at = 0;

  /** Copies live postings of one term from both sides, in order of their new documents. */
  const copy = (l: number, lEnd: number, r: number, rEnd: number): void => {
    for (;;) {
      while (l < lEnd && leftMap[left.postingDocuments[l] as number] === GONE) l++;
      while (r < rEnd && rightMap[right.postingDocuments[r] as number] === GONE) r++;
      if (l >= lEnd && r >= rEnd) return;
      const fromLeft = l < lEnd ? (leftMap[left.postingDocuments[l] as number] as number) : GONE;
      const fromRight = r < rEnd ? (rightMap[right.postingDocuments[r] as number] as number) : GONE;
      if (fromLeft < fromRight) {
        documents[at] = fromLeft;
        impacts[at++] = left.postingImpacts[l++] as number;
      } else {
        documents[at] = fromRight;
        impacts[at++] = right.postingImpacts[r++] as number;
      }
    }
  };

  let l = 0;
  let r = 0;
  while (l < termCount(left.dictionary) || r < termCount(right.dictionary)) {
    const order = compareTerms(left.dictionary, l, right.dictionary, r);
    const [source, ordinal] = order <= 0 ? [left, l] : [right, r];
    copy(
      order <= 0 ? (left.postingOffsets[l] as number) : 0,
      order <= 0 ? (left.postingOffsets[l + 1] as number) : 0,
      order >= 0 ? (right.postingOffsets[r] as number) : 0,
      order >= 0 ? (right.postingOffsets[r + 1] as number) : 0,
    );
    if (order <= 0) l++;
    if (order >= 0) r++;
    if (at === postingOffsets[count]) continue;
    const { units: from, offsets } = source.dictionary;
    const start = termOffsets[count] as number;
    const end = offsets[ordinal + 1] as number;
    let unit = start;
    for (let index = offsets[ordinal] as number; index < end; index++) units[unit++] = from[index] as number;
    count++;
    termOffsets[count] = unit;
    postingOffsets[count] = at;
  }
  return {
    dictionary: { units: units.slice(0, termOffsets[count]), offsets: termOffsets.slice(0, count + 1) },
    postingOffsets: postingOffsets.slice(0, count + 1),
    postingDocuments: documents.slice(0, at),
    postingImpacts: impacts.slice(0, at),
  };
}

/** Compares a term of each side; a side that is used up counts as the greater. */
function compareTerms(left: Dictionary, l: number, right: Dictionary, r: number): number {
  if (l >= termCount(left)) return 1;
  if (r >= termCount(right)) return -1;
  const a = left.offsets[l] as number;
  const b = right.offsets[r] as number;
  const aLength = (left.offsets[l + 1] as number) - a;
  const bLength = (right.offsets[r + 1] as number) - b;
  const shared = Math.min(aLength, bLength);
  for (let index = 0; index < shared; index++) {
    const difference = (left.units[a + index] as number) - (right.units[b + index] as number);
    if (difference !== 0) return difference;
  }
  return aLength - bLength;
}
