/**
 * Rules as people write them in, a rule set that decides out. The only asynchronous step: it loads the regex engine,
 * and only when a rule holds a regular expression.
 * @module
 */
import { ConfigurationError } from '../errors.ts';
import type { RulePrecedence, ToolRule } from '../types.ts';
import { type CompiledRule, RuleSet } from './decide.ts';
import { compileGlob } from './glob.ts';
import {
  type CompiledPattern,
  compilePattern,
  isRegexPattern,
  matchesPatterns,
  type RegexCompiler,
} from './pattern.ts';

/** Compiles every pattern once. Throws one ConfigurationError that names all bad patterns with their place. */
export async function compileRules(
  rules: readonly ToolRule[],
  precedence: RulePrecedence = 'first-match',
): Promise<RuleSet> {
  const regexCompiler = rules.some((rule) => rule.pattern.some(isRegexPattern))
    ? (await import('./regex.ts')).compileRegex
    : undefined;
  const problems: string[] = [];
  const compiled = rules.map((rule, index) => compileRule(rule, index, regexCompiler, problems));
  if (problems.length > 0) {
    throw new ConfigurationError(`The tool rules cannot be used: ${problems.join('; ')}.`, problems);
  }
  return new RuleSet(compiled, precedence);
}

function compileRule(
  rule: ToolRule,
  index: number,
  regexCompiler: RegexCompiler | undefined,
  problems: string[],
): CompiledRule {
  const attempt = <T>(place: string, text: string, compile: () => T): T | undefined => {
    try {
      return compile();
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      problems.push(`toolRules[${index}].${place}: ${JSON.stringify(shorten(text))} ${error.message}`);
      return undefined;
    }
  };
  const { server } = rule;
  const matchesServer =
    server === undefined ? () => true : (attempt('server', server, () => compileGlob(server)) ?? (() => false));
  const patterns = rule.pattern
    .map((text, at) => attempt(`pattern[${at}]`, text, () => compilePattern(text, regexCompiler)))
    .filter((pattern): pattern is CompiledPattern => pattern !== undefined);
  return {
    index,
    enabled: rule.enabled,
    server,
    tags: rule.tags ?? [],
    patterns,
    matchesServer,
    matches: (onServer, tool) => matchesServer(onServer) && matchesPatterns(patterns, tool, onServer),
  };
}

const shorten = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text);
