/**
 * Limits how many calls run at once: per server with a short queue in which callers take turns, per client and in total
 * without one. Excess calls are refused at once with SERVER_BUSY, so that one slow server cannot fill the process.
 *
 * A network client leaves a quarter of a server's slots to others. A call that waits for an answer from its caller
 * gives its slot back until then, and still counts for that caller.
 * @module
 */

import { KnownCallers, leavesRoom, ownKey, turnKey } from '../../core/fair-share.ts';
import { DEFAULTS, LIMITS } from '../../core/limits.ts';
import { fail, type ToolResult } from '../../core/result.ts';
import type { Caller, CallToolResult, IdleClock, ToolCall } from '../../core/types.ts';
import { abortFailure } from '../abort.ts';
import type { Handler, Step } from '../pipeline.ts';
import { type Clock, systemClock } from '../timers.ts';

/** How many calls may run and wait at once. */
export interface ConcurrencyOptions {
  /** Calls in flight per server. Default 16. */
  readonly perServer?: number | undefined;
  /** Returns a server's own limit, if configured. */
  readonly perServerOf?: ((server: string) => number | undefined) | undefined;
  /** Calls queued per server. Default 64. */
  readonly queue?: number | undefined;
  /** The longest wait in that queue, in ms. Default 10 s. */
  readonly queueWait?: number | undefined;
  /** Calls in flight per client. Default 64. */
  readonly perClient?: number | undefined;
  /** Returns what a caller's profile says instead. */
  readonly perClientOf?: ((caller: Caller) => number | undefined) | undefined;
  /** Calls in flight in total. Default 512. */
  readonly total?: number | undefined;
  readonly clock?: Clock | undefined;
}

interface Turn {
  readonly call: ToolCall;
  /** Ends the wait: with the lane that granted a slot, or with why there is none. */
  end(outcome: Lane | 'ousted' | 'given up'): void;
}

interface Lane {
  /** Slots in use. */
  active: number;
  /** Calls of each caller, including those that gave their slot back for a while. */
  readonly held: Map<string, number>;
  /** The same by what callers cannot borrow from each other. */
  readonly own: Map<string, number>;
  /** The average time a call to this server holds its slot; the basis of `retryAfterMs`. */
  holdMs: number;
  /** When a call last got a slot. While all slots are taken, none was freed since then. */
  lastStart: number;
  waiting: CallerQueue;
}

/**
 * Lets calls through as slots allow. If slots are passed in, the newest options apply to all executors that share them.
 */
export function concurrency(options: ConcurrencyOptions = {}, slots: Slots = new Slots()): Step {
  slots.configure(options);
  return (next) => (call) => slots.pass(call, next);
}

/** Tracks running and queued calls. */
export class Slots {
  #options: ConcurrencyOptions = {};
  #clock: Clock = systemClock;
  readonly #lanes = new Map<string, Lane>();
  readonly #clients = new Map<string, number>();
  readonly #names = new Map<string, number>();
  readonly #known = new KnownCallers();
  #total = 0;

  /** The calls of each server that run and that wait for a slot, now. */
  *load(): Iterable<{ readonly server: string; readonly running: number; readonly waiting: number }> {
    for (const [server, { active, waiting }] of this.#lanes) yield { server, running: active, waiting: waiting.size };
  }

  /** Applies new options. If limits are lower now, no call is admitted until enough have ended. */
  configure(options: ConcurrencyOptions): void {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    for (const [server, lane] of this.#lanes) this.#admit(server, lane);
  }

  /**
   * Call this when the name belongs to another server from now on. Calls that run on the old server take no slot of the
   * new one; queued calls move to the new one.
   */
  forget(server: string): void {
    const old = this.#lanes.get(server);
    if (old === undefined) return;
    this.#lanes.delete(server);
    if (old.waiting.size === 0) return;
    const lane = this.#lane(server);
    lane.waiting = old.waiting;
    old.waiting = new CallerQueue();
    this.#admit(server, lane);
  }

  async pass(call: ToolCall, next: Handler): Promise<ToolResult<CallToolResult>> {
    const { gate: server = call.server } = call;
    const client = callerKey(call);
    const crowded = this.#crowded(call, client);
    if (crowded !== undefined) return crowded;
    let lane = this.#lane(server);
    if (this.#mayRun(server, lane, call)) {
      take(lane, call);
    } else {
      const turn = await this.#queue(call, lane);
      if ('success' in turn) return turn;
      lane = turn;
      const stillCrowded = this.#crowded(call, client);
      if (stillCrowded !== undefined) {
        this.#leave(server, lane, call);
        return stillCrowded;
      }
    }
    this.#count(client, call, 1);
    const started = this.#clock.now();
    lane.lastStart = started;
    const slot = call.caller.ask && this.#returnable(server, lane);
    try {
      return await next(slot ? { ...call, idleClock: slot } : call);
    } finally {
      slot?.close();
      lane.holdMs += (this.#clock.now() - started - lane.holdMs) / 8;
      this.#count(client, call, -1);
      if (call.caller.clientName !== undefined) this.#known.note(client, this.#clock.now());
      this.#leave(server, lane, call);
    }
  }

  /** The slot of a call whose caller can be asked. An answer is never delayed: the call takes its slot back at once. */
  #returnable(server: string, lane: Lane): IdleClock & { close(): void } {
    let pauses = 0;
    let isOver = false;
    return {
      pause: () => {
        if (isOver || pauses++ > 0) return;
        lane.active--;
        this.#admit(server, lane);
      },
      resume: () => {
        if (!isOver && --pauses === 0) lane.active++;
      },
      close: () => {
        isOver = true;
        if (pauses > 0) lane.active++;
      },
    };
  }

  #mayRun(server: string, lane: Lane, { caller }: ToolCall): boolean {
    const { active, held } = lane;
    const slots = this.#slots(server);
    const own = held.get(turnKey(caller)) ?? 0;
    if (active >= slots || own >= slots) return false;
    // Only a network client shares the gateway with clients it does not know of.
    if (caller.clientName === undefined) return true;
    if (this.#hasClaim(lane, caller)) return true;
    const free = slots - active;
    return free > this.#reserved(ownKey(caller), slots, lane.own) && leavesRoom(own, free);
  }

  /** Tells whether a caller is known and holds nothing. What others do under its name does not count against it. */
  #hasClaim({ own }: Lane, caller: Caller): boolean {
    const key = ownKey(caller);
    return caller.clientName !== undefined && this.#known.isKnown(key) && (own.get(key) ?? 0) === 0;
  }

  #reserved(key: string, places: number, held: ReadonlyMap<string, number>): number {
    return this.#known.reservedFrom(key, places, (other) => (held.get(other) ?? 0) > 0, this.#clock.now());
  }

  #lane(server: string): Lane {
    let lane = this.#lanes.get(server);
    if (lane === undefined) {
      lane = { active: 0, held: new Map(), own: new Map(), holdMs: 0, lastStart: 0, waiting: new CallerQueue() };
      this.#lanes.set(server, lane);
    }
    return lane;
  }

  #slots(server: string): number {
    return this.#options.perServerOf?.(server) ?? this.#options.perServer ?? DEFAULTS.limits.concurrency;
  }

  /** Waits for a slot, which is already counted when granted. */
  async #queue(call: ToolCall, lane: Lane): Promise<ToolResult<never> | Lane> {
    const { server, signal } = call;
    const { queue = DEFAULTS.limits.queue, queueWait = DEFAULTS.limits.queueWait } = this.#options;
    const { waiting } = lane;
    const full = `${lane.active} calls to "${server}" are running and ${queue} are waiting`;
    if (waiting.size >= queue) {
      const isClaim = (other: ToolCall) => this.#hasClaim(lane, other.caller);
      const surplus =
        waiting.surplusTo(turnKey(call.caller)) ?? (isClaim(call) ? waiting.newestWithout(isClaim) : undefined);
      if (surplus === undefined) return this.#busy(call, lane, full);
      surplus.end('ousted');
    }
    if (signal.aborted) return abortFailure(call, 'not_sent');
    const left = call.deadline === undefined ? queueWait : Math.min(queueWait, call.deadline - this.#clock.now());
    const outcome = await new Promise<Parameters<Turn['end']>[0]>((resolve) => {
      const turn: Turn = {
        call,
        end: (given) => {
          waiting.delete(turn);
          timer.clear();
          signal.removeEventListener('abort', giveUp);
          resolve(given);
        },
      };
      const giveUp = () => turn.end('given up');
      const timer = this.#clock.after(left, giveUp);
      signal.addEventListener('abort', giveUp);
      waiting.add(turn);
    });
    if (typeof outcome !== 'string') return outcome;
    if (signal.aborted) return abortFailure(call, 'not_sent');
    if (outcome === 'ousted') return this.#busy(call, lane, `${full}, most of them yours`);
    return this.#busy(call, lane, `no slot of "${server}" became free within ${Math.round(left) / 1_000} s`);
  }

  #leave(server: string, lane: Lane, { caller }: ToolCall): void {
    lane.active--;
    tally(lane.held, turnKey(caller), -1);
    tally(lane.own, ownKey(caller), -1);
    this.#admit(server, lane);
    // An unused lane is dropped, so that names from outside cannot accumulate.
    if (lane.active === 0 && this.#lanes.size > 1_024 && this.#lanes.get(server) === lane) this.#lanes.delete(server);
  }

  /** Gives free slots to queued calls. Afterwards no queued call may run. */
  #admit(server: string, lane: Lane): void {
    const mayRun = (call: ToolCall) => this.#mayRun(server, lane, call);
    const mayClaim = (call: ToolCall) => this.#hasClaim(lane, call.caller) && mayRun(call);
    const next = () => lane.waiting.first(mayClaim) ?? lane.waiting.next(mayRun);
    for (let turn = next(); turn !== undefined; turn = next()) {
      take(lane, turn.call);
      turn.end(lane);
    }
  }

  #crowded(call: ToolCall, client: string): ToolResult<never> | undefined {
    const { perClientOf, total = DEFAULTS.limits.inFlight } = this.#options;
    const perClient = perClientOf?.(call.caller) ?? this.#options.perClient ?? DEFAULTS.limits.inFlightPerClient;
    const isClaim = this.#known.isKnown(client) && (this.#clients.get(client) ?? 0) === 0;
    const mayUseAll = isClaim || call.caller.clientName === undefined;
    const reserved = mayUseAll ? 0 : this.#reserved(client, total, this.#clients);
    if (this.#total >= total - reserved)
      return this.#busy(call, undefined, `${this.#total} calls are running in this gateway`);
    if ((this.#clients.get(client) ?? 0) >= perClient) {
      return this.#busy(call, undefined, `you have ${perClient} calls running`);
    }
    const { clientName } = call.caller;
    if (clientName === undefined || isClaim) return undefined;
    // A network client may open any number of sessions and sockets; others must still find room.
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

  /**
   * Estimates when a slot is free: the average hold time per queue position, and at least the time since a slot was
   * last freed.
   */
  #untilFree(server: string, lane: Lane): number {
    const turns = (lane.waiting.size + 1) / Math.max(1, this.#slots(server));
    return Math.max(lane.holdMs * turns, this.#clock.now() - lane.lastStart);
  }

  #busy(call: ToolCall, lane: Lane | undefined, why: string): ToolResult<never> {
    const { server, tool } = call;
    const retryAfterMs = Math.round(
      Math.min(
        LIMITS.pace.busyMost,
        Math.max(LIMITS.pace.busyLeast, lane ? this.#untilFree(call.gate ?? server, lane) : LIMITS.pace.busy),
      ),
    );
    return fail('SERVER_BUSY', `Not called: ${why}. Try again in ${retryAfterMs} ms.`, {
      server,
      tool,
      outcome: 'not_sent',
      retryAfterMs,
    });
  }
}

/** The queue of one server. Callers take turns; each caller's own calls stay in order. */
class CallerQueue {
  readonly #callers = new Map<string, Set<Turn>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(turn: Turn): void {
    const caller = turnKey(turn.call.caller);
    const own = this.#callers.get(caller) ?? new Set();
    this.#callers.set(caller, own.add(turn));
    this.#size++;
  }

  delete(turn: Turn): void {
    const caller = turnKey(turn.call.caller);
    const own = this.#callers.get(caller);
    if (own?.delete(turn)) this.#size--;
    if (own?.size === 0) this.#callers.delete(caller);
  }

  /** The first call that may run. That caller's next call comes after those of all other callers. */
  next(mayRun: (call: ToolCall) => boolean): Turn | undefined {
    for (const [caller, own] of this.#callers) {
      const [first] = own;
      if (first === undefined || !mayRun(first.call)) continue;
      this.#callers.delete(caller);
      this.#callers.set(caller, own);
      return first;
    }
    return undefined;
  }

  /** The first call of any caller that may run. */
  first(mayRun: (call: ToolCall) => boolean): Turn | undefined {
    for (const own of this.#callers.values()) for (const turn of own) if (mayRun(turn.call)) return turn;
    return undefined;
  }

  /** A call of the newest caller in this queue that has no claim. */
  newestWithout(isClaim: (call: ToolCall) => boolean): Turn | undefined {
    return [...this.#callers.values()].flatMap((own) => [...own]).findLast(({ call }) => !isClaim(call));
  }

  /**
   * The newest call of the caller with the most queued calls. Undefined if dropping it would leave that caller fewer
   * calls than `caller` has after adding one.
   */
  surplusTo(caller: string): Turn | undefined {
    let most: ReadonlySet<Turn> | undefined;
    for (const own of this.#callers.values()) if (own.size > (most?.size ?? 0)) most = own;
    if (most === undefined || most.size < (this.#callers.get(caller)?.size ?? 0) + 2) return undefined;
    return [...most].at(-1);
  }
}

function take(lane: Lane, { caller }: ToolCall): void {
  lane.active++;
  tally(lane.held, turnKey(caller), 1);
  tally(lane.own, ownKey(caller), 1);
}

function tally(counts: Map<string, number>, key: string, by: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + by;
  // An idle client keeps its entry for the next call, unless there are many entries.
  if (count === 0 && counts.size > 1_024) counts.delete(key);
  else counts.set(key, count);
}

/** Clients of one name get at most this fraction of all calls, so that three other names find room. */
const SHARES = 4;

/** Clients that cannot be told apart count as one, so that the limit applies to them too. */
const callerKey = ({ caller }: ToolCall): string => ownKey(caller);
