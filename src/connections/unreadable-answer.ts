/**
 * An answer that came and cannot be read costs the call that waits for it, and no other one.
 * @module
 */
import { DiscoveryError } from '../errors.ts';
import { MAX_NESTING } from '../json-nesting.ts';
import type { JsonRpcId, Unreadable } from './json-rpc.ts';
import type { Peer } from './peer.ts';

/** Fails the request that was answered; without its id nobody can say whose answer was lost, so every caller is told. */
export function failUnreadable(
  peer: Peer,
  server: string,
  id: JsonRpcId | undefined,
  why: Unreadable,
  maxBytes: number,
): void {
  const details = { server, outcome: 'unknown' } as const;
  const error =
    why === 'too-long'
      ? new DiscoveryError('RESULT_TOO_LARGE', `${server} sent a message of more than ${maxBytes} bytes.`, details)
      : new DiscoveryError(
          'TOOL_EXECUTION_ERROR',
          `We failed to read the answer of ${server}: it is nested more than ${MAX_NESTING} levels deep.`,
          details,
        );
  if (id === undefined) void peer.close(error);
  else peer.failRequest(id, error);
}
