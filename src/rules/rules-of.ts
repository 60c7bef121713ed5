/**
 * Compiles the rules of a configuration, with the user's own rules as floor, and with every name of its servers.
 * @module
 */
import type { RulePrecedence, ServerDefinition, ToolRule } from '../core/types.ts';
import { isOfClasses, regexCompilerFor, ruleSetOf } from './compile-rules.ts';
import type { Classify, RuleSet, ServerNames } from './decide.ts';
import type { RegexCompiler } from './pattern.ts';

/** The part of a configuration about tools. */
interface ConfiguredRules {
  readonly servers: readonly Pick<ServerDefinition, 'name' | 'origin'>[];
  readonly toolRules: readonly ToolRule[];
  readonly rulePrecedence: RulePrecedence;
  readonly floorRules?:
    | {
        readonly toolRules: readonly ToolRule[];
        readonly rulePrecedence: RulePrecedence;
        readonly strangers: readonly string[];
      }
    | undefined;
}

/**
 * Compiles the rules of a configuration. `further` names sources beside its servers that have more than one name;
 * `classifier` loads inference, which rules about domains and categories need.
 */
export async function rulesOf(
  config: ConfiguredRules,
  further?: ReadonlyMap<string, ServerNames>,
  classifier?: () => Promise<Classify>,
): Promise<RuleSet> {
  const all = [...config.toolRules, ...(config.floorRules?.toolRules ?? [])];
  const classify = all.some(isOfClasses) ? await classifier?.() : undefined;
  return rulesWith(await regexCompilerFor(all), config, further, classify);
}

/** The same for a caller that has loaded the regex engine. Without it, throws for a rule that needs it. */
export function rulesWith(
  regexCompiler: RegexCompiler | undefined,
  { servers, toolRules, rulePrecedence, floorRules }: ConfiguredRules,
  further: ReadonlyMap<string, ServerNames> = new Map(),
  classify?: Classify,
): RuleSet {
  const compile = (
    rules: readonly ToolRule[],
    precedence: RulePrecedence,
    strangers?: readonly string[],
    floor?: RuleSet,
  ) => {
    const names = new Map([...namesOf(servers, strangers), ...further]);
    return ruleSetOf(rules, regexCompiler, precedence, floor, names, classify);
  };
  const floor = floorRules && compile(floorRules.toolRules, floorRules.rulePrecedence, floorRules.strangers);
  return compile(toolRules, rulePrecedence, undefined, floor);
}

/**
 * Returns the further names of servers: in their own file, with and without their client, and in the user's files.
 * @param strangers servers that share a name with another server: allowing rules for that name do not apply to them
 */
function namesOf(
  servers: ConfiguredRules['servers'],
  strangers: readonly string[] = [],
): ReadonlyMap<string, ServerNames> {
  return new Map(
    servers.flatMap(({ name, origin: { name: there = name, client, sameAs = [] } }): [string, ServerNames][] => {
      const all = [name, there, ...(client === undefined ? [] : [`${client}/${there}`]), ...sameAs];
      const others = [...new Set(all)].filter((other) => other !== name);
      if (strangers.includes(name)) return [[name, { own: `project/${name}`, others: [name, ...others] }]];
      return others.length === 0 ? [] : [[name, { others }]];
    }),
  );
}
