/**
 * Reads an HTTP answer that is not a success: an error answer of the protocol, or only a status.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { isObject } from '../../json/plain-object.ts';
import { redactData } from '../../secrets/redact-data.ts';
import { type Redact, redactUnknown } from '../../secrets/redactor.ts';
import { HttpStatusError } from '../http-status-error.ts';
import { isJsonRpcMessage, JsonRpcError, type JsonRpcMessage } from '../json-rpc.ts';
import { shortText } from '../short-text.ts';

/** The result of a refused request: its answer, or why there is none. */
export interface Refusal {
  /** The answer, if the body is one: it carries the id of the request. */
  readonly answer: JsonRpcMessage | undefined;
  readonly error: JsonRpcError | HttpStatusError;
}

/**
 * Reads the body of a refusal. A body with the id of the request is its answer, whatever the status. An error without
 * an id explains the refusal of any request except a call: it does not tell whether the call was executed.
 */
export async function httpRefusal(
  response: Response,
  request: unknown,
  redact: Redact = redactUnknown,
): Promise<Refusal> {
  const text = await beginning(response);
  const message = messageIn(text);
  const { id, method } = requestIn(request);
  const answer = message && message.method === undefined && id !== undefined && message.id === id ? message : undefined;
  const error = message && errorIn(message, redact, response.status);
  if (error && (answer || method !== 'tools/call')) return { answer, error };
  const isHtml = response.headers.get('content-type')?.startsWith('text/html') ?? false;
  const words = error?.message ?? (isHtml ? '' : text);
  return { answer, error: new HttpStatusError(response.status, shortText(words, redact, 200)) };
}

function requestIn(body: unknown): { readonly id?: unknown; readonly method?: unknown } {
  const message = typeof body === 'string' ? parsed(body) : undefined;
  return isObject(message) ? message : {};
}

function messageIn(text: string): JsonRpcMessage | undefined {
  const message = parsed(text);
  return isJsonRpcMessage(message) ? message : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function errorIn({ error }: JsonRpcMessage, redact: Redact, status: number): JsonRpcError | undefined {
  if (typeof error !== 'object' || error === null || typeof error.code !== 'number') return undefined;
  return new JsonRpcError(
    error.code,
    redact(typeof error.message === 'string' ? error.message : 'unknown error'),
    redactData(error.data, redact),
    status,
  );
}

/** Reads as much of a body as an error message can use; a body that breaks off is used up to there. */
async function beginning(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    while (reader && text.length < LIMITS.text.raw) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
    await reader?.cancel();
  } catch {
    return text;
  }
  return text;
}
