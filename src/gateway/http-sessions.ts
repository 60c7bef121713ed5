/**
 * Keeps the sessions of old HTTP clients and makes room for new ones. Unused sessions go first, then hardly used ones,
 * so that opening sessions never evicts one in active use.
 * @module
 */
import { ofMost, tally } from '../core/fair-share.ts';
import { LIMITS } from '../core/limits.ts';

/** One client's session, and how to close it. */
export interface HttpSession {
  readonly id: string;
  /** The name the client gives itself. */
  readonly clientName: string;
  /** Running requests and open streams. */
  calls: number;
  streams: number;
  /** Requests since the session was opened, without pings. */
  requests: number;
  lastUsed: number;
  close(): void;
}

/** A session with this many requests is in active use. */
const WORKING = 8;

/** A bounded table of sessions. */
export class HttpSessions<S extends HttpSession> {
  readonly #max: number;
  readonly #now: () => number;
  /** Least recently used first. */
  readonly #sessions = new Map<string, S>();
  /** Sessions that end with their last call. Only answers to their questions find them. */
  readonly #released = new Set<S>();
  /** Sessions that are being opened. They count against the limit. */
  readonly #opening = new Map<object, string>();

  constructor(max: number, now: () => number = () => performance.now()) {
    this.#max = max;
    this.#now = now;
  }

  get(id: string): S | undefined {
    return this.#sessions.get(id);
  }

  /** All sessions that have or had this id here, also those that end with their last call. */
  all(id: string): readonly S[] {
    const session = this.#sessions.get(id);
    return [...(session ? [session] : []), ...[...this.#released].filter((one) => one.id === id)];
  }

  values(): Iterable<S> {
    return this.#sessions.values();
  }

  /** Ends a session that another replica has taken, once its running calls have been answered. */
  release(id: string): void {
    const session = this.#sessions.get(id);
    if (!session || session.calls === 0) return this.end(id);
    this.#sessions.delete(id);
    this.#released.add(session);
  }

  /** Reserves a place for a client, evicting an idle session if necessary. Undefined if none can be freed. */
  reserve(clientName: string): Place<S> | undefined {
    const before = this.#now() - LIMITS.age.session;
    for (const session of [...this.#sessions.values()])
      if (isIdle(session) && session.lastUsed < before) this.end(session.id);
    if (this.#sessions.size + this.#opening.size >= this.#max) {
      const leaving = this.#leaving(clientName);
      if (leaving === undefined) return undefined;
      this.end(leaving.id);
    }
    const place = {};
    this.#opening.set(place, clientName);
    return {
      take: (session) => {
        if (this.#opening.delete(place)) this.#sessions.set(session.id, session);
      },
      leave: () => void this.#opening.delete(place),
    };
  }

  /** Counts a running request or stream. Call the returned function when it has ended. */
  use(session: S, kind: 'calls' | 'streams'): () => void {
    session[kind] += 1;
    this.#touch(session);
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      session[kind] -= 1;
      this.#touch(session);
      if (session.calls === 0 && this.#released.delete(session)) session.close();
    };
  }

  end(id: string): void {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    session?.close();
  }

  endAll(): void {
    for (const id of [...this.#sessions.keys()]) this.end(id);
    for (const session of this.#released) session.close();
  }

  #touch(session: S): void {
    session.lastUsed = this.#now();
    if (!this.#sessions.delete(session.id)) return;
    this.#sessions.set(session.id, session);
  }

  /** The session to evict: an unused one, a hardly used one, one of a client with too many, or any idle one. */
  #leaving(clientName: string): S | undefined {
    const quiet = [...this.#sessions.values()].filter(({ calls }) => calls === 0);
    // An open stream alone does not count as use. A new session gets time for its first request.
    const before = this.#now() - LIMITS.age.newSession;
    const unused = quiet.find(({ requests, lastUsed }) => requests === 0 && lastUsed < before);
    if (unused) return unused;
    const hardlyUsed = quiet.filter(({ requests }) => requests < WORKING);
    const found = this.#ofMost(hardlyUsed.filter(isIdle)) ?? this.#fromTheGreediest(clientName);
    const idle = this.#ofMost(quiet.filter(isIdle));
    if (found || !idle) return found;
    const held = this.#held();
    const isFair = (held.get(idle.clientName) ?? 0) >= (held.get(clientName) ?? 0);
    return this.#ofMost(hardlyUsed) ?? (isFair ? idle : undefined);
  }

  /** The least recently used of these sessions whose client has the most. */
  #ofMost(sessions: Iterable<S>): S | undefined {
    return ofMost(sessions, ({ clientName }) => clientName, this.#held());
  }

  /** Number of sessions by client name. */
  #held(): Map<string, number> {
    return tally([...this.#opening.values(), ...[...this.#sessions.values()].map(({ clientName }) => clientName)]);
  }

  /** If all sessions are in use: a session without running calls, of a client that has at least two more than the new client. */
  #fromTheGreediest(clientName: string): S | undefined {
    const held = this.#held();
    const fair = (held.get(clientName) ?? 0) + 1;
    return this.#ofMost(
      [...this.#sessions.values()].filter((one) => one.calls === 0 && (held.get(one.clientName) ?? 0) > fair),
    );
  }
}

/** A reserved place in the table, until the session exists. */
interface Place<S> {
  take(session: S): void;
  leave(): void;
}

const isIdle = ({ calls, streams }: HttpSession): boolean => calls === 0 && streams === 0;
