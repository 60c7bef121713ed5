/**
 * Shares the places for local servers, so that a server whose calls hang cannot take them all. Few processes may run at
 * once, and callers that can be asked need one each (`audience.ts`).
 *
 * Every server may have one process while there is a place. For each further one it must leave more places free than it
 * has, or more than a quarter of all, so that a few are always left for servers that have none.
 * @module
 */

import { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { PoolSlot } from './pool-slot.ts';

/** Returns the idle processes to end so that the server may start one more. Throws SERVER_BUSY when it may not. */
export function makeRoom(server: string, slots: Iterable<PoolSlot>, places: number): PoolSlot[] {
  const local = [...slots].filter(({ isLocal }) => isLocal);
  const idle = local.filter(({ leases }) => leases === 0);
  const free = places - (local.length - idle.length);
  const busy = new Map<string, number>();
  for (const { leases, definition } of local) {
    if (leases > 0) busy.set(definition.name, (busy.get(definition.name) ?? 0) + 1);
  }
  const own = busy.get(server) ?? 0;
  if (free <= Math.min(own, Math.floor(places / 4))) throw refusal(server, own, busy, places);
  return idle.sort((a, b) => a.lastUsed - b.lastUsed).slice(0, Math.max(0, local.length - places + 1));
}

function refusal(server: string, own: number, busy: ReadonlyMap<string, number>, places: number): DiscoveryError {
  const [most = ['', 0]] = [...busy].sort(([, a], [, b]) => b - a);
  const why = own === 0 ? `${busy.size} other servers are busy` : `it has ${own}, and the rest is for other servers`;
  const message = `${server} may not start another process now: ${why}. At most ${places} local servers run at once; "${most[0]}" has ${most[1]} processes.`;
  return new DiscoveryError('SERVER_BUSY', message, {
    server,
    outcome: 'not_sent',
    retryAfterMs: LIMITS.pace.localRetry,
  });
}
