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
  const sources = [left, right] as const;
  const slots = sources
    .flatMap(({ segment, alive }, source) =>
      segment.servers.map((name, index) => ({ name, index, source, alive: alive[index] === 1 })),
    )
    .filter((slot) => slot.alive)
    .sort((a, b) => compareText(a.name, b.name));

  const maps = sources.map(({ segment }) => new Uint32Array(documentCount(segment)).fill(GONE)) as [
    Uint32Array,
    Uint32Array,
  ];
  const serverOffsets = new Uint32Array(slots.length + 1);
  for (const [position, { source, index }] of slots.entries()) {
    const offsets = (sources[source] as LiveSegment).segment.serverOffsets;
    const start = offsets[index] as number;
    const end = offsets[index + 1] as number;
    let next = serverOffsets[position] as number;
    for (let document = start; document < end; document++) (maps[source] as Uint32Array)[document] = next++;
    serverOffsets[position + 1] = next;
  }
  const total = serverOffsets[slots.length] as number;
  const documentServers = new Uint32Array(total);
  for (let server = 0; server < slots.length; server++) {
    documentServers.fill(server, serverOffsets[server], serverOffsets[server + 1]);
  }
  const flags = new Uint8Array(total);
  for (const [source, map] of maps.entries()) {
    const from = (sources[source] as LiveSegment).segment.flags;
    for (let document = 0; document < map.length; document++) {
      const target = map[document] as number;
      if (target !== GONE) flags[target] = from[document] as number;
    }
  }
  return {
    ...mergePostings(left.segment, right.segment, maps),
    ...mergeTexts([left.segment, right.segment], maps, total),
    ...mergeMeanings([left.segment, right.segment], maps, total),
    servers: slots.map(({ name }) => name),
    serverOffsets,
    documentServers,
    flags,
  };
}

function mergePostings(
  left: Segment,
  right: Segment,
  [leftMap, rightMap]: readonly [Uint32Array, Uint32Array],
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

function mergeMeanings(
  segments: readonly Segment[],
  maps: readonly Uint32Array[],
  total: number,
): Pick<Segment, 'meanings' | 'meaningScales' | 'codes'> {
  const dimensions = Math.max(
    ...segments.map((segment) => segment.meanings.length / Math.max(1, documentCount(segment))),
  );
  const meanings = new Int8Array(total * dimensions);
  const meaningScales = new Float32Array(total);
  for (const [index, source] of segments.entries()) {
    if (source.meanings.length === 0) continue;
    for (const [document, target] of (maps[index] as Uint32Array).entries()) {
      if (target === GONE) continue;
      const start = document * dimensions;
      meanings.set(source.meanings.subarray(start, start + dimensions), target * dimensions);
      meaningScales[target] = source.meaningScales[document] as number;
    }
  }
  return { meanings, meaningScales, codes: signCodes(meanings) };
}

function mergeTexts(
  segments: readonly Segment[],
  maps: readonly Uint32Array[],
  total: number,
): Pick<Segment, 'text' | 'textOffsets'> {
  const textOffsets = new Uint32Array(total * TEXTS + 1);
  const forEachText = (visit: (source: Segment, from: number, to: number) => void): void => {
    for (const [index, source] of segments.entries()) {
      for (const [document, target] of (maps[index] as Uint32Array).entries()) {
        if (target === GONE) continue;
        for (let which = 0; which < TEXTS; which++) visit(source, document * TEXTS + which, target * TEXTS + which);
      }
    }
  };
  forEachText(({ textOffsets: offsets }, from, to) => {
    textOffsets[to + 1] = (offsets[from + 1] as number) - (offsets[from] as number);
  });
  for (let index = 1; index < textOffsets.length; index++) {
    textOffsets[index] = (textOffsets[index] as number) + (textOffsets[index - 1] as number);
  }
  const text = new Uint8Array(textOffsets[total * TEXTS] as number);
  forEachText(({ textOffsets: offsets, text: bytes }, from, to) => {
    let target = textOffsets[to] as number;
    const end = offsets[from + 1] as number;
    for (let index = offsets[from] as number; index < end; index++) text[target++] = bytes[index] as number;
  });
  return { text, textOffsets };
}
