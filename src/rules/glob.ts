/**
 * Compiles a glob into a matcher: `*`, `?`, `[a-z]`, `[!a-z]`, `{a,b}`, and `\` to escape a character. Anchored and
 * case-sensitive; `*` matches any characters. It uses no RegExp, so the time is at most pattern × text.
 * @module
 */
import { ConfigurationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';

interface CharClass {
  readonly negated: boolean;
  /** First and last code point of each range. */
  readonly ranges: readonly (readonly [number, number])[];
}

/** One element of a pattern: a code point, any one character, any run of characters, or a set. */
type Atom = number | '?' | '*' | CharClass;
type Token = Atom | Brace;

interface Brace {
  readonly brace: '{' | '}' | ',';
}

/** Compiles a glob. Throws ConfigurationError if it is invalid. */
export function compileGlob(pattern: string): (text: string) => boolean {
  if (pattern.length > LIMITS.pattern.length) {
    throw new ConfigurationError(`is longer than ${LIMITS.pattern.length} characters`);
  }
  const matchers = expand(settleBraces(tokenize(Array.from(pattern)))).map(compileAtoms);
  const only = matchers.length === 1 ? matchers[0] : undefined;
  return only ?? ((text) => matchers.some((matcher) => matcher(text)));
}

/** Nearly all patterns are `x`, `x*`, `*x` or `*x*`; built-in string search is ten times faster for those. */
function compileAtoms(atoms: readonly Atom[]): (text: string) => boolean {
  const open = atoms[0] === '*';
  const openEnd = atoms.length > 1 && atoms.at(-1) === '*';
  const inner = atoms.slice(open ? 1 : 0, openEnd ? -1 : undefined);
  if (!inner.every((atom): atom is number => typeof atom === 'number')) return (text) => matches(atoms, text);
  const literal = inner.map((code) => String.fromCodePoint(code)).join('');
  if (open && openEnd) return (text) => text.includes(literal);
  if (open) return (text) => text.endsWith(literal);
  if (openEnd) return (text) => text.startsWith(literal);
  return (text) => text === literal;
}

const codeOf = (char: string | undefined): number => char?.codePointAt(0) ?? 0;
const isBrace = (token: Token): token is Brace => typeof token === 'object' && 'brace' in token;

function tokenize(chars: readonly string[]): Token[] {
  const tokens: Token[] = [];
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i] as string;
    if (char === '*' || char === '?') tokens.push(char);
    else if (char === '{' || char === '}' || char === ',') tokens.push({ brace: char });
    else if (char === '\\' && i + 1 < chars.length) tokens.push(codeOf(chars[++i]));
    else {
      const found = char === '[' ? readClass(chars, i) : undefined;
      tokens.push(found?.set ?? codeOf(char));
      i = found?.end ?? i;
    }
  }
  return tokens;
}

/** Reads the class that starts at `[`; undefined when it is not closed and the bracket is a literal. */
function readClass(chars: readonly string[], start: number): { set: CharClass; end: number } | undefined {
  const negated = chars[start + 1] === '!' || chars[start + 1] === '^';
  const first = start + (negated ? 2 : 1);
  const ranges: [number, number][] = [];
  let i = first;
  const member = (): number => codeOf(chars[i] === '\\' && i + 1 < chars.length ? chars[++i] : chars[i]);
  for (; i < chars.length; i++) {
    if (chars[i] === ']' && i > first) {
      if (ranges.some(([low, high]) => low > high)) throw new ConfigurationError('has a range that runs backwards');
      return { set: { negated, ranges }, end: i };
    }
    const low = member();
    let high = low;
    if (chars[i + 1] === '-' && i + 2 < chars.length && chars[i + 2] !== ']') {
      i += 2;
      high = member();
    }
    ranges.push([low, high]);
  }
  return undefined;
}

/** Turns braces and commas that do not form `{a,b}` back into literals, as shells do. */
function settleBraces(tokens: readonly Token[]): Token[] {
  const real = new Set<number>();
  const open: { at: number; commas: number[] }[] = [];
  tokens.forEach((token, at) => {
    if (!isBrace(token)) return;
    if (token.brace === '{') open.push({ at, commas: [] });
    else if (token.brace === ',') open.at(-1)?.commas.push(at);
    else {
      const group = open.pop();
      if (group === undefined || group.commas.length === 0) return;
      for (const index of [group.at, ...group.commas, at]) real.add(index);
    }
  });
  return tokens.map((token, at) => (isBrace(token) && !real.has(at) ? codeOf(token.brace) : token));
}

/** Expands every choice: `a{b,c}` becomes `ab` and `ac`. */
function expand(tokens: readonly Token[]): readonly (readonly Atom[])[] {
  let at = 0;
  const sequence = (depth: number): Atom[][] => {
    if (depth > LIMITS.pattern.depth)
      throw new ConfigurationError(`nests braces more than ${LIMITS.pattern.depth} deep`);
    const done: Atom[][] = [];
    let current: Atom[][] = [[]];
    for (; at < tokens.length; at++) {
      const token = tokens[at] as Token;
      if (!isBrace(token)) {
        for (const atoms of current) atoms.push(token);
      } else if (token.brace === '{') {
        at += 1;
        const choices = sequence(depth + 1);
        current = bounded(current.flatMap((head) => choices.map((tail) => [...head, ...tail])));
      } else if (token.brace === ',') {
        done.push(...current);
        current = [[]];
      } else break;
    }
    return bounded([...done, ...current]);
  };
  return sequence(0);
}

function bounded(alternatives: Atom[][]): Atom[][] {
  const length = alternatives.reduce((sum, atoms) => sum + atoms.length, 0);
  if (alternatives.length > LIMITS.pattern.alternatives || length > LIMITS.pattern.expanded) {
    throw new ConfigurationError(`stands for more than ${LIMITS.pattern.alternatives} alternatives; split it up`);
  }
  return alternatives;
}

function matches(atoms: readonly Atom[], text: string): boolean {
  let at = 0;
  let position = 0;
  let starAt = -1;
  let starPosition = 0;
  while (position < text.length) {
    const atom = atoms[at];
    const code = text.codePointAt(position) as number;
    if (atom === '*') {
      starAt = at++;
      starPosition = position;
    } else if (atom !== undefined && accepts(atom, code)) {
      at += 1;
      position += width(code);
    } else if (starAt >= 0) {
      // Only the last star needs to backtrack: it can absorb whatever an earlier one could give up.
      starPosition += width(text.codePointAt(starPosition) as number);
      position = starPosition;
      at = starAt + 1;
    } else return false;
  }
  while (atoms[at] === '*') at += 1;
  return at === atoms.length;
}

const width = (code: number): number => (code > 0xffff ? 2 : 1);

function accepts(atom: Exclude<Atom, '*'>, code: number): boolean {
  if (typeof atom === 'number') return atom === code;
  if (atom === '?') return true;
  return atom.ranges.some(([low, high]) => code >= low && code <= high) !== atom.negated;
}
