/**
 * Finds connections to servers that hang: a caller waits, a ping waits, and nothing has arrived for longer than the
 * idle timeout of a call. New calls do not change that. A slow server that still answers pings is left alone, and so is
 * one with a caller that set its own timeout.
 * @module
 */
import { elapsedNow } from '../async/clock.ts';
import { DEFAULTS, LIMITS } from '../core/limits.ts';
import type { ServerDefinition } from '../core/types.ts';
import { PeerClosedError } from './peer.ts';

/** Signs of life of the server behind a connection. */
export interface Pulse {
  /** Messages received so far. */
  readonly received: number;
  /** Whether a caller waits for the server, and the server does not wait for us. */
  readonly isWaiting: boolean;
  /** Until when some caller waits on purpose, in milliseconds of `performance.now()`. */
  readonly patientUntil: number;
}

/** A connection that can be watched. */
export interface Patient {
  readonly pulse: Pulse;
  readonly closed: boolean;
  ping(): Promise<void>;
  close(reason: Error): Promise<void>;
}

interface State {
  received: number;
  /** How long it has been silent although a caller waits, not counting time in which we were stopped ourselves. */
  silentMs: number;
  lookedAt: number;
  pinged: boolean;
}

/** How much longer than a call a server may be silent, as a factor. The call has ended by then. */
const PATIENCE = 1.5;

export class HungServers {
  readonly #states = new WeakMap<Patient, State>();

  /** Closes the connections to servers that hang: their calls fail, and the next call starts the server anew. */
  end(
    slots: Iterable<{ readonly connection: Patient | undefined; readonly definition: ServerDefinition }>,
    callIdleMs = DEFAULTS.limits.callIdle,
  ): void {
    for (const { connection, definition } of slots) {
      if (!connection || connection.closed) continue;
      const silent = this.look(connection, elapsedNow(), definition.timeouts.call ?? callIdleMs);
      if (silent === undefined) continue;
      void connection.close(new PeerClosedError(`it has not answered anything, not even a ping, for ${silent} s`));
    }
  }

  /** Checks one connection and pings where in doubt. Returns the seconds of silence if the server hangs. */
  look(patient: Patient, now: number, callIdleMs: number): number | undefined {
    const { received, isWaiting, patientUntil } = patient.pulse;
    const state = this.#stateOf(patient, now);
    // If we were stopped ourselves, messages of that time are still unread.
    state.silentMs += Math.min(now - state.lookedAt, 2 * LIMITS.pace.hung);
    state.lookedAt = now;
    if (received !== state.received || !isWaiting) {
      state.received = received;
      state.silentMs = 0;
      state.pinged = false;
      return undefined;
    }
    const { silentMs } = state;
    const limit = Math.max(callIdleMs * PATIENCE, LIMITS.time.silence);
    if (!state.pinged && silentMs >= Math.min(LIMITS.time.ping, limit / 3)) this.#ping(patient, state);
    return state.pinged && silentMs >= limit && now >= patientUntil ? Math.round(silentMs / 1000) : undefined;
  }

  /** Notes that a caller gave up before the answer came. A server may hang even if no caller waits. */
  suspect(patient: Patient, now: number): void {
    const state = this.#stateOf(patient, now);
    if (!state.pinged) this.#ping(patient, state);
  }

  #stateOf(patient: Patient, now: number): State {
    let state = this.#states.get(patient);
    if (!state) {
      state = { received: patient.pulse.received, silentMs: 0, lookedAt: now, pinged: false };
      this.#states.set(patient, state);
    }
    return state;
  }

  #ping(patient: Patient, state: State): void {
    state.pinged = true;
    void patient.ping();
  }
}
