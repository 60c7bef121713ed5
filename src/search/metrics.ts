/**
 * Computes the usual figures of a ranking. Tools of one group are interchangeable and count as one needed tool.
 * @module
 */

/** A tool in a ranking. */
export interface RankedTool {
  readonly server: string;
  readonly name: string;
}

/** A tool that answers a query. */
export interface RelevantTool extends RankedTool {
  /** How well it answers; 1 unless said otherwise, and 0 or less for one that does not. */
  readonly grade?: number | undefined;
  /** Tools of one group stand for one another. */
  readonly group?: string | number | undefined;
}

/** A query with the tools that answer it. */
export interface JudgedQuery {
  readonly id?: string | undefined;
  readonly query: string;
  readonly relevant: readonly RelevantTool[];
  readonly source?: string | undefined;
}

/** How good one ranking is, each figure in [0, 1]. */
export interface Figures {
  readonly ndcg10: number;
  readonly mrr10: number;
  readonly hit1: number;
  readonly hit5: number;
  readonly recall1: number;
  readonly recall5: number;
  readonly recall10: number;
}

/** The names of the figures. */
export const FIGURES = ['ndcg10', 'mrr10', 'hit1', 'hit5', 'recall1', 'recall5', 'recall10'] as const;

/** How far down a ranking counts. */
export const JUDGED_DEPTH = 10;

/** One thing a query needs: any of these tools will do. */
export interface Need {
  readonly tools: readonly RelevantTool[];
  /** The best grade among them. */
  readonly grade: number;
}

/** A unique key of a tool. */
export const keyOf = ({ server, name }: RankedTool): string => `${server}\n${name}`;

const gradeOf = ({ grade }: RelevantTool): number => grade ?? 1;

/** What a query needs: one entry for each group, and for each tool without one. */
export function needsOf({ relevant }: JudgedQuery): Need[] {
  const needs = new Map<string, RelevantTool[]>();
  for (const tool of relevant) {
    if (!(gradeOf(tool) > 0)) continue;
    const key = tool.group === undefined ? `tool ${keyOf(tool)}` : `group ${tool.group}`;
    const tools = needs.get(key);
    if (tools === undefined) needs.set(key, [tool]);
    else tools.push(tool);
  }
  return [...needs.values()].map((tools) => ({ tools, grade: Math.max(...tools.map(gradeOf)) }));
}

/** Where each tool of a ranking stands, from 0. */
export function placesOf(ranking: readonly RankedTool[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const [place, tool] of ranking.entries()) if (!places.has(keyOf(tool))) places.set(keyOf(tool), place);
  return places;
}

/** Where the first tool that meets a need stands, and how well it does; undefined when none is there. */
export function firstOf(
  { tools }: Need,
  places: ReadonlyMap<string, number>,
): { readonly place: number; readonly grade: number } | undefined {
  let first: { readonly place: number; readonly grade: number } | undefined;
  for (const tool of tools) {
    const place = places.get(keyOf(tool));
    if (place !== undefined && (first === undefined || place < first.place)) first = { place, grade: gradeOf(tool) };
  }
  return first;
}

const discounted = (grade: number, place: number): number => grade / Math.log2(place + 2);
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** Judges the first ten of a ranking. */
export function judge(ranking: readonly RankedTool[], query: JudgedQuery): Figures {
  const needs = needsOf(query);
  const places = placesOf(ranking.slice(0, JUDGED_DEPTH));
  const found = needs.flatMap((need) => firstOf(need, places) ?? []);
  const gain = sum(found.map(({ grade, place }) => discounted(grade, place)));
  const ideal = sum(
    needs
      .map(({ grade }) => grade)
      .sort((a, b) => b - a)
      .slice(0, JUDGED_DEPTH)
      .map(discounted),
  );
  const first = Math.min(Number.POSITIVE_INFINITY, ...found.map(({ place }) => place));
  const recall = (depth: number): number =>
    needs.length === 0 ? 0 : found.filter(({ place }) => place < depth).length / needs.length;
  return {
    // A tool that meets two needs takes one place; the ideal ranking uses two.
    ndcg10: ideal > 0 ? Math.min(1, gain / ideal) : 0,
    mrr10: 1 / (first + 1),
    hit1: first === 0 ? 1 : 0,
    hit5: first < 5 ? 1 : 0,
    recall1: recall(1),
    recall5: recall(5),
    recall10: recall(JUDGED_DEPTH),
  };
}
