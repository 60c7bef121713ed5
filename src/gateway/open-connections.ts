/**
 * Bounds the connections of HTTP clients, and the requests of one connection that wait for an answer.
 *
 * Beyond the limit, the address with the most connections loses the one that was opened first and has no request. So one
 * machine cannot take all of them without a credential.
 *
 * A connection that sends many requests without waiting for an answer is closed: Node starts all that arrive together at
 * once. An address that goes on with this is read from less and less.
 * @module
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { elapsedNow } from '../async/clock.ts';
import { InFlight } from '../async/in-flight.ts';
import { LoopShare, UNASKED } from '../connections/loop-share.ts';
import { ofMost, tally } from '../core/fair-share.ts';
import { LIMITS } from '../core/limits.ts';

/** The share of one address for pipelines. */
const PIPELINES = { ...UNASKED, longestRest: LIMITS.slice.pipelineRest };

interface Unanswered {
  readonly response: ServerResponse;
  isLetIn: boolean;
}

interface Open {
  readonly socket: Socket;
  readonly address: string;
  /** Requests without an answer. */
  readonly unanswered: InFlight<Unanswered>;
  /** When it was closed because of a pipeline. */
  cut?: number;
}

export class OpenConnections {
  readonly #max: number;
  /** The connection that was opened first is first. */
  readonly #open = new Map<string, Open>();
  /** By what a request knows as its socket. With TLS, that is another object for the same connection. */
  readonly #known = new WeakMap<Socket, Open>();
  /** The addresses that have sent pipelines, the latest last. */
  readonly #pipelines = new Map<string, LoopShare>();

  constructor(max: number = LIMITS.wire.connections) {
    this.#max = max;
  }

  /** Counts a connection. Beyond the limit, another one is closed for it, or this one if all others are in use. */
  add(socket: Socket): void {
    const key = keyOf(socket);
    this.#open.set(key, { socket, address: socket.remoteAddress ?? '', unanswered: new InFlight() });
    socket.once('close', () => this.#open.delete(key));
    if (this.#open.size > this.#max) this.#leaving()?.destroy();
  }

  /** Reads from a new connection only later, if its address has sent pipelines. */
  slow(socket: Socket): void {
    const pause = this.#pipelines.get(socket.remoteAddress ?? '')?.charge(0) ?? 0;
    if (pause === 0) return;
    // Later: the HTTP server is about to start reading, and would undo it.
    process.nextTick(() => socket.pause());
    setTimeout(() => socket.resume(), pause).unref();
  }

  /** Notes a request. Returns false if its connection is closed. */
  admit({ socket }: IncomingMessage, response: ServerResponse): boolean {
    if (socket.destroyed) return false;
    const connection = this.#of(socket);
    if (!connection) return true;
    const { unanswered } = connection;
    const one = { response, isLetIn: false };
    unanswered.add(one);
    response.once('close', () => unanswered.delete(one));
    if (unanswered.size <= LIMITS.wire.pipelined) return true;
    connection.cut = elapsedNow();
    // All of them, so that none is begun: Node tells that the connection is closed only after it has read its requests.
    for (const { response } of unanswered) response.destroy();
    socket.destroy();
    return false;
  }

  /** Notes that a request was let in. Its connection is in use until the answer has left. */
  use({ socket }: IncomingMessage, response: ServerResponse): void {
    const one = this.#of(socket)?.unanswered.find((one) => one.response === response);
    if (one) one.isLetIn = true;
  }

  /** All requests without an answer. */
  *unanswered(): Iterable<ServerResponse> {
    for (const { unanswered } of this.#open.values()) for (const { response } of unanswered) yield response;
  }

  #of(socket: Socket): Open | undefined {
    const known = this.#known.get(socket);
    if (known) return known;
    const connection = this.#open.get(keyOf(socket));
    if (!connection) return undefined;
    this.#known.set(socket, connection);
    const close = () => {
      for (const { response } of connection.unanswered) response.destroy().emit('close');
    };
    socket.once('close', () => {
      // By now, Node has started and ended all requests of a pipeline that had arrived.
      if (connection.cut !== undefined) this.#charge(connection.address, elapsedNow() - connection.cut);
      // Node tells only the response that is next; this tells the others, too.
      setImmediate(close);
    });
    return connection;
  }

  #charge(address: string, ms: number): void {
    const share = this.#pipelines.get(address) ?? new LoopShare(PIPELINES);
    this.#pipelines.delete(address);
    this.#pipelines.set(address, share);
    share.charge(ms);
    const [oldest] = this.#pipelines.keys();
    if (oldest !== undefined && this.#pipelines.size > this.#max) this.#pipelines.delete(oldest);
  }

  #leaving(): Socket | undefined {
    const open = [...this.#open.values()];
    const idle = open.filter(
      ({ unanswered, socket }) => !unanswered.find(({ isLetIn }) => isLetIn) && !socket.destroyed,
    );
    return ofMost(idle, ({ address }) => address, tally(open.map(({ address }) => address)))?.socket;
  }
}

const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
