/**
 * One entry of a rule's `pattern` list: text in, a compiled pattern out.
 * @module
 */
import { ValidationError } from '../errors.ts';
import { compileGlob } from './glob.ts';

/** Builds a matcher for `/source/flags`; handed in, because the engine behind it is only loaded when a rule needs it. */
export type RegexCompiler = (source: string, flags: string) => (text: string) => boolean;

/** A pattern ready to be tried on tools. */
export interface CompiledPattern {
  /** As the author wrote it, `!` included. */
  readonly text: string;
  readonly negated: boolean;
  /** Whether the body, without its `!`, fits the tool. */
  test(tool: string, server?: string): boolean;
}

/** Compiles one pattern; throws ConfigurationError when it is invalid, ValidationError when the regex engine is missing. */
export function compilePattern(text: string, regexCompiler?: RegexCompiler): CompiledPattern {
  const negated = text.startsWith('!');
  const body = negated ? text.slice(1) : text;
  const regex = splitRegex(body);
  if (regex !== undefined) {
    if (regexCompiler === undefined) {
      throw new ValidationError(
        `The regular expression ${text} needs the regex engine: use await PatternMatcher.load().`,
      );
    }
    return { text, negated, test: regexCompiler(regex.source, regex.flags) };
  }
  const glob = compileGlob(body);
  // Only a glob that names a server may see one: `*read*` must not open every tool of a server called `spreadsheet`.
  if (!body.includes(':')) return { text, negated, test: (tool) => glob(tool) };
  return { text, negated, test: (tool, server) => glob(server === undefined ? tool : `${server}:${tool}`) };
}

/** Whether a pattern is written as a regular expression. */
export const isRegexPattern = (text: string): boolean =>
  splitRegex(text.startsWith('!') ? text.slice(1) : text) !== undefined;

function splitRegex(body: string): { source: string; flags: string } | undefined {
  const end = body.lastIndexOf('/');
  if (end < 1 || !body.startsWith('/')) return undefined;
  const flags = body.slice(end + 1);
  return /^[A-Za-z]*$/.test(flags) ? { source: body.slice(1, end), flags } : undefined;
}

/** At least one positive pattern fits, or there is none, and no negated one does; the order does not matter. */
export function matchesPatterns(patterns: readonly CompiledPattern[], tool: string, server?: string): boolean {
  let positives = 0;
  let matched = false;
  for (const pattern of patterns) {
    if (pattern.negated) {
      if (pattern.test(tool, server)) return false;
    } else {
      positives += 1;
      matched ||= pattern.test(tool, server);
    }
  }
  return matched || positives === 0;
}
