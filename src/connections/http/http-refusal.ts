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
interface Refusal {
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
  const { id, method } = requestIn(request);
  const type = response.headers.get('content-type') ?? '';
  const isAnswer = (message: JsonRpcMessage) => message.method === undefined && id !== undefined && message.id === id;
  const isStream = type.startsWith('text/event-stream');
  const mayAnswer = isStream || type.startsWith('application/json');
  const text = await beginning(response, mayAnswer ? LIMITS.wire.large : LIMITS.text.raw);
  const messages = (isStream ? eventsIn(text) : [text]).flatMap(messageIn);
  const answer = messages.find(isAnswer);
  const message = answer ?? messages[0];
  const error = message && errorIn(message, redact, response.status);
  if (error && (answer || method !== 'tools/call')) return { answer, error };
  const words = error?.message ?? (type.startsWith('text/html') ? '' : text);
  return { answer, error: new HttpStatusError(response.status, shortText(words, redact, 200)) };
}

function requestIn(body: unknown): { readonly id?: unknown; readonly method?: unknown } {
  const message = typeof body === 'string' ? parsed(body) : undefined;
  return isObject(message) ? message : {};
}

function messageIn(text: string): JsonRpcMessage[] {
  const message = parsed(text);
  return isJsonRpcMessage(message) ? [message] : [];
}

/** Returns the data of each whole event. */
const eventsIn = (text: string): string[] =>
  text
    .split(/(?:\r\n|\r|\n){2}/)
    .slice(0, -1)
    .map((event) => (event.match(/^data:.*$/gm) ?? []).map((line) => line.slice('data:'.length)).join('\n'));

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

/**
 * Reads up to `max` characters of a body, for a short time. Uses what has arrived if the body breaks off or is slow.
 */
async function beginning(response: Response, max: number): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  const timer = setTimeout(() => void reader?.cancel().catch(() => {}), LIMITS.time.refusal);
  let text = '';
  try {
    while (reader && text.length < max) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
    await reader?.cancel();
  } catch {
    // What has arrived is used.
  } finally {
    clearTimeout(timer);
  }
  return text;
}
