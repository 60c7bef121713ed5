/**
 * Opens the approvals of servers. Nothing of this is loaded where every server is trusted.
 * @module
 */
import type { ApprovalStore } from '../approvals/approval-store.ts';
import type { SharedApprovals } from '../approvals/shared-decisions.ts';
import type { StateWorld } from './engine-state.ts';
import type { EngineWorld } from './engine-world.ts';

/** Returns the function that opens approvals. It logs each problem once. */
export function approvalsOpener(
  { state, logger }: EngineWorld,
  shared: () => SharedApprovals | undefined,
): NonNullable<StateWorld['approvals']> {
  // Outlives a reload, because it may be in memory only.
  let store: ApprovalStore | undefined;
  const complaints = new Set<string>();
  return async (sources, { home }) => {
    const [{ ApprovalStore }, { Approvals }] = await Promise.all([
      import('../approvals/approval-store.ts'),
      import('../approvals/approvals.ts'),
    ]);
    store ??= new ApprovalStore(state === 'memory' ? undefined : home, shared);
    const approvals = await Approvals.open(store, sources);
    for (const problem of approvals.problems) {
      if (!complaints.has(problem)) logger.error({ code: 'STORAGE_ERROR' }, problem);
      complaints.add(problem);
    }
    return approvals;
  };
}
