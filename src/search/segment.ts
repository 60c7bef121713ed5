/**
 * A segment is an immutable piece of the index in typed arrays: some servers, their tools, and the postings of their terms.
 * Documents are numbered in order of server, then name, so that a lower number wins a tie.
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
  /** 1 where a tool is enabled. */
  readonly enabled: Uint8Array;
  /** Four strings a document: name, summary, signature, tags. */
  readonly textOffsets: Uint32Array;
  /** All strings, UTF-8. */
  readonly text: Uint8Array;
}

/** Which of a document's strings. */
export const TEXT = { name: 0, summary: 1, signature: 2, tags: 3 } as const;

/** How many strings a document has. */
export const TEXTS = 4;

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
  return textOf(segment, document, TEXT.tags).split(TAG_END).slice(0, -1);
}
