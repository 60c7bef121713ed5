/**
 * Builds a segment from documents.
 * @module
 */
import { createDictionary } from './dictionary.ts';
import type { SearchDocument } from './document.ts';
import type { Lexicon } from './lexicon.ts';
import { type Segment, signCodes, TAG_END, TEXTS } from './segment.ts';

/** Order by UTF-16 units: the same on every machine. */
export const compareText = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

/** Builds one segment of the given servers. Documents of a server must be sorted by name. */
export function buildSegment(servers: ReadonlyMap<string, readonly SearchDocument[]>): Segment {
  const names = [...servers.keys()].sort(compareText);
  const documents = names.flatMap((name) => servers.get(name) ?? []);
  const serverOffsets = new Uint32Array(names.length + 1);
  const documentServers = new Uint32Array(documents.length);
  for (const [index, name] of names.entries()) {
    const start = serverOffsets[index] as number;
    const end = start + (servers.get(name)?.length ?? 0);
    serverOffsets[index + 1] = end;
    documentServers.fill(index, start, end);
  }
  return {
    ...buildPostings(documents),
    ...buildTexts(documents),
    ...buildMeanings(documents),
    servers: names,
    serverOffsets,
    documentServers,
    flags: Uint8Array.from(documents, ({ flags }) => flags),
  };
}

function buildPostings(
  documents: readonly SearchDocument[],
): Pick<Segment, 'dictionary' | 'postingOffsets' | 'postingDocuments' | 'postingImpacts'> {
  let total = 0;
  for (const { terms } of documents) total += terms.length;
  const { sorted, placesOf } = sortTerms(documents);

  const postingOffsets = new Uint32Array(sorted.length + 1);
  for (const { terms, lexicon } of documents) {
    const places = placesOf(lexicon);
    for (const number of terms) {
      const next = (places[number] as number) + 1;
      postingOffsets[next] = (postingOffsets[next] as number) + 1;
    }
  }
  for (let place = 0; place < sorted.length; place++) {
    postingOffsets[place + 1] = (postingOffsets[place + 1] as number) + (postingOffsets[place] as number);
  }
  const cursors = postingOffsets.slice();
  const postingDocuments = new Uint32Array(total);
  const postingImpacts = new Uint16Array(total);
  for (const [document, { terms, impacts, lexicon }] of documents.entries()) {
    const places = placesOf(lexicon);
    for (let at = 0; at < terms.length; at++) {
      const place = places[terms[at] as number] as number;
      const target = cursors[place] as number;
      cursors[place] = target + 1;
      postingDocuments[target] = document;
      postingImpacts[target] = impacts[at] as number;
    }
  }
  return { dictionary: createDictionary(sorted), postingOffsets, postingDocuments, postingImpacts };
}

/** All terms of the documents in alphabetical order, and the place that each number of a lexicon has in it. */
function sortTerms(documents: readonly SearchDocument[]): {
  readonly sorted: readonly string[];
  placesOf(lexicon: Lexicon): Uint32Array;
} {
  const used = new Map<Lexicon, Uint8Array>();
  for (const { terms, lexicon } of documents) {
    let marks = used.get(lexicon);
    if (marks === undefined) {
      marks = new Uint8Array(lexicon.terms.length);
      used.set(lexicon, marks);
    }
    for (const number of terms) marks[number] = 1;
  }
  // Nearly always there is one lexicon, whose terms are all different.
  const all = [...used].flatMap(([{ terms }, marks]) => terms.filter((_, number) => marks[number] === 1));
  const sorted = (used.size > 1 ? [...new Set(all)] : all).sort();
  const places = new Map<Lexicon, Uint32Array>();
  for (const lexicon of used.keys()) {
    const own = new Uint32Array(lexicon.terms.length);
    for (let place = 0; place < sorted.length; place++) {
      const number = lexicon.find(sorted[place] as string);
      if (number !== undefined) own[number] = place;
    }
    places.set(lexicon, own);
  }
  return { sorted, placesOf: (lexicon) => places.get(lexicon) as Uint32Array };
}

function buildMeanings(documents: readonly SearchDocument[]): Pick<Segment, 'meanings' | 'meaningScales' | 'codes'> {
  const dimensions = documents.find(({ meaning }) => meaning !== undefined)?.meaning?.values.length ?? 0;
  const meanings = new Int8Array(documents.length * dimensions);
  const meaningScales = new Float32Array(documents.length);
  for (const [document, { meaning }] of documents.entries()) {
    if (meaning === undefined) continue;
    meanings.set(meaning.values, document * dimensions);
    meaningScales[document] = meaning.scale;
  }
  return { meanings, meaningScales, codes: signCodes(meanings) };
}

function buildTexts(documents: readonly SearchDocument[]): Pick<Segment, 'text' | 'textOffsets'> {
  const texts = documents.flatMap(({ name, summary, signature, tags }) => [
    name,
    summary,
    signature,
    tags.map((tag) => tag.replaceAll(TAG_END, '') + TAG_END).join(''),
  ]);
  const encoder = new TextEncoder();
  const textOffsets = new Uint32Array(documents.length * TEXTS + 1);
  let room = 0;
  for (const text of texts) room += text.length;
  // UTF-8 needs at most three bytes for a UTF-16 unit.
  const buffer = new Uint8Array(room * 3);
  let at = 0;
  for (const [index, text] of texts.entries()) {
    at += encoder.encodeInto(text, buffer.subarray(at)).written;
    textOffsets[index + 1] = at;
  }
  return { text: buffer.slice(0, at), textOffsets };
}
