/**
 * Reads the bodies of clients' requests: bounded, counted before they are parsed, and large ones in turns.
 * @module
 */
import type { IncomingMessage } from 'node:http';
import { INVALID_REQUEST, type JsonRpcId, PARSE_ERROR, type Unreadable } from '../connections/json-rpc.ts';
import { JsonSurvey } from '../connections/json-survey.ts';
import { parseLarge } from '../connections/large-json.ts';
import { largeTurns } from '../connections/large-turns.ts';
import { lostRequest } from '../connections/lost-answer.ts';
import { MOST_CLIENT_VALUES } from '../json-nesting.ts';
import { unreadRequest } from './request-fault.ts';

/** The largest body, which is the SDK's own limit. */
const MOST_BYTES = 4 * 1024 * 1024;
const HEAD_BYTES = 1024;
const TAIL_BYTES = 128;
/** What a request takes on its way to a server, after it was read: about so long for each value and each megabyte. */
const VALUE_MS = 0.004;
const MEGABYTE_MS = 15;
/** A request that takes no longer waits for no turn. */
const SHORT_MS = 8;

/** Why a body is not handed on. */
export interface RefusedBody {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly id: JsonRpcId | null;
}

export type RequestBody = { readonly value: unknown } | { readonly refused: RefusedBody };

/** Reads a whole body. Rejects when the client goes away before its end. */
export async function readRequestBody(request: IncomingMessage): Promise<RequestBody> {
  const chunks: Buffer[] = [];
  const survey = new JsonSurvey(MOST_CLIENT_VALUES);
  let head: Buffer | undefined;
  let tail: Buffer | undefined;
  let size = 0;
  let why: Unreadable | undefined;
  // What is refused is read on for a while: a client that still writes would not hear the answer.
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    head ??= chunk;
    tail = chunk;
    if (size > MOST_BYTES) why ??= 'too-long';
    else if (!survey.push(chunk)) why ??= survey.excess;
    if (why === undefined) chunks.push(chunk);
    else chunks.length = 0;
    if (size > 2 * MOST_BYTES) break;
  }
  if (survey.values > MOST_CLIENT_VALUES) why ??= 'too-many';
  if (why !== undefined) {
    const id = lostRequest(head?.toString('utf8', 0, HEAD_BYTES) ?? '', tail?.subarray(-TAIL_BYTES).toString('utf8'));
    const message = unreadRequest(why, MOST_BYTES, MOST_CLIENT_VALUES);
    return { refused: { status: why === 'too-deep' ? 400 : 413, code: INVALID_REQUEST, message, id } };
  }
  const bytes = Buffer.concat(chunks);
  const laterMs = survey.values * VALUE_MS + (size / 2 ** 20) * MEGABYTE_MS;
  try {
    if (laterMs < SHORT_MS) return { value: JSON.parse(bytes.toString('utf8')) };
    return { value: await largeTurns.run(parseLarge(bytes, survey.values), laterMs) };
  } catch {
    return {
      refused: { status: 400, code: PARSE_ERROR, message: 'The body cannot be read: it is not JSON', id: null },
    };
  }
}
