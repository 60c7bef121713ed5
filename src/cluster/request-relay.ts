/**
 * Passes a client's request on to the replica that it belongs to, and that replica's answer back: its head at once, its
 * body piece by piece. Notices within a second that the other replica is dead, and soon that it is frozen.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { elapsedNow } from '../async/clock.ts';
import { afterLive } from '../async/live-timer.ts';
import { waitAtMost } from '../async/time-limit.ts';
import { DiscoveryError, type Outcome } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { BusMessage, ReplicaBus } from './replica-bus.ts';

/** A request as it is passed on. Credentials are left out: who is asking was checked before. */
export interface PassedRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed body; absent for requests without one. */
  readonly body?: unknown;
  /** Who is asking, as the receiving side's own code reads it. */
  readonly caller: unknown;
}

/** Ends an answer whose replica went away while it was sent. */
export interface LastWords {
  /** Sees every piece of the answer. */
  sent(bytes: Uint8Array): void;
  /** The last bytes of the answer; undefined to break it off. */
  words(error: Error, headers: Headers): Uint8Array | undefined;
}

/** Answers requests of other replicas, or refuses one with `ReplicaGone`. The signal aborts when their client has left. */
export type AnswerPassed = (request: PassedRequest, signal: AbortSignal) => Promise<Response>;

/** The replica that a request belongs to does not answer. */
export class ReplicaGone extends DiscoveryError {
  constructor(outcome: Outcome) {
    const rest =
      outcome === 'not_sent'
        ? 'The request was not executed.'
        : 'It is unknown whether the request was executed: check before you repeat it.';
    super('SERVER_CONNECTION_ERROR', `The gateway that worked on this is gone. ${rest}`, { outcome, retryable: true });
  }
}

/** A part of an answer. The first one has the head. */
interface AnswerPart {
  readonly head?: { readonly status: number; readonly headers: Record<string, string> };
  readonly bytes: Uint8Array;
}

/** A request that waits for another replica. */
interface Passed {
  readonly to: string;
  readonly isStream: boolean;
  taken(): void;
  part(part: AnswerPart, isLast: boolean): void;
  fail(error: Error): void;
}

/** A request of another replica that is worked on here. */
interface Working {
  readonly from: string;
  readonly isStream: boolean;
  readonly leave: AbortController;
}

/** Statuses of answers without a body. */
const HAS_NO_BODY: ReadonlySet<number> = new Set([202, 204, 304]);

export class RequestRelay {
  readonly #bus: ReplicaBus;
  readonly #now: () => number;
  readonly #passed = new Map<string, Passed>();
  /** Requests of others that are worked on here, and who waits for them. */
  readonly #working = new Map<string, Working>();
  /** Replicas that have ended. They get no more requests. */
  readonly #ended = new Set<string>();
  /** Replicas that are being looked at. */
  readonly #checked = new Set<string>();
  /** When each replica that is waited for was last heard. */
  readonly #heard = new Map<string, number>();
  #answer: AnswerPassed | undefined;
  /** Requests that were passed on, and that were taken from other replicas, since the start. */
  readonly counts = { passed: 0, taken: 0 };
  #isEnding = false;
  #whenSettled: (() => void) | undefined;
  #beat: NodeJS.Timeout | undefined;
  #watch: NodeJS.Timeout | undefined;

  /** `now` is the clock that all replicas share. */
  constructor(bus: ReplicaBus, now: () => number) {
    this.#bus = bus;
    this.#now = now;
    bus.on('request', ({ from, at, message: { id, bytes } }) => void this.#take(from, at, String(id), bytes));
    bus.on('leave', ({ message }) => this.#working.get(String(message.id))?.leave.abort());
    bus.on('beat', ({ from }) => this.#hear(from));
    bus.on('ended', ({ from }) => {
      this.#ended.add(from);
      const [oldest] = this.#ended;
      if (this.#ended.size > LIMITS.cluster.replicas && oldest !== undefined) this.#ended.delete(oldest);
    });
    const hear = (kind: string, use: (passed: Passed, message: BusMessage) => void) =>
      bus.on(kind, ({ from, message }) => {
        this.#hear(from);
        const passed = this.#passed.get(String(message.id));
        // Only the replica that was asked may answer.
        if (passed?.to === from) use(passed, message);
      });
    hear('taken', (passed) => passed.taken());
    hear('late', (passed) => passed.fail(new ReplicaGone('not_sent')));
    hear('part', (passed, part) => passed.part(part as unknown as AnswerPart, false));
    hear('end', (passed, part) => passed.part(part as unknown as AnswerPart, true));
    hear('broken', (passed) => passed.fail(new ReplicaGone('unknown')));
  }

  /** Sets what answers the requests of other replicas. */
  serve(answer: AnswerPassed): void {
    this.#answer = answer;
  }

  /** Passes a request on. Rejects with `ReplicaGone`, or with `RedisAway`. */
  async pass(request: PassedRequest, to: string, lastWords?: LastWords): Promise<Response> {
    if (this.#passed.size >= LIMITS.cluster.passed)
      throw new DiscoveryError('SERVER_BUSY', 'Too many requests wait for other gateways. Try again later.');
    if (this.#ended.has(to)) throw new ReplicaGone('not_sent');
    const id = randomUUID();
    this.counts.passed += 1;
    const answer = this.#expect(id, to, isStream(request), lastWords);
    const sent = this.#bus.send(to, { kind: 'request', id, bytes: Buffer.from(JSON.stringify(request)) });
    sent.then(
      (isThere) => isThere || this.#passed.get(id)?.fail(new ReplicaGone('not_sent')),
      (error: Error) => this.#passed.get(id)?.fail(error),
    );
    return answer;
  }

  /** Resolves once all requests were answered, here and for this replica, or after `ms`. Streams do not count. */
  async settled(ms: number): Promise<void> {
    const settled = new Promise<void>((resolve) => {
      this.#whenSettled = resolve;
    });
    this.#checkSettled();
    await waitAtMost(settled, ms);
  }

  /**
   * Answers what it has taken, and refuses what was sent to this replica before others knew that it ends. What takes too
   * long fails, here and at other replicas.
   */
  async end(): Promise<void> {
    this.#isEnding = true;
    await this.settled(LIMITS.time.lastAnswers);
    for (const passed of [...this.#passed.values()]) passed.fail(new ReplicaGone('unknown'));
    for (const [id, { from, leave }] of this.#working) {
      leave.abort();
      this.#tell(from, { kind: 'broken', id });
    }
    this.#working.clear();
    await this.#bus.broadcast({ kind: 'ended' }).catch(() => {});
    await this.#bus.leave();
    clearInterval(this.#beat);
    clearInterval(this.#watch);
  }

  #checkSettled(): void {
    const isWaitedFor = (one: { readonly isStream: boolean }) => !one.isStream;
    if (![...this.#passed.values(), ...this.#working.values()].some(isWaitedFor)) this.#whenSettled?.();
  }

  #expect(id: string, to: string, isStream: boolean, lastWords?: LastWords): Promise<Response> {
    return new Promise((resolve, reject) => {
      let answer: Response | undefined;
      const done = () => {
        stopTimer();
        this.#passed.delete(id);
        this.#checkSettled();
      };
      const leave = () => {
        done();
        this.#tell(to, { kind: 'leave', id });
      };
      const fail = (error: Error) => {
        leave();
        if (!answer) return reject(error);
        const words = lastWords?.words(error, answer.headers);
        if (!words) return body.error(error);
        body.enqueue(words);
        body.close();
      };
      // Not taken in time: the other replica is busy or frozen, and may have taken it all the same.
      const stopTimer = afterLive(LIMITS.cluster.taken, () => fail(new ReplicaGone('unknown')));
      let body!: ReadableStreamDefaultController<Uint8Array>;
      const stream = new ReadableStream<Uint8Array>(
        {
          start: (controller) => {
            body = controller;
          },
          cancel: leave,
        },
        new ByteLengthQueuingStrategy({ highWaterMark: LIMITS.cluster.unread }),
      );
      this.#hear(to, true);
      this.#watchAll();
      this.#passed.set(id, {
        to,
        isStream,
        taken: stopTimer,
        part: ({ head, bytes }, isLast) => {
          stopTimer();
          if (head) {
            answer = new Response(HAS_NO_BODY.has(head.status) ? null : stream, head);
            resolve(answer);
          }
          // The client does not read: its stream ends, and it may continue it later.
          if (bytes.length > 0 && (body.desiredSize ?? 0) <= 0) return fail(new Error('the client does not read'));
          if (bytes.length > 0) {
            lastWords?.sent(bytes);
            body.enqueue(bytes);
          }
          if (!isLast) return;
          done();
          body.close();
        },
        fail,
      });
    });
  }

  /** Works on a request of another replica. */
  async #take(from: string, at: number, id: string, bytes: Uint8Array | undefined): Promise<void> {
    const isLate = this.#now() - at > LIMITS.cluster.late;
    if (isLate || this.#isEnding || !this.#answer || !bytes) return this.#tell(from, { kind: 'late', id });
    this.counts.taken += 1;
    const leave = new AbortController();
    const request = JSON.parse(Buffer.from(bytes).toString()) as PassedRequest;
    this.#working.set(id, { from, isStream: isStream(request), leave });
    // A quick answer says as much.
    const taken = setTimeout(() => this.#tell(from, { kind: 'taken', id }), LIMITS.cluster.quick);
    this.#beatAll();
    try {
      const response = await this.#answer(request, leave.signal);
      await this.#send(from, id, response, leave.signal);
    } catch (error) {
      const isRefused = error instanceof ReplicaGone && error.details.outcome === 'not_sent';
      // Redis is away, or the answer broke off. The other side notices the silence, if not this word.
      this.#tell(from, { kind: isRefused ? 'late' : 'broken', id });
    } finally {
      clearTimeout(taken);
      leave.abort();
      this.#working.delete(id);
      this.#checkSettled();
    }
  }

  /** Sends an answer: in one message if it is short and there at once, else as it comes. */
  async #send(to: string, id: string, response: Response, signal: AbortSignal): Promise<void> {
    const reader = response.body?.getReader();
    signal.addEventListener('abort', () => void reader?.cancel().catch(() => {}), { once: true });
    let head: AnswerPart['head'] = { status: response.status, headers: Object.fromEntries(response.headers) };
    let gathered: Uint8Array[] = [];
    const flush = async (kind: 'part' | 'end') => {
      const bytes = Buffer.concat(gathered);
      const first = head;
      head = undefined;
      gathered = [];
      const size = LIMITS.cluster.answerPiece;
      for (let start = 0; start === 0 || start < bytes.length; start += size) {
        const isLast = start + size >= bytes.length;
        const piece = bytes.subarray(start, start + size);
        await this.#bus.send(to, {
          kind: isLast ? kind : 'part',
          id,
          ...(start === 0 && { head: first }),
          bytes: piece,
        });
      }
    };
    for (;;) {
      const reading: Promise<{ done: boolean; value?: Uint8Array | undefined }> =
        reader?.read() ?? Promise.resolve({ done: true });
      if (
        !(await waitAtMost(
          reading.catch(() => {}),
          LIMITS.cluster.gathered,
        ))
      )
        await flush('part');
      const { done, value } = await reading;
      if (done || signal.aborted) return flush('end');
      if (value) gathered.push(value);
    }
  }

  #tell(to: string, message: { readonly kind: string; readonly id?: string }): void {
    // Without Redis, the other side notices the silence.
    this.#bus.send(to, message).catch(() => {});
  }

  #hear(from: string, isNew = false): void {
    if (isNew || this.#heard.has(from)) this.#heard.set(from, elapsedNow());
  }

  /** Tells those who wait for this replica that it still works. */
  #beatAll(): void {
    this.#beat ??= setInterval(() => {
      const waiting = new Set([...this.#working.values()].map(({ from }) => from));
      for (const from of waiting) this.#tell(from, { kind: 'beat' });
      if (waiting.size > 0) return;
      clearInterval(this.#beat);
      this.#beat = undefined;
    }, LIMITS.cluster.working).unref();
  }

  /** Fails what waits for a replica that is gone or silent. */
  #watchAll(): void {
    this.#watch ??= setInterval(() => {
      const waitedFor = new Set([...this.#passed.values()].map(({ to }) => to));
      for (const replica of this.#heard.keys())
        if (!waitedFor.has(replica)) this.#heard.delete(replica);
        else void this.#check(replica);
      if (this.#passed.size > 0) return;
      clearInterval(this.#watch);
      this.#watch = undefined;
    }, LIMITS.cluster.working).unref();
  }

  async #check(replica: string): Promise<void> {
    if (this.#checked.has(replica)) return;
    this.#checked.add(replica);
    // A request that is passed on later fails by itself.
    const waiting = [...this.#passed].filter(([, { to }]) => to === replica);
    const isSilent = () => (this.#heard.get(replica) ?? 0) < elapsedNow() - LIMITS.cluster.silent;
    const isGone = await this.#bus.isThere(replica).then(
      (isThere) => !isThere,
      () => false,
    );
    // Its last answers come over another connection, and may be there unread.
    if (isGone || isSilent()) await waitAtMost(this.#bus.caughtUp(), LIMITS.cluster.held);
    this.#checked.delete(replica);
    if (!isGone && !isSilent()) return;
    for (const [id, passed] of waiting) if (this.#passed.has(id)) passed.fail(new ReplicaGone('unknown'));
  }
}

/** A client's stream of news. It ends with its session. */
const isStream = ({ method }: PassedRequest): boolean => method === 'GET';
