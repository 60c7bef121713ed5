/**
 * Finds the replica that a request belongs to, and passes the request on. A session belongs to the replica that opened
 * it; once that is gone, the first replica that gets a request of the session continues it.
 * @module
 */
import type { IncomingHttpHeaders } from 'node:http';
import { elapsedNow } from '../async/clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { RedisAway } from '../cluster/redis-link.ts';
import { isReplicaId } from '../cluster/replica-bus.ts';
import { type LastWords, type PassedRequest, ReplicaGone } from '../cluster/request-relay.ts';
import { readSessionId, type SessionClaims, sessionId } from '../cluster/session-ids.ts';
import { LIMITS } from '../core/limits.ts';

type Who = Pick<SessionClaims, 'principal' | 'profile'>;

/** An answer of another replica; `here` if the session is to be continued here; `ended` if it is over. */
export type Elsewhere = Response | 'here' | 'ended';

const ENDED = 'ended';
/** Sets who has a session, unless another replica was faster. Returns who has it. */
const TAKE = `local holder = redis.call('GET', KEYS[1]) or ''
if holder ~= ARGV[1] then return holder end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return ARGV[2]`;

export class SharedSessions {
  readonly #cluster: Cluster;
  /** Sessions that left the replica that opened them, and where they are now. */
  readonly #moved = new Map<string, string>();
  /** Replicas that did not answer, and until when they are not asked again. */
  readonly #gone = new Map<string, number>();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Calls back with the ids of sessions that another replica has taken. */
  onTaken(listener: (id: string) => void): void {
    this.#cluster.bus.on('session-taken', ({ from, message: { id, name } }) => {
      this.#remember(String(name), from);
      listener(String(id));
    });
  }

  /** The id of a new session. */
  newId(name: string, who: Who, greeting: SessionClaims['greeting']): string {
    const { id: owner, keys, link } = this.#cluster;
    return sessionId({ owner, name, ...who, greeting }, keys, link.now());
  }

  /** What the id of a session says; undefined if it is none of this caller's. */
  claimsOf(id: string, who: Who): SessionClaims | undefined {
    const { keys, link } = this.#cluster;
    return readSessionId(id, keys, link.now(), who);
  }

  /** Gets the answer of the replica that has a session which is not here. Rejects if its outcome is unknown. */
  async answer(
    id: string,
    { name, owner }: SessionClaims,
    request: PassedRequest,
    words: LastWords,
  ): Promise<Elsewhere> {
    const { id: me } = this.#cluster;
    let holder = this.#moved.get(name) ?? owner;
    try {
      // A session of ours that is not here has ended, or another replica has taken it.
      if (holder === me) holder = (await this.#holderOf(name)) || ENDED;
      for (;;) {
        if (holder === ENDED) return ENDED;
        // Another request has taken it a moment ago.
        if (holder === me) return this.#moved.get(name) === me ? 'here' : ENDED;
        const answer = await this.#ask(holder, request, words);
        if (answer) return answer;
        const next = await this.#take(id, name, holder === owner ? '' : holder);
        if (next === me) return 'here';
        holder = next;
      }
    } catch (error) {
      // Without Redis, a replica does what it can alone.
      const isAlone = error instanceof RedisAway && (error.details.outcome === 'not_sent' || isSafe(request));
      if (isAlone) return 'here';
      throw error;
    }
  }

  /** Passes a request on to the replica that parked its call, or asked the question that it answers. */
  async pass(replica: string, request: PassedRequest, words: LastWords): Promise<Response> {
    if (!isReplicaId(replica)) throw new ReplicaGone('unknown');
    return this.#cluster.relay.pass(request, replica, words).catch((error: unknown) => {
      // Nothing of this request was executed, but the call that waits for it went with its replica.
      throw error instanceof ReplicaGone ? new ReplicaGone('unknown') : error;
    });
  }

  /** Keeps other replicas from continuing a session that its client has ended. */
  async ended(name: string): Promise<void> {
    const { link } = this.#cluster;
    this.#remember(name, ENDED);
    // Without Redis, the session may be continued until it is too old: only by its own client.
    await link.run('SET', this.#keyOf(name), ENDED, 'PX', LIMITS.cluster.session).catch(() => {});
  }

  /** The other replica's answer; undefined if it is gone and another one may execute the request. */
  async #ask(holder: string, request: PassedRequest, words: LastWords): Promise<Response | undefined> {
    const goneUntil = this.#gone.get(holder) ?? Number.NEGATIVE_INFINITY;
    if (elapsedNow() < goneUntil) return undefined;
    try {
      return await this.#cluster.relay.pass(request, holder, words);
    } catch (error) {
      if (!(error instanceof ReplicaGone)) throw error;
      this.#gone.set(holder, elapsedNow() + LIMITS.cluster.notAsked);
      const [oldest] = this.#gone.keys();
      if (this.#gone.size > LIMITS.cluster.replicas && oldest !== undefined) this.#gone.delete(oldest);
      if (error.details.outcome === 'not_sent' || isSafe(request)) return undefined;
      throw error;
    }
  }

  async #take(id: string, name: string, expected: string): Promise<string> {
    const { id: me, link, bus } = this.#cluster;
    const args = ['1', this.#keyOf(name), expected, me, LIMITS.cluster.session];
    const holder = String(await link.run<Buffer>('EVAL', TAKE, ...args));
    this.#remember(name, holder);
    // A replica that was only frozen gives up its session when it wakes.
    if (holder === me) await bus.broadcast({ kind: 'session-taken', id, name });
    return holder;
  }

  async #holderOf(name: string): Promise<string> {
    return String((await this.#cluster.link.run<Buffer | null>('GET', this.#keyOf(name))) ?? '');
  }

  #remember(name: string, holder: string): void {
    this.#moved.delete(name);
    this.#moved.set(name, holder);
    const [oldest] = this.#moved.keys();
    if (this.#moved.size > LIMITS.cluster.moved && oldest !== undefined) this.#moved.delete(oldest);
  }

  #keyOf(name: string): string {
    return this.#cluster.keyOf('session', name);
  }
}

/** Headers that mean something to the replica that answers. Credentials stay here. */
const PASSED = /^(?:accept|content-type|user-agent|last-event-id|mcp-.+|traceparent|tracestate|baggage)$/;

/** The headers of a request that are passed on. */
export const passedHeaders = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([key, value]) => (PASSED.test(key) ? [[key, String(value)]] : [])),
  );

/** Tools of ours that change nothing. */
const READING: ReadonlySet<unknown> = new Set(['search_tools', 'get_tool_details', 'list_tools', 'list_mcp_servers']);

interface Message {
  readonly method?: unknown;
  readonly params?: { readonly name?: unknown };
}

/** Whether a request may be executed twice. */
function isSafe({ method, body }: PassedRequest): boolean {
  if (method !== 'POST') return true;
  return [body].flat().every((message) => {
    const { method: asked, params } = message as Message;
    return asked !== 'tools/call' || READING.has(params?.name);
  });
}
