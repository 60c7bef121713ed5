/**
 * Tool name and patterns in, yes or no out: the matching of rules for callers who hold no compiled rule set.
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

  /** A matcher for globs alone, unless a regex compiler is handed in; `PatternMatcher.load()` does that for you. */
  constructor(regexCompiler?: RegexCompiler) {
    this.#regexCompiler = regexCompiler;
  }

  /** A matcher that understands regular expressions too; loads the engine for them. */
  static async load(): Promise<PatternMatcher> {
    const { compileRegex } = await import('./regex.ts');
    return new PatternMatcher(compileRegex);
  }

  /** Whether at least one positive pattern fits (or there is none) and no negated one does. */
  match(toolName: string, patterns: readonly string[]): boolean {
    return matchesPatterns(this.#compile(patterns), toolName, undefined, undefined);
  }

  /** Whether the rule speaks about this tool of this server; a glob with `:` is tried on `server:tool`. */
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
