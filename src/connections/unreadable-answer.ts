/**
 * Fails the call whose answer could not be read, and no other.
 * @module
 */

import { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { NAMES_SHARE } from '../json/json-survey.ts';
import type { JsonRpcId, Unreadable } from './json-rpc.ts';
import { type Peer, PeerClosedError } from './peer.ts';

/** What one message of a server may hold. */
interface MessageLimits {
  readonly messageBytes: number;
  readonly messageValues: number;
}

/**
 * Fails the request that was answered. Without its id the lost answer cannot be attributed: the conversation ends, and
 * with it the process. A single waiting caller is told the reason; several callers are told that the server was lost.
 */
export function failUnreadable(
  peer: Peer,
  server: string,
  id: JsonRpcId | undefined,
  why: Unreadable,
  limits: MessageLimits,
): void {
  const error = unreadable(server, why, limits);
  if (id !== undefined) return void peer.failRequest(id, error);
  peer.failOnly(error);
  void peer.close(
    new PeerClosedError(`it sent a message ${size(why, limits)} and did not say which request that answers`),
  );
}

/** Returns the error for an answer that arrived and was not read. */
export function unreadable(server: string, why: Unreadable, limits: MessageLimits): DiscoveryError {
  const details = { server, outcome: 'unknown' } as const;
  const what = size(why, limits);
  if (why === 'too-deep')
    return new DiscoveryError(
      'TOOL_EXECUTION_ERROR',
      `We failed to read the answer of ${server}: it is ${what}.`,
      details,
    );
  const hint = why === 'too-many' ? ' Ask the tool for less, or raise limits.messageValues.' : '';
  return new DiscoveryError('RESULT_TOO_LARGE', `${server} sent a message ${what}.${hint}`, details);
}

function size(why: Unreadable, { messageBytes, messageValues }: MessageLimits): string {
  if (why === 'too-long') return `of more than ${messageBytes} bytes`;
  if (why === 'stalled') return 'whose rest did not come while others waited for its memory';
  if (why === 'too-deep') return `nested more than ${LIMITS.json.depth} levels deep`;
  return `of more than ${messageValues} values, or with more than ${Math.ceil(messageValues / NAMES_SHARE)} names in one object`;
}
