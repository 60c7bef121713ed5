/**
 * Reviews a rule set against the known tools: warns about rules that another rule overrides, and rules and patterns
 * that match nothing. Each warning names the tools and what to change.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { ItemKind, ToolDefinition, ToolRef } from '../core/types.ts';
import { type CompiledRule, describeRule, type RuleSet } from './decide.ts';
import type { CompiledPattern } from './pattern.ts';

/** A rule that is probably not what its author meant. */
export interface RuleWarning {
  readonly kind: 'shadowed' | 'unused-rule' | 'unused-pattern';
  /** Index of the rule. */
  readonly rule: number;
  /** For `shadowed`: index of the winning rule. */
  readonly by?: number | undefined;
  /** For `unused-pattern`: the pattern as written. */
  readonly pattern?: string | undefined;
  /** The first affected tools, at most five. */
  readonly tools: readonly ToolRef[];
  /** How many tools are affected. */
  readonly toolCount: number;
  /** Two or three plain sentences. */
  readonly message: string;
}

export interface ReportOptions {
  /** All configured servers. A rule about a server without known tools is then not reported as unused. */
  readonly servers?: Iterable<string> | undefined;
}

/** A tool, or the resource or prompt that `tool` names. */
export type KnownRef = ToolRef & {
  readonly kind?: ItemKind | undefined;
  /** Of a tool: what it is may decide which rules match. */
  readonly definition?: ToolDefinition | undefined;
};

/** Reviews the rules against the tools that are known; warnings come in the order of the rules. */
export function reportRules(ruleSet: RuleSet, tools: Iterable<KnownRef>, options: ReportOptions = {}): RuleWarning[] {
  const review = new Review(ruleSet);
  for (const ref of tools) review.add(ref);
  return review.warnings(options);
}

class Review {
  readonly #rules: RuleSet;
  readonly #seenServers = new Set<string>();
  #toolCount = 0;
  readonly #matched: number[];
  /** Patterns that have matched no tool so far, by rule; shrinks fast. */
  readonly #unused: Set<CompiledPattern>[];
  /** Loser → winner → tools. */
  readonly #overruled = new Map<CompiledRule, Map<CompiledRule, { tools: ToolRef[]; count: number }>>();

  constructor(ruleSet: RuleSet) {
    this.#rules = ruleSet;
    this.#matched = ruleSet.rules.map(() => 0);
    this.#unused = ruleSet.rules.map((rule) => new Set(rule.patterns));
  }

  add({ server, tool, kind, definition }: KnownRef): void {
    this.#toolCount += 1;
    this.#seenServers.add(server);
    const matching: CompiledRule[] = [];
    const others = this.#rules.names.get(server)?.others ?? [];
    const classes = this.#rules.classesOf(server, tool, definition);
    for (const rule of this.#rules.rules) {
      if (!rule.matchesServer(server, others)) continue;
      const unused = this.#unused[rule.index];
      for (const pattern of unused ?? [])
        if ([server, ...others].some((name) => pattern.couldMean(tool, name, kind))) unused?.delete(pattern);
      if (!rule.matches(server, tool, others, kind, classes)) continue;
      matching.push(rule);
      this.#matched[rule.index] = (this.#matched[rule.index] ?? 0) + 1;
    }
    const winner = this.#rules.decidingRule(matching);
    for (const loser of matching) {
      if (winner === undefined || loser.enabled === undefined || loser.enabled === winner.enabled) continue;
      const byWinner = this.#overruled.get(loser) ?? new Map();
      const entry = byWinner.get(winner) ?? { tools: [], count: 0 };
      entry.count += 1;
      if (entry.tools.length < LIMITS.shown.named) entry.tools.push({ server, tool });
      this.#overruled.set(loser, byWinner.set(winner, entry));
    }
  }

  warnings(options: ReportOptions): RuleWarning[] {
    if (this.#toolCount === 0) return [];
    return this.#rules.rules.flatMap((rule) => [...this.#shadowed(rule), ...this.#useless(rule, options)]);
  }

  #shadowed(rule: CompiledRule): RuleWarning[] {
    const byWinner = [...(this.#overruled.get(rule) ?? [])];
    const lost = byWinner.reduce((sum, [, { count }]) => sum + count, 0);
    const whole = lost === this.#matched[rule.index];
    // Denied exceptions above a wider allow are normal: only a rule without any effect is reported.
    if (rule.enabled === true && !whole) return [];
    return byWinner.map(([winner, { tools, count }]) => {
      const more = count > tools.length ? ` and ${count - tools.length} more` : '';
      const names = `${tools.map(({ server, tool }) => `${server}:${tool}`).join(', ')}${more}`;
      const clash = `${capital(describeRule(rule))} should ${verb(rule)} ${names}, but ${describeRule(winner)} ${verb(winner)}s ${count === 1 ? 'it' : 'them'}`;
      const effect = whole ? ' The rule has no effect.' : '';
      const message = `${clash}${this.#whyAndFix(rule, winner, effect)}`;
      return { kind: 'shadowed', rule: rule.index, by: winner.index, tools, toolCount: count, message };
    });
  }

  #whyAndFix(rule: CompiledRule, winner: CompiledRule, effect: string): string {
    if (this.#rules.precedence === 'deny-wins') {
      return ` and a deny wins.${effect} Narrow rule ${winner.index + 1}, or remove rule ${rule.index + 1}.`;
    }
    const move = `Move rule ${rule.index + 1} above rule ${winner.index + 1}`;
    const other = rule.enabled === false ? `set rulePrecedence: 'deny-wins'` : `remove it`;
    return ` first.${effect} ${move}, or ${other}.`;
  }

  #useless(rule: CompiledRule, { servers }: ReportOptions): RuleWarning[] {
    const base = { rule: rule.index, tools: [], toolCount: 0 } as const;
    const none = `matches none of the ${this.#toolCount} tools known so far. Check the spelling (case counts)`;
    const means = (name: string) => rule.matchesServer(name, this.#rules.names.get(name)?.others);
    if (![...this.#seenServers].some(means)) {
      for (const name of servers ?? []) if (means(name)) return [];
      const message = `${capital(describeRule(rule))} does nothing: no such server is known. Check its name, or remove the rule.`;
      return [{ ...base, kind: 'unused-rule', message }];
    }
    if (this.#matched[rule.index] === 0) {
      return [{ ...base, kind: 'unused-rule', message: `${capital(describeRule(rule))} ${none}, or remove the rule.` }];
    }
    return [...(this.#unused[rule.index] ?? [])].map((pattern) => ({
      ...base,
      kind: 'unused-pattern',
      pattern: pattern.text,
      message: `Pattern ${pattern.text} of ${describeRule(rule)} ${none}, or remove the pattern.`,
    }));
  }
}

const verb = (rule: CompiledRule): string => (rule.enabled ? 'enable' : 'disable');
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
