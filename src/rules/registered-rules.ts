/**
 * Decides about the tools of a server that is not configured: a tool is enabled if it was registered and the rules
 * enable it.
 * @module
 */
import type { ItemKind, ToolDefinition } from '../core/types.ts';
import { type Decision, RuleSet } from './decide.ts';

export class RegisteredRules extends RuleSet {
  /** The rules alone: which tools may be registered. */
  readonly permitted: RuleSet;
  readonly #registered: Pick<ReadonlySet<string>, 'has'>;

  constructor(permitted: RuleSet, registered: Pick<ReadonlySet<string>, 'has'>) {
    super(permitted.rules, permitted.precedence, permitted.floor, permitted.names);
    this.permitted = permitted;
    this.#registered = registered;
  }

  /** Resources and prompts come with the tools of their server. */
  override decide(server: string, tool: string, kind?: ItemKind, definition?: ToolDefinition): Decision {
    const decision = this.permitted.decide(server, tool, kind, definition);
    if (!decision.enabled || kind !== undefined || this.#registered.has(tool)) return decision;
    return { enabled: false, tags: decision.tags, reason: 'Disabled: it was discovered and not registered.' };
  }
}
