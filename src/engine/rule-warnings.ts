/**
 * Which rules do not do what they seem to, for the tools that are known: a state in, warnings out.
 * @module
 */

import type { Logger, ToolRef } from '../core/types.ts';
import { type RuleWarning, reportRules } from '../rules/report.ts';
import type { EngineState } from './engine-state.ts';

/** Rules that are shadowed by others or match nothing. Connects to nothing; reads kept lists where it must. */
export async function ruleWarnings({ rules, servers, catalog }: EngineState): Promise<RuleWarning[]> {
  if (rules.rules.length === 0) return [];
  const known: ToolRef[] = [];
  for (const server of servers.keys()) {
    for (const tool of await catalog.toolNames(server)) known.push({ server, tool });
  }
  return reportRules(rules, known, { servers: servers.keys() });
}

/** Writes the warnings to the log. That a rule matches nothing is said only when every server has been seen. */
export async function logRuleWarnings(state: EngineState, logger: Logger): Promise<void> {
  const complete = state.discovery.unseen().length === 0;
  for (const { kind, rule, message } of await ruleWarnings(state)) {
    if (complete || kind === 'shadowed') logger.warn({ rule: rule + 1 }, message);
  }
}
