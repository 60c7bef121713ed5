/**
 * Lists the tools, resources, templates and prompts that wait for a person: what changed in each definition, and what the scanner finds in it.
 * @module
 */
import type { ScanFinding } from '../approvals/scan/scan-definition.ts';
import type { UnapprovedTool } from '../catalog/catalog.ts';
import type { Unapproved } from '../core/approval-mode.ts';
import { isProvider } from '../core/tool-provider.ts';
import type { ToolDefinition } from '../core/types.ts';
import type { EngineState } from './engine-state.ts';
import { scanBeside } from './sight-lists.ts';

/** A tool that a person has to approve; or a resource, a template or a prompt, whose name then is like `prompt:review`. */
export interface PendingTool {
  readonly server: string;
  readonly definition: ToolDefinition;
  /** `pending`: never approved. `changed`: approved with another definition. */
  readonly approval: Unapproved;
  /** The definition that was approved last, if it was kept. */
  readonly before: ToolDefinition | undefined;
  /** What the scanner found: signs of an attack, or nothing. */
  readonly findings: readonly ScanFinding[];
}

/** The tools that no person has approved but a rule, with the rule, by server and name. Contacts no server. */
export async function approvedByRule({ servers, catalog }: EngineState, wanted?: string) {
  const found: ReturnType<typeof catalog.approvedByRule>[number][] = [];
  for (const [server, { definition }] of servers) {
    if (isProvider(definition) || definition.approval === undefined) continue;
    if (wanted !== undefined && server !== wanted) continue;
    await catalog.load(server);
    found.push(...catalog.approvedByRule(server).toSorted((a, b) => (a.tool < b.tool ? -1 : 1)));
  }
  return found;
}

/** By server and name, from the lists that are known. Contacts no server. */
export async function pendingTools({ servers, catalog, approvals }: EngineState, wanted?: string) {
  const pending: PendingTool[] = [];
  for (const server of wanted === undefined ? servers.keys() : [wanted]) {
    await catalog.load(server);
    const unapproved = catalog.unapproved(server);
    if (unapproved.length === 0) continue;
    const scan = await scanBeside(server, servers, catalog);
    for (const { definition, approval } of unapproved.toSorted(byName)) {
      const before = approval === 'changed' ? await approvals?.approvedDefinition(server, definition) : undefined;
      pending.push({ server, definition, approval, before, findings: scan(definition) });
    }
  }
  return pending;
}

const byName = ({ definition: a }: UnapprovedTool, { definition: b }: UnapprovedTool): number =>
  a.name < b.name ? -1 : 1;
