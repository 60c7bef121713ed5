/**
 * Sends a request once more that was refused for its protocol version, although the refusal names this version as
 * supported: behind one address, servers of different age may answer in turn. A server refuses such a request before it
 * looks at anything else.
 * @module
 */
import { JsonRpcError, UNSUPPORTED_PROTOCOL_VERSION } from './json-rpc.ts';
import type { Answer } from './peer.ts';

/** Sends a request in a version of the protocol. */
export const inVersion = (version: string, send: () => Promise<Answer>): Promise<Answer> =>
  send().catch((error: unknown) => {
    if (namesVersion(error, version)) return send();
    throw error;
  });

function namesVersion(error: unknown, version: string): boolean {
  if (!(error instanceof JsonRpcError) || error.code !== UNSUPPORTED_PROTOCOL_VERSION) return false;
  const { supported } = Object(error.data) as { supported?: unknown };
  return Array.isArray(supported) && supported.includes(version);
}
