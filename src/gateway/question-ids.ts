/**
 * Marks the ids of a session's questions with the replica that asks them. A session may move while a question is open;
 * its answer still finds the replica that waits for it, and is taken for no other question.
 * @module
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { isReplicaId } from '../cluster/replica-bus.ts';
import { isObject } from '../json/plain-object.ts';

/** The replica and the session there that asked a question, and the question's number. */
const MARKED = /^q\.(([\w-]+)\.\d{1,15})\.(\d{1,15})$/;

/** The mark of a session of a replica. `number` tells it from others that the replica had under the same id. */
export const markOf = (replica: string, number: number): string => `${replica}.${number}`;

export const replicaIn = (mark: string): string => mark.slice(0, mark.lastIndexOf('.'));

/** Marks the questions that a connected server asks, and takes the mark from their answers. */
export function markQuestions(transport: Transport, mark: string): void {
  const { send, onmessage } = transport;
  transport.send = (message, options) => send.call(transport, marked(message, mark), options);
  transport.onmessage = (message, extra) => onmessage?.call(transport, unmarked(message, mark), extra);
}

/** The parts of a body by the mark of the question that they answer; undefined for all that answers none. */
export function partsByMark(body: unknown): ReadonlyMap<string | undefined, unknown> {
  if (!Array.isArray(body)) return new Map([[answeredIn(body), body]]);
  const parts = new Map<string | undefined, unknown[]>();
  for (const message of body) {
    const mark = answeredIn(message);
    const part = parts.get(mark);
    if (part) part.push(message);
    else parts.set(mark, [message]);
  }
  return parts;
}

function answeredIn(message: unknown): string | undefined {
  if (!isObject(message) || message.method !== undefined || typeof message.id !== 'string') return undefined;
  const [, mark, replica = ''] = MARKED.exec(message.id) ?? [];
  return isReplicaId(replica) ? mark : undefined;
}

function marked(message: JSONRPCMessage, mark: string): JSONRPCMessage {
  if (!('method' in message)) return message;
  const write = (id: unknown) => `q.${mark}.${id}`;
  if ('id' in message) return { ...message, id: write(message.id) };
  const { method, params } = message;
  if (method !== 'notifications/cancelled' || typeof params?.requestId !== 'number') return message;
  return { ...message, params: { ...params, requestId: write(params.requestId) } };
}

function unmarked(message: JSONRPCMessage, mark: string): JSONRPCMessage {
  if ('method' in message || typeof message.id !== 'string') return message;
  const [, own, , number] = MARKED.exec(message.id) ?? [];
  return own === mark ? { ...message, id: Number(number) } : message;
}
