/**
 * Server and tool in, decision out. Listing, searching, describing and executing all ask here, so that what is seen
 * and what may be called cannot drift apart.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { RulePrecedence } from '../core/types.ts';
import type { CompiledPattern } from './pattern.ts';

/** What the rules say about one tool. */
export interface Decision {
  readonly enabled: boolean;
  /** From all rules that match, in their order, each once. */
  readonly tags: readonly string[];
  /** Index of the rule that decided; absent when none did. */
  readonly rule?: number | undefined;
  /** One plain sentence for people. */
  readonly reason: string;
}

/** A rule ready to be tried on tools. */
export interface CompiledRule {
  readonly index: number;
  readonly enabled: boolean | undefined;
  readonly server: string | undefined;
  readonly tags: readonly string[];
  readonly patterns: readonly CompiledPattern[];
  /** @param others what else the server is called; only what forbids looks at it */
  matchesServer(server: string, others?: readonly string[]): boolean;
  matches(server: string, tool: string, others?: readonly string[]): boolean;
}

/** What a server is called by whoever wrote the rules. */
export interface ServerNames {
  /** What an allow has to say. Default: the name it has here. */
  readonly own?: string | undefined;
  /** A deny of one of these is meant for it, too: the name in its own file, whatever it is called here. */
  readonly others: readonly string[];
}

const NO_TAGS: readonly string[] = [];

/** The compiled rules of one configuration. Immutable; a reload builds a new one. */
export class RuleSet {
  readonly rules: readonly CompiledRule[];
  readonly precedence: RulePrecedence;
  /** True when some rule enables: what no rule with `enabled` matches is then disabled. */
  readonly allowList: boolean;
  /** Rules of another hand that stand beside these: a tool is on only where both say so. */
  readonly floor: RuleSet | undefined;
  /** Of servers that are known by more than the name they have here. */
  readonly names: ReadonlyMap<string, ServerNames>;
  readonly #reasons: readonly string[];
  readonly #remembered = new Map<string, Map<string, Decision>>();
  #size = 0;

  /** Takes rules that are compiled already; use `compileRules`. */
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

  /** Whether the tool may be seen and called, its tags, and why. Asking again costs two map look-ups. */
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

  /** Of the rules that match a tool, in order, the one whose `enabled` counts. */
  decidingRule(matching: readonly CompiledRule[]): CompiledRule | undefined {
    const deny = this.precedence === 'deny-wins' ? matching.find((rule) => rule.enabled === false) : undefined;
    return deny ?? matching.find((rule) => rule.enabled !== undefined);
  }
}

/** `rule 3 (*delete*, *remove* on server github)`, counted from 1 as `config show` does. */
export function describeRule(rule: CompiledRule): string {
  const shown = rule.patterns.slice(0, 3).map((pattern) => pattern.text);
  if (rule.patterns.length > shown.length) shown.push(`+${rule.patterns.length - shown.length} more`);
  const patterns = shown.join(', ') || 'every tool';
  return `rule ${rule.index + 1} (${patterns}${rule.server === undefined ? '' : ` on server ${rule.server}`})`;
}
