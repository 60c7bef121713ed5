/**
 * Defines a ranker: one way to tell how well tools answer a request. A ranking idea is one file that has a `Ranker`, and a row
 * in the table of fusion.ts.
 * @module
 */
import type { SearchOptions, ToolMetadata } from '../core/types.ts';
import type { Details, ScoreParts } from './explanation.ts';
import type { Goal } from './goal.ts';
import type { LiveIndex, Position } from './live-index.ts';
import type { ParsedQuery } from './query.ts';
import type { SearchSettings } from './settings.ts';

/** One search, as every ranker reads it. */
export interface Search extends Pick<SearchOptions, 'server' | 'learnt' | 'similar'> {
  readonly index: LiveIndex;
  readonly query: ParsedQuery;
  readonly settings: SearchSettings;
  /** The act and its object, if the request is for one thing and names them. */
  readonly goal?: Goal | undefined;
  /** Whether this is one act of several: fewer candidates will do. */
  readonly isAct?: boolean | undefined;
  /** The most candidates of one server. */
  readonly perServer: number;
  /** Tells whether a tool may be found: filters decide. */
  accepts(segment: number, document: number): boolean;
}

/** The scores that one ranker gives in one search. They are absolute: no other tool changes the score of a tool. */
export interface Scores {
  of(segment: number, document: number): number;
  /** The accepted tools that deserve a closer look, in any order. */
  candidates(): readonly Position[];
  /** How well all tools of a tool's server fit; undefined if the ranker cannot tell. */
  ofServer?(position: Position): ServerScores | undefined;
}

/** The average score of all tools of a server, and their standard deviation. */
export interface ServerScores {
  readonly average: number;
  readonly spread: number;
}

/** One way to rank tools. */
export interface Ranker {
  readonly name: Exclude<keyof ScoreParts, 'total'>;
  /** Scores the tools; undefined if the ranker has nothing to say about this request. */
  score(search: Search): Scores | undefined;
  /** Explains the score of one tool; `about` is the description of its server. */
  explain?(search: Search, tool: ToolMetadata, about: string): Partial<Details>;
}

/** The `accepts` of a search of all tools, which need not be asked one by one. */
export const acceptsAll: Search['accepts'] = () => true;
