/**
 * Compiles the rules of a configuration, with the user's own rules as floor, and with every name of its servers.
 * @module
 */
import type { RulePrecedence, ServerDefinition, ToolRule } from '../core/types.ts';
import { compileRules } from './compile-rules.ts';
import type { RuleSet, ServerNames } from './decide.ts';

/** The part of a configuration about tools. */
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

/** Compiles the rules of a configuration. */
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
 * Returns the further names of servers: in their own file, with and without their client.
 * @param strangers servers that share a name with another server: allowing rules for that name do not apply to them
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
