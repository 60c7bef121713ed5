/**
 * What a request means in, the tools that mean the most alike out. All tools are compared by the signs of their numbers
 * first, which takes a few instructions a tool; only the nearest of those are compared exactly.
 * @module
 */
import { isAlive, type LiveIndex, type Position } from './live-index.ts';
import { CODE_BITS, documentCount, type Segment } from './segment.ts';
import type { LiveSegment } from './segment-merger.ts';

/** How many tools are compared exactly. */
const SHORTLIST = 400;

/** Compares a request's meaning with tools. */
export class Likeness {
  readonly #index: LiveIndex;
  readonly #request: Float32Array;

  constructor(index: LiveIndex, request: Float32Array) {
    this.#index = index;
    this.#request = request;
  }

  /** The cosine of the request and one tool; 0 for a tool without a known word. */
  of(segment: number, document: number): number {
    const { meanings, meaningScales } = (this.#index.segments[segment] as LiveSegment).segment;
    const request = this.#request;
    const start = document * request.length;
    if (meanings.length === 0) return 0;
    let sum = 0;
    for (let index = 0; index < request.length; index++) {
      sum += (request[index] as number) * (meanings[start + index] as number);
    }
    return sum * (meaningScales[document] as number);
  }

  /** The tools that share the most signs with the request, at most about `SHORTLIST`, in no order. */
  nearest(accepts: (segment: number, document: number) => boolean): Position[] {
    const code = codeOf(this.#request);
    const bits = code.length * CODE_BITS;
    const counts = new Uint32Array(bits + 1);
    const distances = this.#index.segments.map((live, position) =>
      distancesTo(
        code,
        live,
        (document) => {
          if (!this.#index.isWhole(position) && !isAlive(live.segment, live.alive, document)) return false;
          return accepts(position, document);
        },
        counts,
      ),
    );
    let limit = 0;
    for (let total = counts[0] as number; limit < bits; total += counts[limit] as number) {
      // Many that mean the same are nearest all at once: better too many than none.
      if (total > 0 && total + (counts[limit + 1] as number) > SHORTLIST) break;
      limit++;
    }
    const found: Position[] = [];
    for (const [segment, list] of distances.entries()) {
      for (let document = 0; document < list.length; document++) {
        if ((list[document] as number) <= limit) found.push({ segment, document });
      }
    }
    return found;
  }
}

const UNREACHABLE = 0xffff;

/** How many signs differ, for every tool of a segment; `counts` gathers how many tools have each distance. */
function distancesTo(
  code: Uint32Array,
  { segment }: LiveSegment,
  accepts: (document: number) => boolean,
  counts: Uint32Array,
): Uint16Array {
  const distances = new Uint16Array(documentCount(segment)).fill(UNREACHABLE);
  const { codes, meaningScales }: Segment = segment;
  if (codes.length === 0) return distances;
  for (let document = 0; document < distances.length; document++) {
    if (meaningScales[document] === 0 || !accepts(document)) continue;
    let distance = 0;
    const start = document * code.length;
    for (let word = 0; word < code.length; word++) {
      distance += bitCount((codes[start + word] as number) ^ (code[word] as number));
    }
    distances[document] = distance;
    counts[distance] = (counts[distance] as number) + 1;
  }
  return distances;
}

function codeOf(request: Float32Array): Uint32Array {
  const code = new Uint32Array(request.length / CODE_BITS);
  for (const [index, value] of request.entries()) {
    if (value > 0)
      code[Math.floor(index / CODE_BITS)] =
        (code[Math.floor(index / CODE_BITS)] as number) | (1 << (index % CODE_BITS));
  }
  return code;
}

/** How many bits of a word are set. */
function bitCount(word: number): number {
  let bits = word - ((word >>> 1) & 0x5555_5555);
  bits = (bits & 0x3333_3333) + ((bits >>> 2) & 0x3333_3333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}
