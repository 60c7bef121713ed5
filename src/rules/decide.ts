/**
 * Decides whether a tool, a resource or a prompt of a server is enabled. Listing, searching, describing and executing all use it, so that
 * visible and callable tools are always the same.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { ItemKind, RulePrecedence } from '../core/types.ts';
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
  /** @param kind what `tool` names, if not a tool */
  matches(server: string, tool: string, others?: readonly string[], kind?: ItemKind): boolean;
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
    this.#reasons = rules.map((rule) => `${rule.enabled ? 'Enabled' : 'Disabled'} by ${describeRule(rule)}.`);
  }

  /** The same rules for sources with further names. */
  withNames(names: ReadonlyMap<string, ServerNames>): RuleSet {
    if (names.size === 0) return this;
    return new RuleSet(this.rules, this.precedence, this.floor?.withNames(names), new Map([...this.names, ...names]));
  }

  /**
   * Returns whether the tool may be seen and called, its tags, and why. With a kind, it is the resource of that URI or
   * the prompt of that name. Decisions are cached.
   */
  decide(server: string, tool: string, kind?: ItemKind): Decision {
    const key = kind === undefined ? tool : `${kind}\u0000${tool}`;
    let tools = this.#remembered.get(server);
    const known = tools?.get(key);
    if (known !== undefined) return known;
    const decision = this.#decide(server, tool, kind);
    if (this.#size >= LIMITS.cache.decisions) {
      this.#remembered.clear();
      this.#size = 0;
      tools = undefined;
    }
    if (tools === undefined) {
      tools = new Map();
      this.#remembered.set(server, tools);
    }
    tools.set(key, decision);
    this.#size += 1;
    return decision;
  }

  #decide(server: string, tool: string, kind: ItemKind | undefined): Decision {
    const own = this.#decideAlone(server, tool, kind);
    const below = this.floor?.decide(server, tool, kind);
    if (below === undefined) return own;
    const tags = [...new Set([...own.tags, ...below.tags])];
    if (below.enabled || !own.enabled) return { ...own, tags };
    return { enabled: false, tags, reason: below.reason.replace(/\.$/, ', in your own configuration.') };
  }

  #decideAlone(server: string, tool: string, kind: ItemKind | undefined): Decision {
    const { own = server, others } = this.names.get(server) ?? { others: [] };
    const matching = this.rules.filter((rule) => rule.matches(own, tool, others, kind));
    const deciding = this.decidingRule(matching);
    const found = matching.flatMap((rule) => rule.tags);
    const tags = found.length === 0 ? NO_TAGS : [...new Set(found)];
    if (deciding?.enabled !== undefined) {
      const reason = this.#reasons[deciding.index] ?? '';
      return { enabled: deciding.enabled, tags, rule: deciding.index, reason };
    }
    return this.rules.some((rule) => rule.enabled === true && concerns(rule, kind))
      ? { enabled: false, tags, reason: 'Disabled: no rule enables it, and rules that enable make an allow-list.' }
      : { enabled: true, tags, reason: 'Enabled: no rule disables it.' };
  }

  /** Returns the rule among the matching ones whose `enabled` counts. */
  decidingRule(matching: readonly CompiledRule[]): CompiledRule | undefined {
    const deny = this.precedence === 'deny-wins' ? matching.find((rule) => rule.enabled === false) : undefined;
    return deny ?? matching.find((rule) => rule.enabled !== undefined);
  }
}

/**
 * Tells whether a rule that enables makes an allow-list of this kind: what no rule with `enabled` matches is then
 * disabled. A rule about tools makes one of resources and prompts too, a rule about resources only one of resources.
 */
const concerns = ({ patterns }: CompiledRule, kind: ItemKind | undefined): boolean => {
  const kinds = patterns.flatMap((pattern) => (pattern.negated ? [] : [pattern.kind]));
  return kinds.length === 0 || kinds.some((one) => one === undefined || one === kind);
};

/** Formats `rule 3 (*delete*, *remove* on server github)`, counted from 1 as `config show` does. */
export function describeRule(rule: CompiledRule): string {
  const shown = rule.patterns.slice(0, 3).map((pattern) => pattern.text);
  if (rule.patterns.length > shown.length) shown.push(`+${rule.patterns.length - shown.length} more`);
  const patterns = shown.join(', ') || 'every tool';
  return `rule ${rule.index + 1} (${patterns}${rule.server === undefined ? '' : ` on server ${rule.server}`})`;
}
