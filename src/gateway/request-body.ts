/**
 * Reads request bodies: limits their size, counts their values before parsing, and parses large ones one at a time.
 * @module
 */

import type { IncomingMessage } from 'node:http';
import {
  INTERNAL_ERROR,
  INVALID_REQUEST,
  type JsonRpcId,
  PARSE_ERROR,
  type Unreadable,
} from '../connections/json-rpc.ts';
import { parseLarge } from '../connections/large-json.ts';
import { largeTurns } from '../connections/large-turns.ts';
import { lostRequest } from '../connections/lost-answer.ts';
import { LIMITS } from '../core/limits.ts';
import { surveyWritten } from '../json/json-nesting.ts';
import { JsonSurvey } from '../json/json-survey.ts';
import { isObject } from '../json/plain-object.ts';
import type { ByteRoom } from './byte-room.ts';
import { unreadRequest } from './request-fault.ts';
import type { RequestTurns } from './request-turns.ts';

/** Estimated time to process a request after reading it, per value and per megabyte. */
const VALUE_MS = 0.004;
const MEGABYTE_MS = 15;

/** In characters. Shorter JSON in a string always parses within `LIMITS.slice.shortRequest`. */
const SHORTEST_WRITTEN = 4 * 1024;
/** Levels that are searched for arguments in strings. Agents may wrap arguments once too often. */
const WRITTEN_LEVELS = 4;

/** Why a body is refused. */
interface RefusedBody {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly id: JsonRpcId | null;
}

type RequestBody = { readonly value: unknown } | { readonly refused: RefusedBody };

const NO_ROOM: RefusedBody = {
  status: 503,
  code: INTERNAL_ERROR,
  message: 'Too many large requests are being read. Send it again.',
  id: null,
};

/** A whole body, or why it is not wanted. */
interface Arrived {
  readonly size: number;
  readonly values: number;
  readonly head: Buffer | undefined;
  readonly tail: Buffer | undefined;
  readonly why: Unreadable | undefined;
}

/** What all requests that are being read share. */
interface Shared {
  readonly room: ByteRoom;
  /** The pieces of long bodies are read in turn, so that many of them leave time for other requests. */
  readonly pieces: RequestTurns;
}

const ofConnection = ({ socket }: IncomingMessage): string => `${socket.remoteAddress} ${socket.remotePort}`;

/**
 * Reads a whole body, if there is room for it. The room is kept until the request's turn comes. Rejects if the client
 * disconnects first.
 */
export function readRequestBody(
  request: IncomingMessage,
  { room, pieces }: Shared,
  turn: (value: unknown) => Promise<void> | undefined,
): Promise<RequestBody> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let isGivenUp = false;
    const giveUp = () => {
      isGivenUp = true;
      chunks.length = 0;
      resolve({ refused: NO_ROOM });
    };
    // A short body costs no more than its connection, so it is not counted.
    const hold = (bytes: number) => {
      if (isGivenUp) chunks.length = 0;
      if (isGivenUp || bytes <= LIMITS.wire.shortBody) return room.leave(request);
      room.hold(request, bytes, giveUp);
      const next = pieces.take(ofConnection(request));
      if (!next) return;
      request.pause();
      void next.then(() => request.resume());
    };
    const read = async (): Promise<RequestBody> => {
      try {
        const body = await parsed(await collect(request, chunks, hold), chunks);
        // The request lives as long as its answer, which may be a stream, and its listeners with it.
        chunks.length = 0;
        if ('value' in body) await turn(body.value);
        return body;
      } finally {
        room.leave(request);
      }
    };
    read().then(resolve, reject);
  });
}

/** Has memory for each level, so one that is not in use is kept. */
let spare: JsonSurvey | undefined;

/** Collects the chunks of a body. Goes on reading a refused one: a client that is still writing reads no answer. */
function collect(request: IncomingMessage, chunks: Buffer[], hold: (bytes: number) => void): Promise<Arrived> {
  return new Promise((resolve, reject) => {
    const survey = spare ?? new JsonSurvey(LIMITS.json.clientValues);
    spare = undefined;
    let head: Buffer | undefined;
    let tail: Buffer | undefined;
    let size = 0;
    let why: Unreadable | undefined;
    const end = () => {
      const { values } = survey;
      if (values > LIMITS.json.clientValues) why ??= 'too-many';
      survey.reset();
      spare = survey;
      resolve({ size, values, head, tail, why });
    };
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      head ??= chunk;
      tail = chunk;
      if (size > LIMITS.wire.body) why ??= 'too-long';
      else if (!survey.push(chunk)) why ??= survey.excess;
      if (why === undefined) chunks.push(chunk);
      else chunks.length = 0;
      hold(why === undefined ? size : 0);
      if (size > 2 * LIMITS.wire.body) request.destroy();
    });
    request.on('end', end);
    request.on('error', reject);
    request.on('close', () => request.readableEnded || reject(new Error('the client closed the connection')));
  });
}

async function parsed({ size, values, head, tail, why }: Arrived, chunks: Buffer[]): Promise<RequestBody> {
  if (why !== undefined) {
    const id = lostRequest(
      head?.toString('utf8', 0, LIMITS.wire.head) ?? '',
      tail?.subarray(-LIMITS.wire.tail).toString('utf8'),
    );
    const message = unreadRequest(why, LIMITS.wire.body, LIMITS.json.clientValues);
    return { refused: { status: why === 'too-deep' ? 400 : 413, code: INVALID_REQUEST, message, id } };
  }
  const laterMs = values * VALUE_MS + (size / 2 ** 20) * MEGABYTE_MS;
  try {
    const value: unknown =
      laterMs < LIMITS.slice.shortRequest
        ? JSON.parse(Buffer.concat(chunks).toString('utf8'))
        : await largeTurns.run(parseInTurn(chunks, values), laterMs);
    const writtenMs = size < SHORTEST_WRITTEN ? 0 : writtenValues(value) * VALUE_MS;
    if (writtenMs >= LIMITS.slice.shortRequest) await largeTurns.pass(writtenMs);
    return { value };
  } catch {
    return {
      refused: { status: 400, code: PARSE_ERROR, message: 'The request body is not valid JSON', id: null },
    };
  }
}

/** Joins the chunks only when it is their turn: until then, a body whose room is needed can be given up. */
function* parseInTurn(chunks: Buffer[], values: number): Generator<unknown, unknown> {
  const bytes = Buffer.concat(chunks);
  chunks.length = 0;
  return yield* parseLarge(bytes, values);
}

/**
 * Counts the values of JSON inside strings, in places where arguments may stand and will be parsed later. JSON with too
 * many values counts as 0, because it is refused when parsed.
 */
function writtenValues(value: unknown, levels = WRITTEN_LEVELS): number {
  if (typeof value === 'string') {
    if (value.length < SHORTEST_WRITTEN || !/^\s*[{"]/.test(value)) return 0;
    const { values, fault } = surveyWritten(value);
    return fault === undefined ? values : 0;
  }
  if (levels === 0 || !isObject(value)) return 0;
  let sum = 0;
  for (const key of WRITTEN_KEYS) if (Object.hasOwn(value, key)) sum += writtenValues(value[key], levels - 1);
  return sum;
}

const WRITTEN_KEYS = ['params', 'arguments', 'args', 'parameters', 'input'];
