/**
 * Finds out what a refusal means: only the request was refused, or the server no longer knows us, because it has
 * forgotten the session or now speaks another revision of the protocol. A harmless request tells the two apart.
 *
 * The difference decides whether a call may be sent again. A server may execute a call and then answer with any status:
 * only a server that refuses every request has provably not looked at the call.
 * @module
 */

import { withTimeLimit } from '../async/time-limit.ts';
import { LIMITS } from '../core/limits.ts';
import type { ProtocolEra } from './handshake.ts';
import { HttpStatusError } from './http-status-error.ts';
import { JsonRpcError, METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION } from './json-rpc.ts';
import type { Peer } from './peer.ts';

/** Statuses for an unknown client: 404 by the specification; the SDK's example uses 400, and many servers copied it. */
const STATUSES: ReadonlySet<number> = new Set([400, 404, 405, 410]);
/** Error codes of the SDK's servers for a missing or unknown session. */
const REMOTE_CODES: ReadonlySet<number> = new Set([-32_000, -32_001, -32_600]);

interface Acquaintance {
  readonly peer: Peer;
  readonly era: ProtocolEra;
  readonly isLocal: boolean;
}

export class StillKnown {
  readonly #peer: Peer;
  readonly #era: ProtocolEra;
  readonly #isLocal: boolean;
  #answer: Promise<boolean> | undefined;

  constructor({ peer, era, isLocal }: Acquaintance) {
    this.#peer = peer;
    this.#era = era;
    this.#isLocal = isLocal;
  }

  /** Whether a failed request may have been refused because the server no longer knows us. */
  isDoubtful(error: unknown): boolean {
    if (error instanceof HttpStatusError) return STATUSES.has(error.status);
    if (!(error instanceof JsonRpcError)) return false;
    return error.code === UNSUPPORTED_PROTOCOL_VERSION || (!this.#isLocal && REMOTE_CODES.has(error.code));
  }

  /**
   * Asks the server. False is proof; anything that proves nothing counts as true. Concurrent callers share one request.
   */
  ask(): Promise<boolean> {
    this.#answer ??= this.#ask().finally(() => {
      this.#answer = undefined;
    });
    return this.#answer;
  }

  async #ask(): Promise<boolean> {
    const method = this.#era === 'modern' ? 'server/discover' : 'ping';
    try {
      await withTimeLimit(
        LIMITS.time.probe,
        undefined,
        () => new Error('no answer'),
        (signal) => this.#peer.request(method, {}, { signal }),
      );
      return true;
    } catch (error) {
      // A server of the old protocol does not know the request of the new one.
      const isOther = this.#era === 'modern' && error instanceof JsonRpcError && error.code === METHOD_NOT_FOUND;
      return !isOther && !this.isDoubtful(error);
    }
  }
}
