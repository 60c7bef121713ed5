/**
 * Shows a person the tools that wait for approval, and approves them.
 * @module
 */
import type { ToolDefinition } from '../core/types.ts';
import type { EngineRuntime } from './engine-runtime.ts';
import { approvedByRule, type PendingTool, pendingTools } from './pending-tools.ts';
import { sharedState } from './seen-states.ts';

export class EngineApprovals {
  readonly #runtime: EngineRuntime;

  constructor(runtime: EngineRuntime) {
    this.#runtime = runtime;
  }

  /** Why earlier approvals do not count, or will not be remembered. */
  get problems(): readonly string[] {
    return this.#runtime.current?.state.approvals?.problems ?? [];
  }

  /** The tools that wait for a person, from the lists that are known. */
  async pending(server?: string): Promise<readonly PendingTool[]> {
    return pendingTools(await sharedState(this.#runtime), server);
  }

  /** The tools that no person has approved but a rule, with the rule, from the lists that are known. */
  async byRule(server?: string) {
    return approvedByRule(await sharedState(this.#runtime), server);
  }

  /**
   * Approves definitions of a server exactly as they are handed in, from the next reload on. Resolves with the names of
   * those that are too large to be approved.
   */
  async approve(server: string, definitions: readonly ToolDefinition[]): Promise<readonly string[]> {
    return (await (await sharedState(this.#runtime)).approvals?.approve(server, definitions)) ?? [];
  }

  /** A server as it lists itself: its version and every definition, whether it may be used or not. */
  async listed(server: string): Promise<{
    readonly version?: string | undefined;
    readonly tools: readonly ToolDefinition[];
    readonly items: readonly ToolDefinition[];
  }> {
    const { catalog } = await sharedState(this.#runtime);
    await catalog.load(server);
    return {
      version: catalog.state(server)?.serverVersion,
      tools: catalog.definitions(server),
      items: catalog.itemDefinitions(server),
    };
  }
}
