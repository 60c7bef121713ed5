/**
 * Keeps the last messages of each session of the old protocol, so that a client whose stream broke can ask for what it
 * missed (`Last-Event-ID`). Bounded per session and over all sessions; the oldest are forgotten first.
 * @module
 */
import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server';
import { INTERNAL_ERROR } from '../connections/json-rpc.ts';
import { LIMITS } from '../core/limits.ts';
import type { ByteRoom } from './byte-room.ts';

interface Kept {
  readonly number: number;
  readonly stream: string;
  readonly message: JSONRPCMessage;
  readonly bytes: number;
}

/** The events of one session. All sessions share a room. */
export class SessionEvents implements EventStore {
  readonly #room: ByteRoom;
  /** In the order in which they were sent. */
  #kept: Kept[] = [];
  #bytes = 0;
  #last = 0;

  constructor(room: ByteRoom) {
    this.#room = room;
  }

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    const number = ++this.#last;
    const bytes = weightOf(message, LIMITS.wire.event);
    const kept = bytes <= LIMITS.wire.event ? message : standIn(message);
    this.#kept.push({ number, stream, message: kept, bytes: Math.min(bytes, LIMITS.wire.event) });
    this.#bytes += this.#kept.at(-1)?.bytes ?? 0;
    while (this.#kept.length > LIMITS.wire.sessionEvents || this.#bytes > LIMITS.wire.sessionEventBytes)
      this.#bytes -= this.#kept.shift()?.bytes ?? 0;
    this.#room.hold(this, this.#bytes, () => this.clear());
    return `${number}_${stream}`;
  }

  /**
   * The SDK calls this for a client that continues a stream. The new connection gets the stream even if the old one looks
   * open, because a broken network may go unnoticed. (With `getStreamIdForEventId`, the SDK would refuse the client.)
   */
  async replayEventsAfter(
    id: string,
    { send }: { send: (eventId: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const stream = streamIn(id) ?? '';
    const after = Number.parseInt(id, 10);
    // The first event of a stream has no message; it only tells the client an id.
    for (const { number, stream: of, message } of [...this.#kept])
      if (of === stream && number > after && 'jsonrpc' in message) await send(`${number}_${stream}`, message);
    return stream;
  }

  /** Forgets everything. */
  clear(): void {
    this.#kept = [];
    this.#bytes = 0;
    this.#room.leave(this);
  }
}

/** The stream that an event id belongs to; undefined if this gateway did not create the id. */
export const streamIn = (id: string): string | undefined => /^\d{1,15}_(.{1,100})$/.exec(id)?.[1];

/** Replaces a message that is too large to keep. A client must not wait forever for an answer. */
function standIn(message: JSONRPCMessage): JSONRPCMessage {
  if (!('id' in message) || 'method' in message) return {} as JSONRPCMessage;
  const text = 'The call was executed, but its result is too large to be sent again after the connection broke.';
  return { jsonrpc: '2.0', id: message.id as string, error: { code: INTERNAL_ERROR, message: text } };
}

const VALUE_BYTES = 16;

/** Roughly the memory of a value. Stops counting above `most`. */
function weightOf(value: unknown, most: number): number {
  let weight = 0;
  const rest: unknown[] = [value];
  while (rest.length > 0 && weight <= most) {
    const next = rest.pop();
    weight += VALUE_BYTES;
    if (typeof next === 'string') weight += next.length;
    else if (Array.isArray(next)) for (const one of next) rest.push(one);
    else if (typeof next === 'object' && next !== null)
      for (const [key, one] of Object.entries(next)) {
        weight += key.length;
        rest.push(one);
      }
  }
  return weight;
}
