/**
 * Reports rules that have no effect on the tools known so far.
 * @module
 */

import type { Logger } from '../core/types.ts';
import { type KnownRef, type RuleWarning, reportRules } from '../rules/report.ts';
import type { EngineState } from './engine-state.ts';

/** Rules that are shadowed by others or match nothing. Contacts no server; reads cached lists if necessary. */
export async function ruleWarnings({ rules, servers, catalog }: EngineState): Promise<RuleWarning[]> {
  if (rules.rules.length === 0) return [];
  const known: KnownRef[] = [];
  for (const server of servers.keys()) {
    known.push(...(await catalog.names(server)));
  }
  return reportRules(rules, known, { servers: servers.keys() });
}

/** Logs the warnings. A rule that matches nothing is reported only after every server has been listed. */
export async function logRuleWarnings(state: EngineState, logger: Logger): Promise<void> {
  const complete = state.discovery.unseen().length === 0;
  for (const { kind, rule, message } of await ruleWarnings(state)) {
    if (complete || kind === 'shadowed') logger.warn({ rule: rule + 1 }, message);
  }
}
