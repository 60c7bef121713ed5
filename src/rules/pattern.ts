/**
 * One entry of a rule's `pattern` list: text in, a compiled pattern out.
 * @module
 */
import { ValidationError } from '../core/errors.ts';
import { plainName } from '../text/plain-text.ts';
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
  /** Whether it fits the tool in any reading: for what forbids. A name that only looks like another counts as that one. */
  couldMean(tool: string, server?: string): boolean;
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
    const test = regexCompiler(regex.source, regex.flags);
    return {
      text,
      negated,
      test: (tool) => test(composed(tool)),
      couldMean: (tool) => readingsOf(tool).some(test),
    };
  }
  const { exact, alike } = compileName(body);
  // Only a glob that names a server may see one: `*read*` must not open every tool of a server called `spreadsheet`.
  if (!body.includes(':')) {
    return { text, negated, test: (tool) => exact(composed(tool)), couldMean: (tool) => readingsOf(tool).some(alike) };
  }
  return {
    text,
    negated,
    test: (tool, server) => exact(composed(server === undefined ? tool : `${server}:${tool}`)),
    // A tool's own name may have a colon, too.
    couldMean: (tool, server) =>
      readingsOf(tool).some(
        (name) => alike(name) || (server !== undefined && readingsOf(server).some((own) => alike(`${own}:${name}`))),
      ),
  };
}

/** A glob for names of servers or tools: to the letter, and for names that look like what was written. */
export function compileName(glob: string): {
  readonly exact: (name: string) => boolean;
  readonly alike: (name: string) => boolean;
} {
  const written = composed(glob);
  const exact = compileGlob(written);
  const plain = plainName(written);
  // A full-width asterisk is a letter of a name, not a wildcard.
  if (plain === written || wildcards(plain) !== wildcards(written)) return { exact, alike: exact };
  const asPlain = compileGlob(plain);
  return { exact, alike: (name) => exact(name) || asPlain(name) };
}

const wildcards = (glob: string): string => glob.replace(/[^*?[\]{},!\\]/g, '');

/** The same letters may be written in two ways: names and rules compare in one of them. */
const composed = (name: string): string => name.normalize('NFC');

/** A name as it is written, and as a reader takes it. */
export function readingsOf(name: string): string[] {
  const [written, plain] = [composed(name), plainName(name)];
  return written === plain ? [written] : [written, plain];
}

/** Whether a rule's `server` means a server; where the rule forbids, also one that only looks like it. */
export const isServer = (
  named: ReturnType<typeof compileName> | undefined,
  server: string,
  enabled: boolean | undefined,
): boolean =>
  named !== undefined &&
  (enabled === false ? readingsOf(server).some(named.alike) : named.exact(server.normalize('NFC')));

/** Whether a pattern is written as a regular expression. */
export const isRegexPattern = (text: string): boolean =>
  splitRegex(text.startsWith('!') ? text.slice(1) : text) !== undefined;

function splitRegex(body: string): { source: string; flags: string } | undefined {
  const end = body.lastIndexOf('/');
  if (end < 1 || !body.startsWith('/')) return undefined;
  const flags = body.slice(end + 1);
  return /^[A-Za-z]*$/.test(flags) ? { source: body.slice(1, end), flags } : undefined;
}

/** Whether an exception of a rule that allows could mean the tool. */
export const isException = (patterns: readonly CompiledPattern[], tool: string, server: string): boolean =>
  patterns.some((pattern) => pattern.negated && pattern.couldMean(tool, server));

/**
 * At least one positive pattern fits, or there is none, and no negated one does; the order does not matter. Where a rule
 * forbids, a pattern counts if it could mean the tool; where it allows, an exception does.
 */
export function matchesPatterns(
  patterns: readonly CompiledPattern[],
  tool: string,
  server: string | undefined,
  enabled: boolean | undefined,
): boolean {
  let positives = 0;
  let matched = false;
  for (const pattern of patterns) {
    if (pattern.negated) {
      if (enabled === true ? pattern.couldMean(tool, server) : pattern.test(tool, server)) return false;
    } else {
      positives += 1;
      matched ||= enabled === false ? pattern.couldMean(tool, server) : pattern.test(tool, server);
    }
  }
  return matched || positives === 0;
}
