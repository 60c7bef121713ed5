/**
 * Matches tool names against patterns, for callers without a compiled rule set.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { ToolRule } from '../core/types.ts';
import {
  type CompiledPattern,
  compileName,
  compilePattern,
  isServer,
  matchesPatterns,
  type RegexCompiler,
} from './pattern.ts';

/**
 * Matches tool names against globs, `/regular expressions/` and `!negations`.
 *
 * @example
 * const matcher = await PatternMatcher.load();
 * matcher.match('github_create_issue', ['*github*', '!*delete*']); // true
 */
export class PatternMatcher {
  readonly #regexCompiler: RegexCompiler | undefined;
  readonly #compiled = new Map<string, CompiledPattern>();

  /** A matcher for globs only, unless a regex compiler is passed; `PatternMatcher.load()` passes it. */
  constructor(regexCompiler?: RegexCompiler) {
    this.#regexCompiler = regexCompiler;
  }

  /** Returns a matcher that also supports regular expressions; imports the regex engine. */
  static async load(): Promise<PatternMatcher> {
    const { compileRegex } = await import('./regex.ts');
    return new PatternMatcher(compileRegex);
  }

  /** Tells whether at least one positive pattern matches (or there is none) and no negated one does. */
  match(toolName: string, patterns: readonly string[]): boolean {
    return matchesPatterns(this.#compile(patterns), toolName, undefined, undefined);
  }

  /** Tells whether the rule applies to this tool of this server; a glob with `:` is matched against `server:tool`. */
  matchWithServer(toolName: string, serverName: string, rule: ToolRule): boolean {
    const { server, pattern, enabled } = rule;
    if (server !== undefined && !isServer(compileName(server), serverName, enabled)) return false;
    return matchesPatterns(this.#compile(pattern), toolName, serverName, enabled);
  }

  #compile(patterns: readonly string[]): CompiledPattern[] {
    return patterns.map((text) => {
      let pattern = this.#compiled.get(text);
      if (pattern === undefined) {
        pattern = compilePattern(text, this.#regexCompiler);
        if (this.#compiled.size >= LIMITS.pattern.compiled) this.#compiled.clear();
        this.#compiled.set(text, pattern);
      }
      return pattern;
    });
  }
}
