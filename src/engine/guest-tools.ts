/**
 * Keeps the tools of a guest that a program has registered, as they were then: a definition that changes afterwards may
 * not be used until it is registered again.
 * @module
 */
import { pinOf } from '../approvals/pin.ts';
import { itemIn } from '../core/item-definition.ts';
import { LIMITS } from '../core/limits.ts';
import type { ToolDefinition } from '../core/types.ts';
import type { RuleSet } from '../rules/decide.ts';
import { type ToolDecision, ToolPolicy } from '../rules/tool-policy.ts';
import { shorten, visible } from '../text/plain-text.ts';

export interface Registration {
  readonly tool: string;
  /** The pin of the definition; undefined: the one that is listed now, else the first that will be. */
  readonly pin?: string | undefined;
}

export class RegisteredTools {
  /** By tool. None: the first definition that is seen. */
  readonly #pins = new Map<string, string[]>();

  get size(): number {
    return this.#pins.size;
  }

  has(tool: string): boolean {
    return this.#pins.has(tool);
  }

  /** Tells whether a tool was registered with other definitions only. */
  hasOther(tool: string, pin: string | undefined): boolean {
    const pins = this.#pins.get(tool) ?? [];
    return pins.length > 0 && (pin === undefined || !pins.includes(pin));
  }

  /** Registers a definition beside those that were registered before. */
  add(tool: string, pin: string | undefined): void {
    const pins = (this.#pins.get(tool) ?? []).filter((one) => one !== pin);
    this.#pins.set(tool, (pin === undefined ? pins : [...pins, pin]).slice(-LIMITS.approvals.pins));
  }

  /** Tells whether a definition is as it was when it was registered. The first of a tool without pins is pinned. */
  isAsRegistered(definition: ToolDefinition): boolean {
    const [pins, pin] = [this.#pins.get(definition.name), pinOf(definition)];
    if (pins === undefined || pin === undefined) return false;
    if (pins.length === 0) pins.push(pin);
    return pins.includes(pin);
  }
}

/** Decides about the tools of a guest: by the rules, and by what was registered. */
export class RegisteredPolicy extends ToolPolicy {
  readonly #registered: RegisteredTools;

  constructor(rules: RuleSet, registered: RegisteredTools) {
    super(rules);
    this.#registered = registered;
  }

  override decide(server: string, definition: ToolDefinition): ToolDecision {
    const ruled = super.decide(server, definition);
    // Resources and prompts come with the tools of their server.
    if (!ruled.enabled || itemIn(definition) || this.#registered.isAsRegistered(definition)) return ruled;
    const name = shorten(visible(definition.name), LIMITS.names.shown);
    const reason = `The tool "${name}" has changed since it was registered. The program has to discover and register it again.`;
    return { enabled: false, tags: ruled.tags, code: 'TOOL_NOT_APPROVED', reason };
  }
}
