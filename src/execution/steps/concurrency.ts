/**
 * Bounds what runs at once: per server with a short first-in-first-out queue, per client and in all without one.
 * What does not fit is refused at once with SERVER_BUSY, so that one slow server cannot fill the process.
 * @module
 */

import { DEFAULTS } from '../../core/limits.ts';
import { fail, type ToolResult } from '../../core/result.ts';
import type { CallToolResult, ToolCall } from '../../core/types.ts';
import { abortFailure } from '../abort.ts';
import type { Handler, Step } from '../pipeline.ts';
import { type Clock, systemClock } from '../timers.ts';

/** How much may run and wait at once. */
export interface ConcurrencyOptions {
  /** Calls in flight per server. Default 16. */
  readonly perServer?: number | undefined;
  /** A server's own number, where it is configured. */
  readonly perServerOf?: ((server: string) => number | undefined) | undefined;
  /** Calls waiting per server. Default 64. */
  readonly queue?: number | undefined;
  /** The longest wait in that queue, in ms. Default 10 s. */
  readonly queueWait?: number | undefined;
  /** Calls in flight per client. Default 64. */
  readonly perClient?: number | undefined;
  /** Calls in flight in all. Default 512. */
  readonly total?: number | undefined;
  readonly clock?: Clock | undefined;
}

interface Lane {
  active: number;
  /** How long a call to this server holds its slot, averaged; tells refused callers when to come back. */
  holdMs: number;
  /** When a call last got a slot: while all are taken, none has come free since. */
  lastStart: number;
  /** Those in the queue. They are given the lane in which a slot is theirs, or nothing when they are to give up. */
  waiting: Set<(lane: Lane | undefined) => void>;
}

/** Lets calls through as slots allow. With slots handed in, the newest options count for all who use them. */
export function concurrency(options: ConcurrencyOptions = {}, slots: Slots = new Slots()): Step {
  slots.configure(options);
  return (next) => (call) => slots.pass(call, next);
}

/** Who runs and who waits. */
export class Slots {
  #options: ConcurrencyOptions = {};
  #clock: Clock = systemClock;
  readonly #lanes = new Map<string, Lane>();
  readonly #clients = new Map<string, number>();
  readonly #names = new Map<string, number>();
  #total = 0;

  /** Takes over other options. Where there is less room now, nobody is admitted until enough have left. */
  configure(options: ConcurrencyOptions): void {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    for (const [server, lane] of this.#lanes) this.#admit(server, lane);
  }

  /** The name belongs to another server from now on: those who run with the old one take no room there, those who wait go to the new one. */
  forget(server: string): void {
    const old = this.#lanes.get(server);
    if (old === undefined) return;
    this.#lanes.delete(server);
    if (old.waiting.size === 0) return;
    const lane = this.#lane(server);
    lane.waiting = old.waiting;
    old.waiting = new Set();
    this.#admit(server, lane);
  }

  async pass(call: ToolCall, next: Handler): Promise<ToolResult<CallToolResult>> {
    const { server } = call;
    const client = clientOf(call);
    const crowded = this.#crowded(call, client);
    if (crowded !== undefined) return crowded;
    let lane = this.#lane(server);
    if (lane.active < this.#slots(server) && lane.waiting.size === 0) {
      lane.active++;
    } else {
      const turn = await this.#queue(call, lane);
      if ('success' in turn) return turn;
      lane = turn;
      const stillCrowded = this.#crowded(call, client);
      if (stillCrowded !== undefined) {
        this.#leave(server, lane);
        return stillCrowded;
      }
    }
    this.#count(client, call, 1);
    const started = this.#clock.now();
    lane.lastStart = started;
    try {
      return await next(call);
    } finally {
      lane.holdMs += (this.#clock.now() - started - lane.holdMs) / 8;
      this.#count(client, call, -1);
      this.#leave(server, lane);
    }
  }

  #lane(server: string): Lane {
    let lane = this.#lanes.get(server);
    if (lane === undefined) {
      lane = { active: 0, holdMs: 0, lastStart: 0, waiting: new Set() };
      this.#lanes.set(server, lane);
    }
    return lane;
  }

  #slots(server: string): number {
    return this.#options.perServerOf?.(server) ?? this.#options.perServer ?? DEFAULTS.limits.concurrency;
  }

  /** Waits for a slot, which is already counted when it comes. */
  async #queue(call: ToolCall, lane: Lane): Promise<ToolResult<never> | Lane> {
    const { server, signal } = call;
    const { queue = DEFAULTS.limits.queue, queueWait = DEFAULTS.limits.queueWait } = this.#options;
    if (lane.waiting.size >= queue) {
      return this.#busy(call, lane, `${lane.active} calls to "${server}" are running and ${queue} are waiting`);
    }
    if (signal.aborted) return abortFailure(call, 'not_sent');
    const left = call.deadline === undefined ? queueWait : Math.min(queueWait, call.deadline - this.#clock.now());
    const { waiting } = lane;
    const turn = await new Promise<Lane | undefined>((resolve) => {
      const done = (given: Lane | undefined) => {
        waiting.delete(done);
        timer.clear();
        signal.removeEventListener('abort', giveUp);
        resolve(given);
      };
      const giveUp = () => done(undefined);
      const timer = this.#clock.after(left, giveUp);
      signal.addEventListener('abort', giveUp);
      waiting.add(done);
    });
    if (turn !== undefined) return turn;
    if (signal.aborted) return abortFailure(call, 'not_sent');
    return this.#busy(call, lane, `no slot of "${server}" came free in ${Math.round(left) / 1_000} s`);
  }

  #leave(server: string, lane: Lane): void {
    lane.active--;
    this.#admit(server, lane);
    // A lane nobody uses is dropped, so that names from outside cannot pile up.
    if (lane.active === 0 && this.#lanes.size > 1_024 && this.#lanes.get(server) === lane) this.#lanes.delete(server);
  }

  #admit(server: string, lane: Lane): void {
    while (lane.waiting.size > 0 && lane.active < this.#slots(server)) {
      const [first] = lane.waiting;
      lane.active++;
      first?.(lane);
    }
  }

  #crowded(call: ToolCall, client: string): ToolResult<never> | undefined {
    const { perClient = DEFAULTS.limits.inFlightPerClient, total = DEFAULTS.limits.inFlight } = this.#options;
    if (this.#total >= total) return this.#busy(call, undefined, `${total} calls are running in this gateway`);
    if ((this.#clients.get(client) ?? 0) >= perClient) {
      return this.#busy(call, undefined, `you have ${perClient} calls running`);
    }
    const { clientName } = call.caller;
    if (clientName === undefined) return undefined;
    // A client on the network may open as many sessions and sockets as it likes; others still find room.
    const share = Math.max(perClient, Math.floor(total / SHARES));
    return (this.#names.get(clientName) ?? 0) >= share
      ? this.#busy(call, undefined, `clients of your name have ${share} calls running`)
      : undefined;
  }

  #count(client: string, { caller: { clientName } }: ToolCall, by: 1 | -1): void {
    this.#total += by;
    tally(this.#clients, client, by);
    if (clientName !== undefined) tally(this.#names, clientName, by);
  }

  /** A guess: as long as calls took so far, one turn after the other, and no less than nobody has left by now. */
  #untilFree(server: string, lane: Lane): number {
    const turns = (lane.waiting.size + 1) / Math.max(1, this.#slots(server));
    return Math.max(lane.holdMs * turns, this.#clock.now() - lane.lastStart);
  }

  #busy(call: ToolCall, lane: Lane | undefined, why: string): ToolResult<never> {
    const { server, tool } = call;
    const retryAfterMs = Math.round(Math.min(10_000, Math.max(100, lane ? this.#untilFree(server, lane) : 1_000)));
    return fail('SERVER_BUSY', `Not called: ${why}. Try again in ${retryAfterMs} ms.`, {
      server,
      tool,
      outcome: 'not_sent',
      retryAfterMs,
    });
  }
}

function tally(counts: Map<string, number>, key: string, by: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + by;
  // One who calls again soon keeps the place; of many, only those who are calling do.
  if (count === 0 && counts.size > 1_024) counts.delete(key);
  else counts.set(key, count);
}

/** Clients of one name get at most this part of all calls, so that three others of other names find room. */
const SHARES = 4;

/** Clients that cannot be told apart count as one, so that the cap holds for them too. */
const clientOf = ({ caller }: ToolCall): string => caller.session ?? caller.principal ?? caller.socket ?? '';
