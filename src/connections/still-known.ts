/**
 * Finds out what a refusal means: the request alone was refused, or the server no longer knows us at all, because it has
 * forgotten the session or speaks another revision of the protocol now. A harmless question tells the two apart.
 *
 * The difference decides whether a call may be sent once more. A server may execute a call and then answer with any
 * status: only one that refuses everything we say has provably not looked at the call.
 * @module
 */

import { withTimeLimit } from '../async/time-limit.ts';
import type { ProtocolEra } from './handshake.ts';
import { HttpStatusError } from './http-status-error.ts';
import { JsonRpcError, METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION } from './json-rpc.ts';
import type { Peer } from './peer.ts';

/** How long the question may take. Without an answer nothing is proved. */
const PROBE_MS = 5000;
/** What servers say to somebody they do not know: 404 by the specification; the SDK's example says 400, and many copied it. */
const STATUSES: ReadonlySet<number> = new Set([400, 404, 405, 410]);
/** What the SDK's servers answer without a session, or to a session they do not know. */
const REMOTE_CODES: ReadonlySet<number> = new Set([-32_000, -32_001, -32_600]);

export interface Acquaintance {
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

  /** Whether a failed request may have been refused because the server does not know us any more. */
  isDoubtful(error: unknown): boolean {
    if (error instanceof HttpStatusError) return STATUSES.has(error.status);
    if (!(error instanceof JsonRpcError)) return false;
    return error.code === UNSUPPORTED_PROTOCOL_VERSION || (!this.#isLocal && REMOTE_CODES.has(error.code));
  }

  /** Asks the server. False is proof; whatever proves nothing counts as true. Asks once for all who want to know. */
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
        PROBE_MS,
        undefined,
        () => new Error('no answer'),
        (signal) => this.#peer.request(method, {}, { signal }),
      );
      return true;
    } catch (error) {
      // A server of the old protocol does not know the question of the new one.
      const isOther = this.#era === 'modern' && error instanceof JsonRpcError && error.code === METHOD_NOT_FOUND;
      return !isOther && !this.isDoubtful(error);
    }
  }
}
