/**
 * An answer that came and cannot be read costs the call that waits for it, and no other one.
 * @module
 */
import { DiscoveryError } from '../errors.ts';
import { MAX_NESTING } from '../json-nesting.ts';
import type { JsonRpcId, Unreadable } from './json-rpc.ts';
import { type Peer, PeerClosedError } from './peer.ts';

/**
 * Fails the request that was answered. Without its id nobody can say whose answer was lost: the conversation ends, and
 * with it the process. One caller who waits alone is told why; of several nobody is blamed, all lost the server.
 */
export function failUnreadable(
  peer: Peer,
  server: string,
  id: JsonRpcId | undefined,
  why: Unreadable,
  maxBytes: number,
): void {
  const details = { server, outcome: 'unknown' } as const;
  const isLong = why === 'too-long';
  const size = isLong ? `of more than ${maxBytes} bytes` : `nested more than ${MAX_NESTING} levels deep`;
  const error = isLong
    ? new DiscoveryError('RESULT_TOO_LARGE', `${server} sent a message ${size}.`, details)
    : new DiscoveryError('TOOL_EXECUTION_ERROR', `We failed to read the answer of ${server}: it is ${size}.`, details);
  if (id !== undefined) return void peer.failRequest(id, error);
  peer.failOnly(error);
  void peer.close(new PeerClosedError(`it sent a message ${size} and did not say which request that answers`));
}
