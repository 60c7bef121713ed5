/**
 * Keeps the sessions of old clients on HTTP, and makes room for a new one where clients left without a word. Those that have
 * never asked for anything go first, then those that have hardly: opening sessions pushes nobody out who works with one.
 * @module
 */

/** One client's session, with what must be closed at its end. */
export interface HttpSession {
  readonly id: string;
  /** What its client calls itself. */
  readonly clientName: string;
  /** Requests under way, and streams that are open. */
  calls: number;
  streams: number;
  /** Requests that it has made since it was opened; pings are none. */
  requests: number;
  lastUsed: number;
  close(): void;
}

/** Sessions that are idle this long end when a new one comes. */
const IDLE_MS = 30 * 60_000;
/** A session that has asked for nothing after this long was not opened to be used. */
const NEW_MS = 5_000;
/** A session with so many requests is one that somebody works with. */
const WORKING = 8;

/** A bounded table of sessions. */
export class HttpSessions<S extends HttpSession> {
  readonly #max: number;
  readonly #now: () => number;
  /** Least recently used first. */
  readonly #sessions = new Map<string, S>();
  /** Sessions that are being opened have their place, too. */
  readonly #opening = new Map<object, string>();

  constructor(max: number, now: () => number = () => performance.now()) {
    this.#max = max;
    this.#now = now;
  }

  get(id: string): S | undefined {
    return this.#sessions.get(id);
  }

  values(): Iterable<S> {
    return this.#sessions.values();
  }

  /** Takes a place for a client, at the cost of an idle session if need be. Undefined where there is none. */
  reserve(clientName: string): Place<S> | undefined {
    const before = this.#now() - IDLE_MS;
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

  /** Counts a request or stream as under way; the result says when it has ended. */
  use(session: S, kind: 'calls' | 'streams'): () => void {
    session[kind] += 1;
    this.#touch(session);
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      session[kind] -= 1;
      this.#touch(session);
    };
  }

  end(id: string): void {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    session?.close();
  }

  endAll(): void {
    for (const id of [...this.#sessions.keys()]) this.end(id);
  }

  #touch(session: S): void {
    session.lastUsed = this.#now();
    if (!this.#sessions.delete(session.id)) return;
    this.#sessions.set(session.id, session);
  }

  /** The session that gives up its place: one that was never used, hardly used, one of too many, or at last any idle one. */
  #leaving(clientName: string): S | undefined {
    const quiet = [...this.#sessions.values()].filter(({ calls }) => calls === 0);
    // An open stream alone makes no use. Whoever has just come is about to ask.
    const before = this.#now() - NEW_MS;
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

  /** The longest unused session of the client that has most. */
  #ofMost(sessions: readonly S[]): S | undefined {
    const held = this.#held();
    let found: S | undefined;
    let most = 0;
    for (const session of sessions) {
      const count = held.get(session.clientName) ?? 0;
      if (count > most) [found, most] = [session, count];
    }
    return found;
  }

  /** How many sessions clients have, by name. */
  #held(): Map<string, number> {
    const held = new Map<string, number>();
    const names = [...this.#opening.values(), ...[...this.#sessions.values()].map((session) => session.clientName)];
    for (const name of names) held.set(name, (held.get(name) ?? 0) + 1);
    return held;
  }

  /** Where everything is in use, a client that has clearly more than the new one gives up a stream that says nothing. */
  #fromTheGreediest(clientName: string): S | undefined {
    const held = this.#held();
    const own = held.get(clientName) ?? 0;
    let found: S | undefined;
    for (const session of this.#sessions.values()) {
      const most = found === undefined ? own + 1 : (held.get(found.clientName) ?? 0);
      if (session.calls === 0 && (held.get(session.clientName) ?? 0) > most) found = session;
    }
    return found;
  }
}

/** A place in the table until the session is there. */
export interface Place<S> {
  take(session: S): void;
  leave(): void;
}

const isIdle = ({ calls, streams }: HttpSession): boolean => calls === 0 && streams === 0;
