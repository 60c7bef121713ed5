/**
 * Decides whether a tool may be seen and called: by the rules first, then by the approvals. Listing, searching,
 * describing and executing all ask this, so that visible and callable tools are always the same.
 * @module
 */
import type { ApprovalStatus, Unapproved } from '../core/approval-mode.ts';
import { itemIn } from '../core/item-definition.ts';
import type { ItemKind, ToolDefinition } from '../core/types.ts';
import type { Decision, RuleSet } from './decide.ts';
import { notApprovedMessage } from './not-approved.ts';

/** The decision on one definition. */
export interface ToolDecision extends Decision {
  /** The error code of a refusal; absent for a tool that may be used. */
  readonly code?: 'TOOL_DISABLED' | 'TOOL_NOT_APPROVED' | undefined;
  /** Set if only the missing approval keeps the tool from being used. Nothing of it is shown to an agent. */
  readonly approval?: Unapproved | undefined;
  /** Set if rules disable a tool that is not approved either: only its name may be shown. */
  readonly isNameOnly?: boolean | undefined;
  /** The rule that approved the definition, where no person has. */
  readonly approvedBy?: string | undefined;
}

/** Knows which definitions are approved. */
interface KnownApprovals {
  statusOf(server: string, definition: ToolDefinition): ApprovalStatus;
  /**
   * Tells whether a rule may approve a definition that no person has approved.
   * @param always even if the scanner found something in it, or has not looked yet
   */
  mayFollowRule(server: string, definition: ToolDefinition, always: boolean): boolean;
  /** Identifies all decisions on a server; undefined for one that needs none. */
  digestOf(server: string): string | undefined;
  /** What other replicas have approved cannot be read now. */
  readonly isAway?: boolean;
}

export class ToolPolicy {
  readonly #rules: RuleSet;
  readonly #approvals: KnownApprovals | undefined;

  /** @param approvals undefined: every source is trusted */
  constructor(rules: RuleSet, approvals?: KnownApprovals) {
    this.#rules = rules;
    this.#approvals = approvals;
  }

  /** Returns whether a definition that a source lists may be seen and used, and why not. */
  decide(server: string, definition: ToolDefinition): ToolDecision {
    const ruled = this.#ruled(server, definition);
    const status = this.#approvals?.statusOf(server, definition);
    const { approve } = ruled;
    const isByRule =
      status !== undefined &&
      status !== 'approved' &&
      approve !== undefined &&
      this.#approvals?.mayFollowRule(server, definition, approve.always) === true;
    return isByRule
      ? { ...ruled, approvedBy: approve.rule }
      : decideDefinition(ruled, status, server, definition, this.#approvals?.isAway);
  }

  /** Tells whether a rule approves a definition that the scanner has not cleared. */
  isForScanner(server: string, definition: ToolDefinition): boolean {
    const status = this.#approvals?.statusOf(server, definition);
    if (status === undefined || status === 'approved') return false;
    const { approve } = this.#ruled(server, definition);
    if (approve === undefined || approve.always) return false;
    const may = (always: boolean) => this.#approvals?.mayFollowRule(server, definition, always) === true;
    return may(true) && !may(false);
  }

  /** Returns whether the rules let a resource or a prompt be read, whether its server lists it or not. */
  decideItem(server: string, id: string, kind: ItemKind): Decision {
    return this.#rules.decide(server, id, kind);
  }

  #ruled(server: string, definition: ToolDefinition): Decision {
    const item = itemIn(definition);
    if (item?.what === 'introduction') return NOT_RULED;
    return item
      ? this.#rules.decide(server, item.id, item.kind)
      : this.#rules.decide(server, definition.name, undefined, definition);
  }

  /** Identifies what the approvals say of a server's tools; undefined for a server that needs none. */
  digestOf(server: string): string | undefined {
    return this.#approvals?.digestOf(server);
  }
}

/** No rule is about how a server introduces itself. */
const NOT_RULED: Decision = { enabled: true, tags: [], reason: '' };

/** Joins the decision of the rules with the approval of the definition. */
export const decideTool = (
  ruled: Decision,
  status: ApprovalStatus | undefined,
  server: string,
  tool: string,
): ToolDecision => decideDefinition(ruled, status, server, { name: tool, inputSchema: {} });

function decideDefinition(
  ruled: Decision,
  status: ApprovalStatus | undefined,
  server: string,
  definition: ToolDefinition,
  isAway?: boolean,
): ToolDecision {
  const approval = status === 'approved' ? undefined : status;
  if (!ruled.enabled) return { ...ruled, code: 'TOOL_DISABLED', ...(approval && { isNameOnly: true }) };
  if (approval === undefined) return ruled;
  const { tags } = ruled;
  return {
    enabled: false,
    tags,
    code: 'TOOL_NOT_APPROVED',
    approval,
    reason: notApprovedMessage(approval, server, definition, isAway),
  };
}
