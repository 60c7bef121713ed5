/**
 * What counts calls: the slots, breakers and rates of all servers. Servers outlive a reload, and calls under way do, so
 * this does too, and a new configuration changes the settings under it.
 * @module
 */

import { CircuitBreakers } from './steps/breaker.ts';
import { Slots } from './steps/concurrency.ts';
import { RateBuckets } from './steps/rate-limit.ts';
import { type Clock, systemClock } from './timers.ts';

/** Counters for calls, handed from one proxy to the one that replaces it. */
export class CallGates {
  readonly slots = new Slots();
  readonly buckets = new RateBuckets();
  readonly breakers: CircuitBreakers;

  constructor(clock: Clock = systemClock) {
    this.breakers = new CircuitBreakers({}, clock);
  }

  /** The name belongs to another server now, or to none: what was counted says nothing about that one. */
  forget(server: string): void {
    this.slots.forget(server);
    this.buckets.forget(server);
    this.breakers.reset(server);
  }
}
