/**
 * Compiles rules into a rule set. This is the only asynchronous step: it imports the regex engine, and only if a rule
 * contains a regular expression.
 * @module
 */
import { ConfigurationError } from '../core/errors.ts';
import type { RulePrecedence, ToolRule } from '../core/types.ts';
import { type Classify, type CompiledRule, RuleSet, type ServerNames, type ToolClasses } from './decide.ts';
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
interface RuleProblem {
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
  classify?: Classify,
): Promise<RuleSet> {
  return ruleSetOf(rules, await regexCompilerFor(rules), precedence, floor, names, classify);
}

/** Tells whether a rule says what a tool has to be, beyond its name. */
export const isOfClasses = ({ domain, category, readOnly }: Partial<ToolRule>): boolean =>
  domain !== undefined || category !== undefined || readOnly !== undefined;

/** The same for a caller that has loaded the regex engine. Throws for rules that need `classify` and get none. */
export function ruleSetOf(
  rules: readonly ToolRule[],
  regexCompiler: RegexCompiler | undefined,
  precedence: RulePrecedence = 'first-match',
  floor?: RuleSet,
  names?: ReadonlyMap<string, ServerNames>,
  classify?: Classify,
): RuleSet {
  const { compiled, problems } = compileAll(rules, regexCompiler);
  if (problems.length > 0) {
    const texts = problems.map(({ path: [index, place, at], text }) => {
      return `toolRules[${index}].${place}${at === undefined ? '' : `[${at}]`}: ${text}`;
    });
    throw new ConfigurationError(`The tool rules cannot be used: ${texts.join('; ')}.`, texts);
  }
  if (classify === undefined && rules.some(isOfClasses))
    throw new ConfigurationError('Rules about domains, categories and readOnly need an engine.');
  return new RuleSet(compiled, precedence, floor, names, classify);
}

/** Returns the problems of rules as written. Values that are not rules at all are reported elsewhere. */
export async function ruleProblems(written: readonly unknown[]): Promise<readonly RuleProblem[]> {
  const rules = written.map((rule) => {
    const { pattern, server, domain, category } = Object(rule) as Partial<Record<keyof ToolRule, unknown>>;
    return {
      // Non-strings become `*`, so that the index of each pattern stays right.
      pattern: Array.isArray(pattern) ? pattern.map((text) => (typeof text === 'string' ? text : '*')) : [],
      server: typeof server === 'string' ? server : undefined,
      domain: typeof domain === 'string' ? domain : undefined,
      category: typeof category === 'string' ? category : undefined,
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
  const { server, enabled, exact, domain, category, readOnly, approve } = rule;
  const named = server === undefined ? undefined : attempt(['server'], server, () => compileName(server));
  const inGlob = (place: 'domain' | 'category', glob: string | undefined) => {
    const compiled = glob === undefined ? undefined : attempt([place], glob, () => compileName(glob));
    return (paths: readonly string[]): boolean =>
      glob === undefined || paths.flatMap(withParents).some((path) => compiled?.exact(path) === true);
  };
  const [ofDomain, ofCategory] = [inGlob('domain', domain), inGlob('category', category)];
  const isInClasses = ({ domains, categories, readOnly: isReadOnly }: ToolClasses): boolean =>
    ofDomain(domains) && ofCategory(categories) && (readOnly === undefined || readOnly === isReadOnly);
  const patterns = rule.pattern
    .map((text, at) => attempt(['pattern', at], text, () => compilePattern(text, regexCompiler)))
    .filter((pattern): pattern is CompiledPattern => pattern !== undefined);
  // A deny is read widely, and an allow to the letter.
  const isNamedAs =
    (allows: boolean | undefined) =>
    (name: string): boolean =>
      server === undefined || isServer(named, name, allows);
  const inAll = (allows: boolean | undefined, name: string, others: readonly string[]) =>
    allows === false && !exact ? [name, ...others] : [name];
  const matchesAs =
    (allows: boolean | undefined): CompiledRule['matches'] =>
    (onServer, tool, others = [], kind, classes) =>
      inAll(allows, onServer, others).some(
        (name) => isNamedAs(allows)(name) && matchesPatterns(patterns, tool, name, allows, kind),
      ) &&
      !(allows === true && others.some((name) => isException(patterns, tool, name, kind))) &&
      (!isOfClasses(rule) || (kind === undefined && classes !== undefined && isInClasses(classes())));
  const conditions = [
    domain !== undefined && `domain ${domain}`,
    category !== undefined && `category ${category}`,
    readOnly !== undefined && (readOnly ? 'read-only' : 'not read-only'),
  ].filter((text) => text !== false);
  return {
    index,
    enabled,
    server,
    tags: rule.tags ?? [],
    patterns,
    approve,
    ofClasses: conditions.length === 0 ? undefined : conditions.join(', '),
    matchesServer: (name, others = []) => inAll(enabled, name, others).some(isNamedAs(enabled)),
    matches: matchesAs(enabled),
    judges: matchesAs(approve !== false),
  };
}

/** `cloud.aws` is in `cloud`, too. */
const withParents = (path: string): string[] => path.split('.').map((_, at, parts) => parts.slice(0, at + 1).join('.'));

const shorten = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text);
