/**
 * Decides whether a tool of a server is enabled. Listing, searching, describing and executing all use it, so that
 * visible and callable tools are always the same.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { RulePrecedence } from '../core/types.ts';
import type { CompiledPattern } from './pattern.ts';

/** The decision about one tool. */
export interface Decision {
  readonly enabled: boolean;
  /** Tags of all matching rules, in order, each once. */
  readonly tags: readonly string[];
  /** Index of the deciding rule; absent when there is none. */
  readonly rule?: number | undefined;
  /** One plain sentence for people. */
  readonly reason: string;
}

/** A compiled rule. */
export interface CompiledRule {
  readonly index: number;
  readonly enabled: boolean | undefined;
  readonly server: string | undefined;
  readonly tags: readonly string[];
  readonly patterns: readonly CompiledPattern[];
  /** @param others other names of the server; only denying rules use them */
  matchesServer(server: string, others?: readonly string[]): boolean;
  matches(server: string, tool: string, others?: readonly string[]): boolean;
}

/** The names of a server in rules. */
export interface ServerNames {
  /** The name that an allowing rule must match. Default: its current name. */
  readonly own?: string | undefined;
  /**
   * A denying rule for one of these names also applies: the server's name in its own file, whatever its current name.
   */
  readonly others: readonly string[];
}

const NO_TAGS: readonly string[] = [];

/** The compiled rules of one configuration. Immutable; a reload builds a new set. */
export class RuleSet {
  readonly rules: readonly CompiledRule[];
  readonly precedence: RulePrecedence;
  /** True when some rule enables: a tool that no rule with `enabled` matches is then disabled. */
  readonly allowList: boolean;
  /** A second rule set, of the user's own configuration: a tool is enabled only if both enable it. */
  readonly floor: RuleSet | undefined;
  /** Servers that have more than one name. */
  readonly names: ReadonlyMap<string, ServerNames>;
  readonly #reasons: readonly string[];
  readonly #remembered = new Map<string, Map<string, Decision>>();
  #size = 0;

  /** Takes compiled rules; use `compileRules`. */
  constructor(
    rules: readonly CompiledRule[],
    precedence: RulePrecedence,
    floor?: RuleSet,
    names: ReadonlyMap<string, ServerNames> = new Map(),
  ) {
    this.rules = rules;
    this.names = names;
    this.floor = floor;
    this.precedence = precedence;
    this.allowList = rules.some((rule) => rule.enabled === true);
    this.#reasons = rules.map((rule) => `${rule.enabled ? 'Enabled' : 'Disabled'} by ${describeRule(rule)}.`);
  }

  /** The same rules for sources with further names. */
  withNames(names: ReadonlyMap<string, ServerNames>): RuleSet {
    if (names.size === 0) return this;
    return new RuleSet(this.rules, this.precedence, this.floor?.withNames(names), new Map([...this.names, ...names]));
  }

  /** Returns whether the tool may be seen and called, its tags, and why. Decisions are cached. */
  decide(server: string, tool: string): Decision {
    let tools = this.#remembered.get(server);
    const known = tools?.get(tool);
    if (known !== undefined) return known;
    const decision = this.#decide(server, tool);
    if (this.#size >= LIMITS.cache.decisions) {
      this.#remembered.clear();
      this.#size = 0;
      tools = undefined;
    }
    if (tools === undefined) {
      tools = new Map();
      this.#remembered.set(server, tools);
    }
    tools.set(tool, decision);
    this.#size += 1;
    return decision;
  }

  #decide(server: string, tool: string): Decision {
    const own = this.#decideAlone(server, tool);
    const below = this.floor?.decide(server, tool);
    if (below === undefined) return own;
    const tags = [...new Set([...own.tags, ...below.tags])];
    if (below.enabled || !own.enabled) return { ...own, tags };
    return { enabled: false, tags, reason: below.reason.replace(/\.$/, ', in your own configuration.') };
  }

  #decideAlone(server: string, tool: string): Decision {
    const { own = server, others } = this.names.get(server) ?? { others: [] };
    const matching = this.rules.filter((rule) => rule.matches(own, tool, others));
    const deciding = this.decidingRule(matching);
    const found = matching.flatMap((rule) => rule.tags);
    const tags = found.length === 0 ? NO_TAGS : [...new Set(found)];
    if (deciding?.enabled !== undefined) {
      const reason = this.#reasons[deciding.index] ?? '';
      return { enabled: deciding.enabled, tags, rule: deciding.index, reason };
    }
    return this.allowList
      ? { enabled: false, tags, reason: 'Disabled: no rule enables it, and rules that enable make an allow-list.' }
      : { enabled: true, tags, reason: 'Enabled: no rule disables it.' };
  }

  /** Returns the rule among the matching ones whose `enabled` counts. */
  decidingRule(matching: readonly CompiledRule[]): CompiledRule | undefined {
    const deny = this.precedence === 'deny-wins' ? matching.find((rule) => rule.enabled === false) : undefined;
    return deny ?? matching.find((rule) => rule.enabled !== undefined);
  }
}

/** Formats `rule 3 (*delete*, *remove* on server github)`, counted from 1 as `config show` does. */
export function describeRule(rule: CompiledRule): string {
  const shown = rule.patterns.slice(0, 3).map((pattern) => pattern.text);
  if (rule.patterns.length > shown.length) shown.push(`+${rule.patterns.length - shown.length} more`);
  const patterns = shown.join(', ') || 'every tool';
  return `rule ${rule.index + 1} (${patterns}${rule.server === undefined ? '' : ` on server ${rule.server}`})`;
}
