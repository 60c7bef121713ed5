/**
 * Finds connections to servers that hang: somebody waits, a ping waits, and nothing at all has come for longer than a call
 * may be silent. New calls do not change that. A slow server that still answers pings is left alone, and so is one with a
 * caller that has set a time of its own.
 * @module
 */
import { elapsedNow } from '../async/clock.ts';
import { DEFAULTS } from '../core/limits.ts';
import type { ServerDefinition } from '../core/types.ts';
import { PeerClosedError } from './peer.ts';

/** What shows whether the server behind a connection is alive. */
export interface Pulse {
  /** Messages that came from it so far. */
  readonly received: number;
  /** Whether somebody waits for it, and it does not wait for us. */
  readonly isWaiting: boolean;
  /** Until then some caller waits on purpose, in milliseconds of `performance.now()`. */
  readonly patientUntil: number;
}

/** A connection that can be looked after. */
export interface Patient {
  readonly pulse: Pulse;
  readonly closed: boolean;
  ping(): Promise<void>;
  close(reason: Error): Promise<void>;
}

interface State {
  received: number;
  /** How long it has been silent although somebody waits, as far as we were there to hear it. */
  silentMs: number;
  lookedAt: number;
  pinged: boolean;
}

/** The longest silence without asking. */
const PING_AFTER_MS = 5000;
/** How much longer than a call may be silent a server may be, as a factor: the call is over by then. */
const PATIENCE = 1.5;
/** The shortest silence that counts, whatever the limits are. */
const LEAST_MS = 3000;
export const LOOK_EVERY_MS = 1000;

export class HungServers {
  readonly #states = new WeakMap<Patient, State>();

  /** Ends the connections to servers that hang: their calls fail, and the next one starts the server anew. */
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

  /** Looks at one connection, and asks for a sign of life where that is in doubt. Gives the seconds of silence if it hangs. */
  look(patient: Patient, now: number, callIdleMs: number): number | undefined {
    const { received, isWaiting, patientUntil } = patient.pulse;
    const state = this.#stateOf(patient, now);
    // If we were stopped ourselves, what it said meanwhile is still to be read.
    state.silentMs += Math.min(now - state.lookedAt, 2 * LOOK_EVERY_MS);
    state.lookedAt = now;
    if (received !== state.received || !isWaiting) {
      state.received = received;
      state.silentMs = 0;
      state.pinged = false;
      return undefined;
    }
    const { silentMs } = state;
    const limit = Math.max(callIdleMs * PATIENCE, LEAST_MS);
    if (!state.pinged && silentMs >= Math.min(PING_AFTER_MS, limit / 3)) this.#ping(patient, state);
    return state.pinged && silentMs >= limit && now >= patientUntil ? Math.round(silentMs / 1000) : undefined;
  }

  /** A caller gave up before an answer came. One that nobody waits for any more may hang all the same. */
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
