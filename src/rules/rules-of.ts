/**
 * A configuration in, its rule set out: with the rules of another hand that stand beside it, and with every name that its
 * servers are known by.
 * @module
 */
import type { RulePrecedence, ServerDefinition, ToolRule } from '../core/types.ts';
import { compileRules } from './compile-rules.ts';
import type { RuleSet, ServerNames } from './decide.ts';

/** What a configuration says of tools. */
export interface ConfiguredRules {
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

/** The rules of a configuration, compiled. */
export async function rulesOf({ servers, toolRules, rulePrecedence, floorRules }: ConfiguredRules): Promise<RuleSet> {
  const floor =
    floorRules &&
    (await compileRules(
      floorRules.toolRules,
      floorRules.rulePrecedence,
      undefined,
      namesOf(servers, floorRules.strangers),
    ));
  return compileRules(toolRules, rulePrecedence, floor, namesOf(servers));
}

/**
 * What servers are called beside the name they have here: in their own file, with their client and without.
 * @param strangers servers that have the name of another: an allow of that name is not meant for them
 */
function namesOf(
  servers: ConfiguredRules['servers'],
  strangers: readonly string[] = [],
): ReadonlyMap<string, ServerNames> {
  return new Map(
    servers.flatMap(({ name, origin: { name: there = name, client } }): [string, ServerNames][] => {
      const all = [name, there, ...(client === undefined ? [] : [`${client}/${there}`])];
      const others = [...new Set(all)].filter((other) => other !== name);
      if (strangers.includes(name)) return [[name, { own: `project/${name}`, others: [name, ...others] }]];
      return others.length === 0 ? [] : [[name, { others }]];
    }),
  );
}
