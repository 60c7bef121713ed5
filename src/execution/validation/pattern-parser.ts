/**
 * Parses the plain part of regular expressions into a tree: characters, classes, groups, alternatives, counts. Returns
 * undefined for anything else (look-around, back-references, Unicode properties, boundaries).
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { ANY_BUT_LINE_END, type CharSet, CLASS_ESCAPES, charSet, complement } from './char-set.ts';

/** A pattern as a tree. `max` is Infinity for `*` and `+`. */
export type PatternTree =
  | { readonly kind: 'char'; readonly set: CharSet }
  | { readonly kind: 'sequence'; readonly parts: readonly PatternTree[] }
  | { readonly kind: 'choice'; readonly options: readonly PatternTree[] }
  | { readonly kind: 'repeat'; readonly of: PatternTree; readonly min: number; readonly max: number };

/** A whole pattern: its tree, and whether it is anchored by `^` and `$`. */
interface ParsedPattern {
  readonly tree: PatternTree;
  readonly start: boolean;
  readonly end: boolean;
}

const CONTROL = new Map([
  ['t', 9],
  ['n', 10],
  ['v', 11],
  ['f', 12],
  ['r', 13],
  ['0', 0],
]);

class Unsupported extends Error {}

/** Parses a pattern; undefined when it uses unsupported syntax. */
export function parsePattern(source: string): ParsedPattern | undefined {
  if (source.length > LIMITS.pattern.length || /[\ud800-\udfff]/.test(source)) return undefined;
  try {
    return new Parser(source).parse();
  } catch (thrown) {
    if (thrown instanceof Unsupported) return undefined;
    throw thrown;
  }
}

class Parser {
  readonly #source: string;
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
  }

  parse(): ParsedPattern {
    const start = this.#eat('^');
    const tree = this.#choice();
    const end = this.#eat('$');
    if (this.#at < this.#source.length) throw new Unsupported();
    // In `^a|b$` each anchor applies to one alternative only.
    if ((start || end) && tree.kind === 'choice') throw new Unsupported();
    return { tree, start, end };
  }

  #choice(): PatternTree {
    if (++this.#depth > LIMITS.pattern.depth) throw new Unsupported();
    const options = [this.#sequence()];
    while (this.#eat('|')) options.push(this.#sequence());
    this.#depth--;
    const [only] = options;
    return options.length === 1 && only !== undefined ? only : { kind: 'choice', options };
  }

  #sequence(): PatternTree {
    const parts: PatternTree[] = [];
    for (let next = this.#peek(); next !== '' && next !== '|' && next !== ')' && next !== '$'; next = this.#peek()) {
      parts.push(this.#repeated(this.#atom()));
    }
    return { kind: 'sequence', parts };
  }

  #atom(): PatternTree {
    const next = this.#take();
    if (next === '(') return this.#group();
    if (next === '[') return { kind: 'char', set: this.#class() };
    if (next === '.') return { kind: 'char', set: ANY_BUT_LINE_END };
    if (next === '\\') return { kind: 'char', set: this.#escape() };
    if ('^*+?{}]'.includes(next)) throw new Unsupported();
    return { kind: 'char', set: one(next.charCodeAt(0)) };
  }

  #group(): PatternTree {
    if (this.#eat('?')) {
      if (!this.#eat(':')) throw new Unsupported();
    }
    const tree = this.#choice();
    if (!this.#eat(')')) throw new Unsupported();
    return tree;
  }

  #repeated(of: PatternTree): PatternTree {
    const bounds = this.#bounds();
    if (bounds === undefined) return of;
    this.#eat('?');
    if ('*+?{'.includes(this.#peek() || ' ')) throw new Unsupported();
    return { kind: 'repeat', of, min: bounds[0], max: bounds[1] };
  }

  #bounds(): readonly [number, number] | undefined {
    if (this.#eat('*')) return [0, Number.POSITIVE_INFINITY];
    if (this.#eat('+')) return [1, Number.POSITIVE_INFINITY];
    if (this.#eat('?')) return [0, 1];
    if (!this.#eat('{')) return undefined;
    const min = this.#number();
    let max = min;
    if (this.#eat(',')) max = this.#peek() === '}' ? Number.POSITIVE_INFINITY : this.#number();
    if (!this.#eat('}') || max < min) throw new Unsupported();
    return [min, max];
  }

  #number(): number {
    let digits = '';
    while (/[0-9]/.test(this.#peek())) digits += this.#take();
    if (digits === '' || digits.length > 6) throw new Unsupported();
    return Number(digits);
  }

  #class(): CharSet {
    const negated = this.#eat('^');
    const ranges: (readonly [number, number])[] = [];
    while (!this.#eat(']')) {
      const from = this.#classMember();
      if (this.#peek() === '-' && this.#source[this.#at + 1] !== ']') {
        this.#at++;
        const to = this.#classMember();
        const low = single(from);
        const high = single(to);
        if (low === undefined || high === undefined || low > high) throw new Unsupported();
        ranges.push([low, high]);
      } else {
        ranges.push(...from);
      }
    }
    const set = charSet(ranges);
    return negated ? complement(set) : set;
  }

  #classMember(): CharSet {
    const next = this.#take();
    if (next !== '\\') return one(next.charCodeAt(0));
    if (this.#eat('b')) return one(8);
    return this.#escape();
  }

  #escape(): CharSet {
    const next = this.#take();
    const known = CLASS_ESCAPES.get(next);
    if (known !== undefined) return known;
    const control = CONTROL.get(next);
    if (control !== undefined) return one(control);
    if (next === 'x') return one(this.#hex(2));
    if (next === 'u' && this.#peek() !== '{') return one(this.#hex(4));
    if (/[a-zA-Z0-9]/.test(next)) throw new Unsupported();
    return one(next.charCodeAt(0));
  }

  #hex(digits: number): number {
    const text = this.#source.slice(this.#at, this.#at + digits);
    if (text.length !== digits || !/^[0-9a-fA-F]+$/.test(text)) throw new Unsupported();
    this.#at += digits;
    return Number.parseInt(text, 16);
  }

  #peek(): string {
    return this.#source[this.#at] ?? '';
  }

  #eat(expected: string): boolean {
    if (this.#source[this.#at] !== expected) return false;
    this.#at++;
    return true;
  }

  #take(): string {
    const next = this.#source[this.#at++];
    if (next === undefined) throw new Unsupported();
    return next;
  }
}

const one = (code: number): CharSet => [[code, code]];

const single = (set: CharSet): number | undefined =>
  set.length === 1 && set[0]?.[0] === set[0]?.[1] ? set[0]?.[0] : undefined;
