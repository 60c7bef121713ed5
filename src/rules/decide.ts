/**
 * Decides whether a tool, a resource or a prompt of a server is enabled. Listing, searching, describing and executing all use it, so that
 * visible and callable tools are always the same.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { ItemKind, RulePrecedence, ToolDefinition } from '../core/types.ts';
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
  /** The rule that approves new and changed definitions; absent when there is none. */
  readonly approve?: RuleApproval | undefined;
}

/** The word of a rule on definitions that no person has approved. */
interface RuleApproval {
  /** The rule, as text. */
  readonly rule: string;
  /** Whether it also approves what the scanner reports. */
  readonly always: boolean;
}

/** What a tool is about, what it does, and whether a trusted server says that it only reads. */
export interface ToolClasses {
  readonly domains: readonly string[];
  readonly categories: readonly string[];
  readonly readOnly: boolean;
}

/** Classifies a tool. Passed in, because inference is loaded only for rules that need it. */
export type Classify = (server: string, tool: ToolDefinition) => ToolClasses;

export interface CompiledRule {
  readonly index: number;
  readonly enabled: boolean | undefined;
  readonly server: string | undefined;
  readonly tags: readonly string[];
  readonly patterns: readonly CompiledPattern[];
  readonly approve: boolean | 'always' | undefined;
  /** What it says of the tool's classes, as text; undefined: nothing. Such a rule is about tools only. */
  readonly ofClasses: string | undefined;
  /** @param others other names of the server; only denying rules use them */
  matchesServer(server: string, others?: readonly string[]): boolean;
  /**
   * @param kind what `tool` names, if not a tool
   * @param classes what the tool is; needed only by a rule with `ofClasses`
   */
  matches(
    server: string,
    tool: string,
    others?: readonly string[],
    kind?: ItemKind,
    classes?: () => ToolClasses,
  ): boolean;
  /** Tells whether its `approve` is about the tool: read to the letter if it approves, widely if not. */
  judges: CompiledRule['matches'];
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
const NO_CLASSES: ToolClasses = { domains: [], categories: [], readOnly: false };

/** The compiled rules of one configuration. Immutable; a reload builds a new set. */
export class RuleSet {
  readonly rules: readonly CompiledRule[];
  readonly precedence: RulePrecedence;
  /** A second rule set, of the user's own configuration: a tool is enabled only if both enable it. */
  readonly floor: RuleSet | undefined;
  /** Servers that have more than one name. */
  readonly names: ReadonlyMap<string, ServerNames>;
  readonly #classify: Classify | undefined;
  /** Whether a decision depends on more than a name. */
  readonly #isOfClasses: boolean;
  readonly #reasons: readonly string[];
  readonly #remembered = new Map<string, Map<string, Decision>>();
  #size = 0;

  /** Takes compiled rules; use `compileRules`. */
  constructor(
    rules: readonly CompiledRule[],
    precedence: RulePrecedence,
    floor?: RuleSet,
    names: ReadonlyMap<string, ServerNames> = new Map(),
    classify?: Classify,
  ) {
    this.#classify = classify;
    const all = [...rules, ...(floor?.rules ?? [])];
    this.#isOfClasses = all.some(({ ofClasses }) => ofClasses !== undefined);
    this.rules = rules;
    this.names = names;
    this.floor = floor;
    this.precedence = precedence;
    this.#reasons = rules.map((rule) => `${rule.enabled ? 'Enabled' : 'Disabled'} by ${describeRule(rule)}.`);
  }

  /** The same rules for sources with further names. */
  withNames(names: ReadonlyMap<string, ServerNames>): RuleSet {
    if (names.size === 0) return this;
    const all = new Map([...this.names, ...names]);
    return new RuleSet(this.rules, this.precedence, this.floor?.withNames(names), all, this.#classify);
  }

  /**
   * Returns whether the tool may be seen and called, its tags, and why. With a kind, it is the resource of that URI or
   * the prompt of that name. Decisions are cached.
   * @param definition the tool's, for rules about domains and categories; without it, only its name says what it is
   */
  decide(server: string, tool: string, kind?: ItemKind, definition?: ToolDefinition): Decision {
    if (this.#isOfClasses && kind === undefined) return this.#decide(server, tool, kind, definition);
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

  /** What a tool is, as far as rules ask; computed when one of them does. */
  classesOf(server: string, tool: string, definition?: ToolDefinition): () => ToolClasses {
    let classes: ToolClasses | undefined;
    return () => {
      classes ??= this.#classify?.(server, definition ?? { name: tool, inputSchema: {} }) ?? NO_CLASSES;
      return classes;
    };
  }

  #decide(server: string, tool: string, kind: ItemKind | undefined, definition?: ToolDefinition): Decision {
    const own = this.#decideAlone(server, tool, kind, definition);
    const below = this.floor?.decide(server, tool, kind, definition);
    if (below === undefined) return own;
    const tags = [...new Set([...own.tags, ...below.tags])];
    const approve = below.approve && { approve: below.approve };
    if (below.enabled || !own.enabled) return { ...own, tags, ...approve };
    return { enabled: false, tags, reason: below.reason.replace(/\.$/, ', in your own configuration.') };
  }

  #decideAlone(server: string, tool: string, kind: ItemKind | undefined, definition?: ToolDefinition): Decision {
    const { own = server, others } = this.names.get(server) ?? { others: [] };
    const classes = this.classesOf(server, tool, definition);
    const matching = this.rules.filter((rule) => rule.matches(own, tool, others, kind, classes));
    const deciding = this.decidingRule(matching);
    const found = matching.flatMap((rule) => rule.tags);
    const tags = found.length === 0 ? NO_TAGS : [...new Set(found)];
    const judging = this.#judging((rule) => rule.judges(own, tool, others, kind, classes));
    const approve = judging?.approve && {
      approve: { rule: describeRule(judging), always: judging.approve === 'always' },
    };
    if (deciding?.enabled !== undefined) {
      const reason = this.#reasons[deciding.index] ?? '';
      return { enabled: deciding.enabled, tags, rule: deciding.index, reason, ...approve };
    }
    return this.rules.some((rule) => rule.enabled === true && concerns(rule, kind))
      ? { enabled: false, tags, reason: 'Disabled: no rule enables it, and rules that enable make an allow-list.' }
      : { enabled: true, tags, reason: 'Enabled: no rule disables it.', ...approve };
  }

  /** The rule whose `approve` counts. */
  #judging(isAbout: (rule: CompiledRule) => boolean): CompiledRule | undefined {
    const judging = this.rules.filter((rule) => rule.approve !== undefined && isAbout(rule));
    const deny = this.precedence === 'deny-wins' ? judging.find(({ approve }) => approve === false) : undefined;
    return deny ?? judging[0];
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
  const classes = rule.ofClasses === undefined ? '' : `, ${rule.ofClasses}`;
  return `rule ${rule.index + 1} (${patterns}${classes}${rule.server === undefined ? '' : ` on server ${rule.server}`})`;
}
