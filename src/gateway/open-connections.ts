/**
 * Bounds the connections of HTTP clients. Beyond the limit, the address with the most connections loses the one that
 * was opened first and has no request. So one machine cannot take all of them without a credential.
 * @module
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ofMost, tally } from '../core/fair-share.ts';
import { LIMITS } from '../core/limits.ts';

interface Open {
  readonly socket: Socket;
  readonly address: string;
  /** Requests that were let in and are not answered yet. */
  requests: number;
}

export class OpenConnections {
  readonly #max: number;
  /** The connection that was opened first is first. */
  readonly #open = new Map<string, Open>();
  /** By what a request knows as its socket. With TLS, that is another object for the same connection. */
  readonly #known = new WeakMap<Socket, Open>();

  constructor(max: number = LIMITS.wire.connections) {
    this.#max = max;
  }

  /** Counts a connection. Beyond the limit, another one is closed for it, or this one if all others are in use. */
  add(socket: Socket): void {
    const key = keyOf(socket);
    this.#open.set(key, { socket, address: socket.remoteAddress ?? '', requests: 0 });
    socket.once('close', () => this.#open.delete(key));
    if (this.#open.size > this.#max) this.#leaving()?.destroy();
  }

  /** Notes that a request was let in. Its connection is in use until the answer has left. */
  use({ socket }: IncomingMessage, response: ServerResponse): void {
    const connection = this.#known.get(socket) ?? this.#open.get(keyOf(socket));
    if (!connection) return;
    this.#known.set(socket, connection);
    connection.requests++;
    response.once('close', () => connection.requests--);
  }

  #leaving(): Socket | undefined {
    const open = [...this.#open.values()];
    const idle = open.filter(({ requests, socket }) => requests === 0 && !socket.destroyed);
    return ofMost(idle, ({ address }) => address, tally(open.map(({ address }) => address)))?.socket;
  }
}

const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
