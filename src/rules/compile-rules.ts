/**
 * Compiles rules into a rule set. This is the only asynchronous step: it imports the regex engine, and only if a rule
 * contains a regular expression.
 * @module
 */
import { ConfigurationError } from '../core/errors.ts';
import type { RulePrecedence, ToolRule } from '../core/types.ts';
import { type CompiledRule, RuleSet, type ServerNames } from './decide.ts';
import {
  type CompiledPattern,
  compileName,
  compilePattern,
  isException,
  isRegexPattern,
  isServer,
  matchesPatterns,
  type RegexCompiler,
} from './pattern.ts';

/** What is wrong with a rule, and where: `[0, 'pattern', 1]`. */
export interface RuleProblem {
  readonly path: readonly (string | number)[];
  readonly text: string;
}

/**
 * Compiles every pattern once. Throws one ConfigurationError that names all invalid patterns with their place.
 * @param floor rules that a tool must also pass
 * @param names servers that have more than one name
 */
export async function compileRules(
  rules: readonly ToolRule[],
  precedence: RulePrecedence = 'first-match',
  floor?: RuleSet,
  names?: ReadonlyMap<string, ServerNames>,
): Promise<RuleSet> {
  return ruleSetOf(rules, await regexCompilerFor(rules), precedence, floor, names);
}

/** The same for a caller that has loaded the regex engine. */
export function ruleSetOf(
  rules: readonly ToolRule[],
  regexCompiler: RegexCompiler | undefined,
  precedence: RulePrecedence = 'first-match',
  floor?: RuleSet,
  names?: ReadonlyMap<string, ServerNames>,
): RuleSet {
  const { compiled, problems } = compileAll(rules, regexCompiler);
  if (problems.length > 0) {
    const texts = problems.map(({ path: [index, place, at], text }) => {
      return `toolRules[${index}].${place}${at === undefined ? '' : `[${at}]`}: ${text}`;
    });
    throw new ConfigurationError(`The tool rules cannot be used: ${texts.join('; ')}.`, texts);
  }
  return new RuleSet(compiled, precedence, floor, names);
}

/** Returns the problems of rules as written. Values that are not rules at all are reported elsewhere. */
export async function ruleProblems(written: readonly unknown[]): Promise<readonly RuleProblem[]> {
  const rules = written.map((rule) => {
    const { pattern, server } = Object(rule) as Partial<Record<keyof ToolRule, unknown>>;
    return {
      // Non-strings become `*`, so that the index of each pattern stays right.
      pattern: Array.isArray(pattern) ? pattern.map((text) => (typeof text === 'string' ? text : '*')) : [],
      server: typeof server === 'string' ? server : undefined,
    };
  });
  return compileAll(rules, await regexCompilerFor(rules)).problems;
}

/** Loads the regex engine if a rule needs it. */
export const regexCompilerFor = async (rules: readonly ToolRule[]): Promise<RegexCompiler | undefined> =>
  rules.some((rule) => rule.pattern.some(isRegexPattern)) ? (await import('./regex.ts')).compileRegex : undefined;

function compileAll(rules: readonly ToolRule[], regexCompiler: RegexCompiler | undefined) {
  const problems: RuleProblem[] = [];
  const compiled = rules.map((rule, index) => compileRule(rule, index, regexCompiler, problems));
  return { compiled, problems };
}

function compileRule(
  rule: ToolRule,
  index: number,
  regexCompiler: RegexCompiler | undefined,
  problems: RuleProblem[],
): CompiledRule {
  const attempt = <T>(place: RuleProblem['path'], text: string, compile: () => T): T | undefined => {
    try {
      return compile();
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      problems.push({ path: [index, ...place], text: `${JSON.stringify(shorten(text))} ${error.message}` });
      return undefined;
    }
  };
  const { server, enabled, exact } = rule;
  const named = server === undefined ? undefined : attempt(['server'], server, () => compileName(server));
  const isNamed = (name: string): boolean => server === undefined || isServer(named, name, enabled);
  const inAll = (name: string, others: readonly string[]) => (enabled === false && !exact ? [name, ...others] : [name]);
  const patterns = rule.pattern
    .map((text, at) => attempt(['pattern', at], text, () => compilePattern(text, regexCompiler)))
    .filter((pattern): pattern is CompiledPattern => pattern !== undefined);
  return {
    index,
    enabled,
    server,
    tags: rule.tags ?? [],
    patterns,
    matchesServer: (name, others = []) => inAll(name, others).some(isNamed),
    matches: (onServer, tool, others = [], kind) =>
      inAll(onServer, others).some((name) => isNamed(name) && matchesPatterns(patterns, tool, name, enabled, kind)) &&
      !(enabled === true && others.some((name) => isException(patterns, tool, name, kind))),
  };
}

const shorten = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text);
