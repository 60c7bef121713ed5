/**
 * Merges two segments and drops the servers and tools that are gone. Copies integers and bytes; nothing is tokenized again.
 * @module
 */
import { type Dictionary, termCount } from './dictionary.ts';
import { documentCount, type Segment, signCodes, TEXT, TEXTS, textOf } from './segment.ts';
import { compareText } from './segment-builder.ts';

/** A segment and, for each of its servers, whether it still counts (1) or was replaced or removed (0). */
export interface LiveSegment {
  readonly segment: Segment;
  readonly alive: Uint8Array;
}

const GONE = 0xffff_ffff;

/**
 * Merges two segments. Of a server that is alive in both, the right one has the tools that were added or changed, and `gone`
 * names those that were removed.
 */
export function mergeSegments(
  left: LiveSegment,
  right: LiveSegment,
  gone: ReadonlyMap<string, Iterable<string>> = new Map(),
): Segment {
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
  const servers = [...new Set(slots.map(({ name }) => name))];

  const room = slots.reduce((sum, { start, end }) => sum + end - start, 0);
  const dimensions = Math.max(...sources.map((source) => source.dimensions));
  const serverOffsets = new Uint32Array(servers.length + 1);
  const documentServers = new Uint32Array(room);
  const flags = new Uint8Array(room);
  const meanings = new Int8Array(room * dimensions);
  const meaningScales = new Float32Array(room);
  const textOffsets = new Uint32Array(room * TEXTS + 1);
  const text = new Uint8Array(left.segment.text.length + right.segment.text.length);
  let total = 0;
  // Documents that follow each other stay together, so all of them are copied at once.
  const copy = (server: number, { source, start, end }: Run): void => {
    const from = source.segment;
    documentServers.fill(server, total, total + end - start);
    for (let document = start; document < end; document++) source.map[document] = total + document - start;
    flags.set(from.flags.subarray(start, end), total);
    meaningScales.set(from.meaningScales.subarray(start, end), total);
    meanings.set(from.meanings.subarray(start * source.dimensions, end * source.dimensions), total * dimensions);
    const first = from.textOffsets[start * TEXTS] as number;
    const at = textOffsets[total * TEXTS] as number;
    text.set(from.text.subarray(first, from.textOffsets[end * TEXTS]), at);
    for (let index = 1; index <= (end - start) * TEXTS; index++) {
      textOffsets[total * TEXTS + index] = at + (from.textOffsets[start * TEXTS + index] as number) - first;
    }
    total += end - start;
  };
  let next = 0;
  for (const [server, name] of servers.entries()) {
    const slot = slots[next++] as Run;
    if (slots[next]?.name === name)
      for (const run of spliced(slot, slots[next++] as Run, gone.get(name) ?? [])) copy(server, run);
    else copy(server, slot);
    serverOffsets[server + 1] = total;
  }
  return {
    ...mergePostings(...sources),
    servers,
    serverOffsets,
    documentServers: documentServers.subarray(0, total),
    flags: flags.subarray(0, total),
    meanings: meanings.subarray(0, total * dimensions),
    meaningScales: meaningScales.subarray(0, total),
    codes: signCodes(meanings.subarray(0, total * dimensions)),
    textOffsets: textOffsets.subarray(0, total * TEXTS + 1),
    text: trimmed(text, textOffsets[total * TEXTS] as number),
  };
}

interface Source extends LiveSegment {
  readonly map: Uint32Array;
  readonly dimensions: number;
}

/** Documents that follow each other in one segment. */
interface Run {
  readonly source: Source;
  readonly start: number;
  readonly end: number;
}

/** The documents of a server, by name: the changed ones in place of those of the same name, without those that are gone. */
function* spliced(old: Run, changed: Run, gone: Iterable<string>): Generator<Run> {
  const places = new Map<string, number>();
  for (let at = changed.start; at < changed.end; at++) places.set(nameAt(changed, at), at);
  let { start } = old;
  for (const name of [...new Set([...gone, ...places.keys()])].sort(compareText)) {
    const end = placeOf(name, { ...old, start });
    yield { ...old, start, end };
    const at = places.get(name);
    if (at !== undefined) yield { ...changed, start: at, end: at + 1 };
    start = end < old.end && nameAt(old, end) === name ? end + 1 : end;
  }
  yield { ...old, start };
}

const nameAt = ({ source }: Run, document: number): string => textOf(source.segment, document, TEXT.name);

/** The first document whose name is not less. */
function placeOf(name: string, run: Run): number {
  let { start, end } = run;
  while (start < end) {
    const middle = (start + end) >> 1;
    if (compareText(nameAt(run, middle), name) < 0) start = middle + 1;
    else end = middle;
  }
  return start;
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
    dictionary: { units: trimmed(units, termOffsets[count] as number), offsets: termOffsets.slice(0, count + 1) },
    postingOffsets: postingOffsets.slice(0, count + 1),
    postingDocuments: trimmed(documents, at),
    postingImpacts: trimmed(impacts, at),
  };
}

/** The beginning of an array; the array itself where nothing has to be cut off. */
const trimmed = <T extends Uint8Array | Uint16Array | Uint32Array>(array: T, length: number): T =>
  array.length === length ? array : (array.slice(0, length) as T);

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
