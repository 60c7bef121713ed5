/**
 * Adds up the frequencies of one tool's terms, field by field. One tally serves all tools in turn, which saves much time.
 * @module
 */

export class TermTally {
  #frequencies = new Float64Array(1024);
  readonly #terms: number[] = [];

  /** Clears the tally, also after a tool that failed half-way. */
  start(): this {
    for (const term of this.#terms) this.#frequencies[term] = 0;
    this.#terms.length = 0;
    return this;
  }

  /** Adds to the frequency of a term. */
  add(term: number, frequency: number): void {
    if (term >= this.#frequencies.length) this.#grow(term);
    const before = this.#frequencies[term] as number;
    if (before === 0) this.#terms.push(term);
    this.#frequencies[term] = before + frequency;
  }

  /** Makes the frequency of a term at least this. */
  raise(term: number, frequency: number): void {
    const before = this.frequencyOf(term);
    if (frequency > before) this.add(term, frequency - before);
  }

  /** The terms that have a frequency, in the order they came. */
  terms(): number[] {
    return this.#terms.slice();
  }

  /** The frequency of a term; 0 where it has none. */
  frequencyOf(term: number): number {
    return this.#frequencies[term] ?? 0;
  }

  #grow(term: number): void {
    const grown = new Float64Array(Math.max(term + 1, this.#frequencies.length * 2));
    grown.set(this.#frequencies);
    this.#frequencies = grown;
  }
}
