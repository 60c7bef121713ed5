/**
 * Matches tool names against patterns as the engine's rules do, for programs that have no configuration.
 * @module
 */
import { ValidationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { ToolRule } from '../core/types.ts';
import { isOfClasses } from './compile-rules.ts';
import { type CompiledPattern, compileName, compilePattern, isServer, matchesPatterns } from './pattern.ts';
import { compileRegex } from './regex.ts';

/**
 * Matches tool names against globs, `/regular expressions/` and `!negations`.
 *
 * @example
 * const matcher = new PatternMatcher();
 * matcher.match('github_create_issue', ['*github*', '!*delete*']); // true
 */
export class PatternMatcher {
  readonly #compiled = new Map<string, CompiledPattern>();

  /** Tells whether at least one positive pattern matches (or there is none) and no negated one does. */
  match(toolName: string, patterns: readonly string[]): boolean {
    return matchesPatterns(this.#compile(patterns), toolName, undefined, undefined);
  }

  /** Tells whether the rule applies to this tool of this server; a glob with `:` is matched against `server:tool`. */
  matchWithServer(toolName: string, serverName: string, rule: ToolRule): boolean {
    const { server, pattern, enabled } = rule;
    if (isOfClasses(rule)) throw new ValidationError('Rules about domains, categories and readOnly need an engine.');
    if (server !== undefined && !isServer(compileName(server), serverName, enabled)) return false;
    return matchesPatterns(this.#compile(pattern), toolName, serverName, enabled);
  }

  #compile(patterns: readonly string[]): CompiledPattern[] {
    return patterns.map((text) => {
      let pattern = this.#compiled.get(text);
      if (pattern === undefined) {
        pattern = compilePattern(text, compileRegex);
        if (this.#compiled.size >= LIMITS.pattern.compiled) this.#compiled.clear();
        this.#compiled.set(text, pattern);
      }
      return pattern;
    });
  }
}
