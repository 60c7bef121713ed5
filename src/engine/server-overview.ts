/**
 * Lists all enabled servers with their state, for `list_mcp_servers`.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import { isProvider } from '../core/tool-provider.ts';
import type { ServerMetadata } from '../core/types.ts';
import { oneLine } from '../text/plain-text.ts';
import type { Downstreams } from './downstreams.ts';
import type { EngineState } from './engine-state.ts';

/** Servers start on first use, so a server without a list is not broken. */
const UNSEEN = 'not started yet';

/** The program's own providers are always connected. */
const PRESENT = { status: 'connected', reason: undefined } as const;

/** Lists servers in the order of the configuration. Connects to none. */
export function serverOverview(
  { servers, catalog, discovery, sight }: EngineState,
  downstreams: Pick<Downstreams, 'status'>,
): ServerMetadata[] {
  return [...servers.values()].map(({ definition }) => {
    const { name } = definition;
    const { status, reason } = isProvider(definition) ? PRESENT : downstreams.status(name, sight?.owner);
    const failure = discovery.failure(name);
    const state = catalog.state(name);
    const why = reason ?? failure?.message ?? state?.incomplete ?? (catalog.isSeen(name) ? undefined : UNSEEN);
    return {
      name,
      description: catalog.about(name),
      toolCount: state?.toolCount ?? 0,
      enabledCount: state?.enabledCount ?? 0,
      unapprovedCount: state?.unapprovedCount,
      status: failure && status !== 'connected' ? 'error' : status,
      reason: why === undefined ? undefined : oneLine(why, LIMITS.text.reason),
      stale: discovery.isStale(name) || undefined,
      listedAt: catalog.fetchedAt(name) || undefined,
      client: isProvider(definition) ? undefined : definition.origin.client,
      config: isProvider(definition) ? undefined : definition.connection,
    };
  });
}
