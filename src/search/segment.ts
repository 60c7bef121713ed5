/**
 * Defines a segment: an immutable piece of the index in typed arrays, with some servers, their tools and the postings of their
 * terms. Documents are numbered in order of server, then name, so a lower number wins a tie.
 * @module
 */
import type { Dictionary } from './dictionary.ts';

/** The arrays of a segment. */
export interface Segment {
  readonly dictionary: Dictionary;
  /** Postings of term i are `[postingOffsets[i], postingOffsets[i + 1])`, documents ascending. */
  readonly postingOffsets: Uint32Array;
  readonly postingDocuments: Uint32Array;
  readonly postingImpacts: Uint16Array;
  /** Server names, ascending. */
  readonly servers: readonly string[];
  /** Documents of server i are `[serverOffsets[i], serverOffsets[i + 1])`. */
  readonly serverOffsets: Uint32Array;
  /** Which server a document belongs to. */
  readonly documentServers: Uint32Array;
  /** Bits of `FLAG`. */
  readonly flags: Uint8Array;
  /** What each document means, `dimensions` whole numbers a document; empty without a model. */
  readonly meanings: Int8Array;
  /** What a document's whole numbers are multiplied with; 0 where none of its words is known. */
  readonly meaningScales: Float32Array;
  /** The signs of each meaning as bits: alike meanings share most of them. Follows from `meanings`. */
  readonly codes: Uint32Array;
  /** Four strings a document: name, summary, signature, tags. */
  readonly textOffsets: Uint32Array;
  /** All strings, UTF-8. */
  readonly text: Uint8Array;
}

/** What is true of a tool. */
export const FLAG = { enabled: 1, readOnly: 2, destructive: 4 } as const;

/** Whether something is true of a document. */
export const hasFlag = ({ flags }: Segment, document: number, flag: number): boolean =>
  ((flags[document] as number) & flag) !== 0;

/** Which of a document's strings. */
export const TEXT = { name: 0, summary: 1, signature: 2, tags: 3 } as const;

/** How many strings a document has. */
export const TEXTS = 4;

/** Bits of one word of `codes`. */
export const CODE_BITS = 32;

/** The signs of many meanings, one bit a number. */
export function signCodes(meanings: Int8Array): Uint32Array {
  const codes = new Uint32Array(meanings.length / CODE_BITS);
  for (let word = 0; word < codes.length; word++) {
    let bits = 0;
    for (let bit = 0; bit < CODE_BITS; bit++) {
      if ((meanings[word * CODE_BITS + bit] as number) > 0) bits |= 1 << bit;
    }
    codes[word] = bits;
  }
  return codes;
}

/** After every tag. */
export const TAG_END = '\u0000';

/** How many documents there are. */
export const documentCount = (segment: Segment): number => segment.documentServers.length;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** One string of a document. */
export function textOf({ text, textOffsets }: Segment, document: number, which: number): string {
  const index = document * TEXTS + which;
  return decoder.decode(text.subarray(textOffsets[index], textOffsets[index + 1]));
}

/** The tags of a document. */
export function tagsOf(segment: Segment, document: number): string[] {
  const index = document * TEXTS + TEXT.tags;
  if (segment.textOffsets[index] === segment.textOffsets[index + 1]) return [];
  return textOf(segment, document, TEXT.tags).split(TAG_END).slice(0, -1);
}
