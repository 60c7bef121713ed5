/**
 * Ranks tools by meaning: the cosine of the vectors of the request and of a tool. Compares all tools by the signs of their
 * numbers first, which takes a few instructions a tool, and only the nearest of them exactly.
 * @module
 */
import type { ToolMetadata } from '../core/types.ts';
import { type ExplainedLikeness, inThousandths } from './explanation.ts';
import { givenScores } from './given-scores.ts';
import { isAlive, type Position } from './live-index.ts';
import type { MeaningModel } from './meaning-model.ts';
import { meaningWords, toolWords } from './meaning-text.ts';
import { acceptsAll, type Ranker, type Scores, type Search, type ServerScores } from './ranker.ts';
import { CODE_BITS, documentCount, type Segment } from './segment.ts';
import type { LiveSegment } from './segment-merger.ts';
import { spellWords } from './spelling.ts';
import { stem } from './stemmer.ts';
import { isStopWord } from './stop-words.ts';

/** How many tools are compared exactly, for a request and for one of several acts. */
const SHORTLIST = { request: 400, act: 100 };
/** How many tools of a server tell how much it is about the request: of a larger server every second, third and so on. */
const SAMPLE = 512;
/** How many pairs of words an explanation names, and the least cosine of a pair. */
const MOST_ALIKE = 5;
const LEAST_ALIKE = 0.45;

/** The ranker `meaning`. Another embedder's scores, if the search has some, replace those of the built-in vectors. */
export const meaning: Ranker = {
  name: 'meaning',

  score(search) {
    const builtIn = likenessOf(search);
    const given = givenScores(search, search.similar, -1);
    // An embedder whose tools are all filtered out has said nothing.
    if (given.accepted.length === 0) return builtIn;
    return {
      // Two embedders measure differently: a tool that this one left out is no more alike than all it named.
      of: (segment, document) => given.of(segment, document) ?? given.lowest,
      candidates: () => [...(builtIn?.candidates() ?? []), ...given.accepted],
      ofServer: (position) => builtIn?.ofServer(position),
    };
  },

  explain: ({ query, settings: { model } }, tool) => ({ alike: model ? alikeWords(model, query.spoken, tool) : [] }),
};

function likenessOf(search: Search): Likeness | undefined {
  const { model, parts } = search.settings;
  const { asking, toldWeight } = search.query;
  const spoken = meaningWords(search.query.spoken);
  const told = meaningWords(search.query.told);
  const spelt = parts.typos && model !== undefined ? spellWords(search.index, model, spoken) : spoken;
  const weights = [...spoken, ...told].map(
    (word, place) => (asking?.get(word) ?? 1) * (place < spoken.length ? 1 : toldWeight),
  );
  const request = model?.ofRequest([...spelt, ...told], weights);
  return request && new Likeness(search, request);
}

/** The words of the query and of the tool that are alike in meaning, though not the same. */
function alikeWords(model: MeaningModel, query: string, tool: ToolMetadata): ExplainedLikeness[] {
  const content = (list: readonly string[]): string[] => [...new Set(list)].filter((word) => !isStopWord(word));
  const parts = toolWords(tool);
  const own = content([...parts.name, ...parts.lead, ...parts.parameters]).slice(0, 48);
  return content(meaningWords(query))
    .slice(0, 16)
    .flatMap((word) =>
      own
        .filter((found) => stem(word) !== stem(found))
        .map((found) => ({ word, found, likeness: inThousandths(model.likeness(word, found)) })),
    )
    .filter(({ likeness }) => likeness >= LEAST_ALIKE)
    .sort((a, b) => b.likeness - a.likeness)
    .slice(0, MOST_ALIKE);
}

/** Compares a request's meaning with tools. */
export class Likeness implements Scores {
  readonly #search: Pick<Search, 'index' | 'accepts' | 'perServer' | 'isAct'>;
  readonly #request: Float32Array;

  constructor(search: Pick<Search, 'index' | 'accepts' | 'perServer' | 'isAct'>, request: Float32Array) {
    this.#search = search;
    this.#request = request;
  }

  /** The cosine of the request and one tool; 0 for a tool without a known word. */
  of(segment: number, document: number): number {
    const { meanings, meaningScales } = (this.#search.index.segments[segment] as LiveSegment).segment;
    const request = this.#request;
    const start = document * request.length;
    if (meanings.length === 0) return 0;
    let sum = 0;
    for (let index = 0; index < request.length; index++) {
      sum += (request[index] as number) * (meanings[start + index] as number);
    }
    return sum * (meaningScales[document] as number);
  }

  /** The tools that share the most signs with the request, at most about `SHORTLIST` and `perServer` of one server, in no order. */
  candidates(): Position[] {
    const { index, accepts, perServer, isAct } = this.#search;
    const most = isAct ? SHORTLIST.act : SHORTLIST.request;
    const code = codeOf(this.#request);
    const bits = code.length * CODE_BITS;
    const counts = new Uint32Array(bits + 1);
    const distances = index.segments.map((live, position) => {
      const isOpen = accepts === acceptsAll && index.whole[position] === true;
      const list = index.scratch.take(Uint16Array, documentCount(live.segment));
      writeDistances(list, code, live.segment);
      if (!isOpen) {
        for (let document = 0; document < list.length; document++) {
          if (!isAlive(live.segment, live.alive, document) || !accepts(position, document))
            list[document] = UNREACHABLE;
        }
      }
      dropCrowds(list, live.segment, bits, perServer);
      for (let document = 0; document < list.length; document++) {
        const distance = list[document] as number;
        if (distance !== UNREACHABLE) counts[distance] = (counts[distance] as number) + 1;
      }
      return list;
    });
    let limit = 0;
    for (let total = counts[0] as number; limit < bits; total += counts[limit] as number) {
      // Tools of the same meaning have the same distance: too many are better than none.
      if (total > 0 && total + (counts[limit + 1] as number) > most) break;
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

  /** The cosines of the request and the tools of a tool's server: how much that server is about what is asked. */
  ofServer({ segment: position, document }: Position): ServerScores {
    const { documentServers, serverOffsets } = (this.#search.index.segments[position] as LiveSegment).segment;
    const server = documentServers[document] as number;
    const start = serverOffsets[server] as number;
    const end = serverOffsets[server + 1] as number;
    const step = Math.ceil((end - start) / SAMPLE);
    let count = 0;
    let sum = 0;
    let squares = 0;
    for (let tool = start; tool < end; tool += step) {
      const cosine = this.of(position, tool);
      count++;
      sum += cosine;
      squares += cosine * cosine;
    }
    const average = sum / count;
    return { average, spread: Math.sqrt(Math.max(0, squares / count - average * average)) };
  }
}

/** Keeps the nearest `most` tools of every server, of equals the first by name. */
function dropCrowds(distances: Uint16Array, { servers, serverOffsets }: Segment, bits: number, most: number): void {
  for (let server = 0; server < servers.length; server++) {
    const start = serverOffsets[server] as number;
    const end = serverOffsets[server + 1] as number;
    if (end - start <= most) continue;
    const counts = new Uint32Array(bits + 1);
    for (let document = start; document < end; document++) {
      const distance = distances[document] as number;
      if (distance !== UNREACHABLE) counts[distance] = (counts[distance] as number) + 1;
    }
    let room = most;
    let last = 0;
    for (; last <= bits && (counts[last] as number) <= room; last++) room -= counts[last] as number;
    for (let document = start; document < end; document++) {
      const distance = distances[document] as number;
      if (distance < last || (distance === last && room-- > 0)) continue;
      distances[document] = UNREACHABLE;
    }
  }
}

const UNREACHABLE = 0xffff;

/** Counts how many signs differ, for every tool of a segment. */
function writeDistances(distances: Uint16Array, code: Uint32Array, { codes, meaningScales }: Segment): void {
  if (codes.length === 0) distances.fill(UNREACHABLE);
  for (let document = 0; document < distances.length && codes.length > 0; document++) {
    if (meaningScales[document] === 0) {
      distances[document] = UNREACHABLE;
      continue;
    }
    const start = document * code.length;
    // Counts the bits of all words side by side, in groups of 8 bits, and adds the groups up at the end.
    let sums = 0;
    for (let word = 0; word < code.length; word++) {
      let bits = (codes[start + word] as number) ^ (code[word] as number);
      bits -= (bits >>> 1) & 0x5555_5555;
      bits = (bits & 0x3333_3333) + ((bits >>> 2) & 0x3333_3333);
      sums += (bits + (bits >>> 4)) & 0x0f0f_0f0f;
    }
    sums = (sums & 0x00ff_00ff) + ((sums >>> 8) & 0x00ff_00ff);
    distances[document] = (sums & 0xffff) + (sums >>> 16);
  }
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
