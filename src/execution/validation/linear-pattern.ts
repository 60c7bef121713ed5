/**
 * Proves that a regular expression cannot backtrack: at every character at most one transition is possible. The answer
 * is yes or "not proven"; an unproven pattern runs on another thread.
 *
 * The proof builds the positions of the pattern (Glushkov's construction). It checks that the characters allowed next
 * are disjoint, and that no step can be taken by two routes, as in `(a+)+`.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { type CharSet, overlaps } from './char-set.ts';
import { type PatternTree, parsePattern } from './pattern-parser.ts';

interface Span {
  readonly first: readonly number[];
  readonly last: readonly number[];
  readonly nullable: boolean;
}

const EMPTY: Span = { first: [], last: [], nullable: true };

/** Tells whether matching takes linear time for any text. */
export function isLinearPattern(source: string): boolean {
  const pattern = parsePattern(source);
  if (pattern === undefined) return false;
  const proof = new Proof();
  const whole = proof.span(pattern.tree);
  if (!proof.holds || !proof.disjoint(whole.first)) return false;
  // Without `^` the engine restarts at each character; that is fine if a match is short.
  return pattern.start || (!proof.endless && proof.positions <= LIMITS.pattern.unanchored);
}

class Proof {
  readonly #sets: CharSet[] = [];
  readonly #next: Set<number>[] = [];
  #holds = true;
  endless = false;

  get positions(): number {
    return this.#sets.length;
  }

  get holds(): boolean {
    return this.#holds && this.#next.every((next) => this.disjoint([...next]));
  }

  disjoint(positions: readonly number[]): boolean {
    if (positions.length > LIMITS.pattern.nextPositions) return false;
    return positions.every((a, i) =>
      positions.slice(i + 1).every((b) => !overlaps(this.#sets[a] ?? [], this.#sets[b] ?? [])),
    );
  }

  span(tree: PatternTree): Span {
    if (!this.#holds) return EMPTY;
    switch (tree.kind) {
      case 'char':
        return this.#char(tree.set);
      case 'sequence':
        return tree.parts.reduce<Span>((before, part) => this.#join(before, this.span(part)), EMPTY);
      case 'choice':
        return this.#choice(tree.options);
      case 'repeat':
        return this.#repeat(tree.of, tree.min, tree.max);
    }
  }

  #char(set: CharSet): Span {
    const position = this.#sets.length;
    if (position >= LIMITS.pattern.positions) this.#holds = false;
    this.#sets.push(set);
    this.#next.push(new Set());
    return { first: [position], last: [position], nullable: false };
  }

  #choice(options: readonly PatternTree[]): Span {
    const spans = options.map((option) => this.span(option));
    if (spans.filter((span) => span.nullable).length > 1) this.#holds = false;
    return {
      first: spans.flatMap((span) => span.first),
      last: spans.flatMap((span) => span.last),
      nullable: spans.some((span) => span.nullable),
    };
  }

  #repeat(of: PatternTree, min: number, max: number): Span {
    const copies = max === Number.POSITIVE_INFINITY ? Math.max(1, min) : max;
    if (copies === 0) return EMPTY;
    // Very large counts are treated as unbounded: stricter, never laxer.
    const endless = max === Number.POSITIVE_INFINITY || copies > LIMITS.pattern.repeats;
    if (endless) return this.#loop(of, copies > LIMITS.pattern.repeats ? Math.min(min, 1) : min);
    let result = EMPTY;
    // `a{2,4}` is a a (a (a)?)?, built from the inside.
    for (let copy = copies; copy >= 1 && this.#holds; copy--) {
      const body = this.span(of);
      if (body.nullable && copies > 1) this.#holds = false;
      const joined = this.#join(body, result);
      result = copy > min ? { ...joined, nullable: true } : joined;
    }
    return result;
  }

  #loop(of: PatternTree, min: number): Span {
    this.endless = true;
    let before = EMPTY;
    for (let copy = 1; copy < min; copy++) before = this.#join(before, this.span(of));
    const body = this.span(of);
    // An unbounded loop around something that may be empty has many ways to match nothing.
    if (body.nullable) this.#holds = false;
    this.#connect(body.last, body.first);
    return this.#join(before, min === 0 ? { ...body, nullable: true } : body);
  }

  #join(a: Span, b: Span): Span {
    this.#connect(a.last, b.first);
    return {
      first: a.nullable ? [...a.first, ...b.first] : a.first,
      last: b.nullable ? [...a.last, ...b.last] : b.last,
      nullable: a.nullable && b.nullable,
    };
  }

  #connect(from: readonly number[], to: readonly number[]): void {
    if (from.length * to.length > LIMITS.pattern.positions) this.#holds = false;
    if (!this.#holds) return;
    for (const position of from) {
      const next = this.#next[position];
      for (const following of to) {
        if (next?.has(following)) this.#holds = false;
        next?.add(following);
      }
    }
  }
}
