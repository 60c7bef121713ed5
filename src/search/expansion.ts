/**
 * Expands a query term to the index terms that may stand for it: itself, its synonyms and, if the index does not know it,
 * longer words that it begins and words a typo away.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { lowerBound, nearTerms, prefixRange, termAt } from './dictionary.ts';
import { NAME_KEY } from './document.ts';
import type { LiveIndex, TermEntry } from './live-index.ts';
import type { QueryTerm } from './query.ts';
import type { Parts, SearchSettings } from './settings.ts';
import { synonymsOf } from './synonyms.ts';

/** An index term that counts for a query term, with the share of the score it earns. */
export interface Alternative {
  readonly term: string;
  readonly how: 'same' | 'translation' | 'synonym' | 'completed' | 'typo';
  readonly entry: TermEntry;
  readonly weight: number;
}

const SYNONYM_WEIGHT = 0.35;
const PREFIX_WEIGHT = 0.5;
const TYPO_WEIGHTS = [1, 0.6, 0.4] as const;
/** The factor for a typo in the first letter, which is rare. */
const OTHER_INITIAL = 0.7;
const MAX_GUESSES = 16;
const SHORTEST_PREFIX = 3;

/** Finds the alternatives of a term, best first. `guess` allows completions and typos. */
export function expand(
  index: LiveIndex,
  query: QueryTerm,
  { synonyms, parts }: Pick<SearchSettings, 'synonyms' | 'parts'>,
  guess: boolean,
): Alternative[] {
  const { term, bonus } = query;
  const entry = index.entry(term);
  const alternatives: Alternative[] = entry.count > 0 ? [{ term, how: 'same', entry, weight: 1 }] : [];
  if (bonus) return alternatives;
  for (const { term: other, weight } of query.others ?? []) {
    const found = index.entry(other);
    if (found.count > 0) alternatives.push({ term: other, how: 'translation', entry: found, weight });
  }
  if (synonyms) {
    for (const synonym of synonymsOf(term)) {
      const other = index.entry(synonym);
      if (other.count > 0) alternatives.push({ term: synonym, how: 'synonym', entry: other, weight: SYNONYM_WEIGHT });
    }
  }
  if (guess) alternatives.push(...guesses(index, query, parts));
  return alternatives;
}

/** Lists words that may have been meant, the likeliest first. The order in which servers were added does not matter. */
function guesses(index: LiveIndex, { term, length }: QueryTerm, parts: Parts): Alternative[] {
  const weights = new Map<string, number>();
  const offer = (candidate: string, weight: number): void => {
    if (weight > (weights.get(candidate) ?? 0)) weights.set(candidate, weight);
  };
  const typos = !parts.typos ? 0 : length >= 8 ? 2 : length >= 4 ? 1 : 0;
  const completes = parts.prefixes && (term.length >= SHORTEST_PREFIX || term.charCodeAt(0) > 0x2e7f);
  for (const [position, { segment }] of index.segments.entries()) {
    const { dictionary } = segment;
    if (completes) {
      const [start, end] = prefixRange(dictionary, term);
      for (let ordinal = start; ordinal < Math.min(end, start + LIMITS.search.completions); ordinal++) {
        if (index.has(position, ordinal)) offer(termAt(dictionary, ordinal), PREFIX_WEIGHT);
      }
    }
    if (typos === 0) continue;
    for (const { ordinal, distance } of nearTerms(dictionary, term, typos, lowerBound(dictionary, AFTER_KEYS))) {
      if (!index.has(position, ordinal)) continue;
      const candidate = termAt(dictionary, ordinal);
      const doubt = candidate[0] === term[0] ? 1 : OTHER_INITIAL;
      offer(candidate, doubt * (TYPO_WEIGHTS[distance] ?? 0));
    }
  }
  return [...weights]
    .map(([candidate, weight]) => ({ candidate, weight, entry: index.entry(candidate) }))
    .sort((a, b) => b.weight - a.weight || b.entry.count - a.entry.count || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, MAX_GUESSES)
    .map(({ candidate, entry, weight }) => ({
      term: candidate,
      how: candidate.startsWith(term) ? 'completed' : 'typo',
      entry,
      weight,
    }));
}

const AFTER_KEYS = String.fromCharCode(NAME_KEY.charCodeAt(0) + 1);
