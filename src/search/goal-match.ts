/**
 * Tells how far tools do what a request asks for: whether their names or the beginnings of their descriptions have its act, and
 * its object. Both are marked in the postings when a tool is indexed, so no tool changes what another is worth.
 * @module
 */
import { ROLE } from './document.ts';
import type { Goal } from './goal.ts';
import type { Position } from './live-index.ts';
import type { Search } from './ranker.ts';
import { documentCount } from './segment.ts';
import type { LiveSegment } from './segment-merger.ts';
import { synonymsOf } from './synonyms.ts';
import { toTerm } from './term.ts';
import { tokenize } from './tokenizer.ts';

/** What a tool without the act keeps of its score. */
const LEAST = 0.7;
/** What a tool with the act has of the rest if it lacks the object. */
const ACT = 0.5;

/** Returns what tools keep of their scores, from `LEAST` to 1. */
export function goalMatch(
  search: Pick<Search, 'index' | 'settings'>,
  { acts, object }: Goal,
): (at: Position) => number {
  const hasAct = marks(search, acts, ROLE.act);
  const hasWords = object.map((word) => marks(search, [word], ROLE.object));
  return (at) => {
    if (!hasAct(at)) return LEAST;
    const found = hasWords.filter((has) => has(at)).length / object.length;
    return LEAST + (1 - LEAST) * (ACT + (1 - ACT) * found);
  };
}

/** Marks the tools that have one of the words, or a synonym of one, in a role. */
function marks(
  { index, settings }: Pick<Search, 'index' | 'settings'>,
  words: readonly string[],
  role: number,
): (at: Position) => boolean {
  const own = words.flatMap((word) => tokenize(word).flatMap((one) => toTerm(one, settings.parts) ?? []));
  const terms = new Set(settings.synonyms ? own.flatMap((term) => [term, ...synonymsOf(term)]) : own);
  const marked = index.segments.map(({ segment }) => new Uint8Array(documentCount(segment)));
  for (const term of terms) {
    for (const [at, ordinal] of index.entry(term).ordinals.entries()) {
      if (ordinal < 0) continue;
      const { postingDocuments, postingImpacts, postingOffsets } = (index.segments[at] as LiveSegment).segment;
      const list = marked[at] as Uint8Array;
      const end = postingOffsets[ordinal + 1] as number;
      for (let place = postingOffsets[ordinal] as number; place < end; place++) {
        if (((postingImpacts[place] as number) & role) !== 0) list[postingDocuments[place] as number] = 1;
      }
    }
  }
  return ({ segment, document }) => marked[segment]?.[document] === 1;
}
