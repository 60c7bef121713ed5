/**
 * Compiles one entry of a rule's `pattern` list.
 * @module
 */
import { ValidationError } from '../core/errors.ts';
import { plainName } from '../text/plain-text.ts';
import { compileGlob } from './glob.ts';

/** Builds a matcher for `/source/flags`. It is passed in, because the engine is imported only when a rule needs it. */
export type RegexCompiler = (source: string, flags: string) => (text: string) => boolean;

export interface CompiledPattern {
  /** As written, including `!`. */
  readonly text: string;
  readonly negated: boolean;
  /** Tells whether the pattern without its `!` matches the tool. */
  test(tool: string, server?: string): boolean;
  /**
   * Tells whether the pattern matches the tool in any reading, for denying rules: a look-alike name counts as the
   * original.
   */
  couldMean(tool: string, server?: string): boolean;
}

/**
 * Compiles one pattern. Throws ConfigurationError when it is invalid, ValidationError when the regex engine is missing.
 */
export function compilePattern(text: string, regexCompiler?: RegexCompiler): CompiledPattern {
  const negated = text.startsWith('!');
  const body = negated ? text.slice(1) : text;
  const regex = splitRegex(body);
  if (regex !== undefined) {
    if (regexCompiler === undefined) {
      throw new ValidationError(`The regular expression ${text} needs the regex engine.`);
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
  // Only a glob with a colon is matched against the server: `*read*` must not allow every tool of a server named
  // `spreadsheet`.
  if (!body.includes(':')) {
    return { text, negated, test: (tool) => exact(composed(tool)), couldMean: (tool) => readingsOf(tool).some(alike) };
  }
  return {
    text,
    negated,
    test: (tool, server) => exact(composed(server === undefined ? tool : `${server}:${tool}`)),
    // A tool's own name may contain a colon.
    couldMean: (tool, server) =>
      readingsOf(tool).some(
        (name) => alike(name) || (server !== undefined && readingsOf(server).some((own) => alike(`${own}:${name}`))),
      ),
  };
}

/** Compiles a glob for server or tool names: exact, and for look-alikes of the written name. */
export function compileName(glob: string): {
  readonly exact: (name: string) => boolean;
  readonly alike: (name: string) => boolean;
} {
  const written = composed(glob);
  const exact = compileGlob(written);
  const plain = plainName(written);
  // A full-width asterisk is a character of a name, not a wildcard.
  if (plain === written || wildcards(plain) !== wildcards(written)) return { exact, alike: exact };
  const asPlain = compileGlob(plain);
  return { exact, alike: (name) => exact(name) || asPlain(name) };
}

const wildcards = (glob: string): string => glob.replace(/[^*?[\]{},!\\]/g, '');

/** Normalises Unicode, so that names and rules compare equal. */
const composed = (name: string): string => name.normalize('NFC');

/** Returns a name as written, and as a reader would take it. */
function readingsOf(name: string): string[] {
  const [written, plain] = [composed(name), plainName(name)];
  return written === plain ? [written] : [written, plain];
}

/** Tells whether a rule's `server` matches a server; for a denying rule, also a look-alike. */
export const isServer = (
  named: ReturnType<typeof compileName> | undefined,
  server: string,
  enabled: boolean | undefined,
): boolean =>
  named !== undefined &&
  (enabled === false ? readingsOf(server).some(named.alike) : named.exact(server.normalize('NFC')));

/** Tells whether a pattern is a regular expression. */
export const isRegexPattern = (text: string): boolean =>
  splitRegex(text.startsWith('!') ? text.slice(1) : text) !== undefined;

function splitRegex(body: string): { source: string; flags: string } | undefined {
  const end = body.lastIndexOf('/');
  if (end < 1 || !body.startsWith('/')) return undefined;
  const flags = body.slice(end + 1);
  return /^[A-Za-z]*$/.test(flags) ? { source: body.slice(1, end), flags } : undefined;
}

/** Tells whether an exception of an allowing rule could mean the tool. */
export const isException = (patterns: readonly CompiledPattern[], tool: string, server: string): boolean =>
  patterns.some((pattern) => pattern.negated && pattern.couldMean(tool, server));

/**
 * Tells whether at least one positive pattern matches, or there is none, and no negated one matches; the order does not
 * matter. In a denying rule, a positive pattern counts if it could mean the tool. In an allowing rule, a negated
 * pattern counts if it could mean the tool.
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
