/**
 * Holds the slots, breakers and rates of all servers. They survive a reload, because servers and running calls do; a
 * new configuration only changes their settings.
 * @module
 */

import { CircuitBreakers } from './steps/breaker.ts';
import { Slots } from './steps/concurrency.ts';
import { RateBuckets } from './steps/rate-limit.ts';
import { type Clock, systemClock } from './timers.ts';

/** Counters for calls, passed from one executor to its replacement. */
export class CallGates {
  readonly slots = new Slots();
  readonly buckets = new RateBuckets();
  readonly breakers: CircuitBreakers;

  constructor(clock: Clock = systemClock) {
    this.breakers = new CircuitBreakers({}, clock);
  }

  /** Drops the counters of a name that now belongs to another server, or to none. */
  forget(server: string): void {
    this.slots.forget(server);
    this.buckets.reset(server);
    this.breakers.reset(server);
  }
}
