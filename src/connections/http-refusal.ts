/**
 * What an HTTP answer that is not a success means: an error answer of the protocol, or just a status.
 * @module
 */
import { redactData } from '../secrets/redact-data.ts';
import { type Redact, redactUnknown } from '../secrets/redactor.ts';
import { isJsonRpcMessage, JsonRpcError } from './json-rpc.ts';
import { shortText } from './short-text.ts';

/** The server answered, but not with a success and not in JSON-RPC. */
export class HttpStatusError extends Error {
  override readonly name = 'HttpStatusError';
  readonly status: number;

  constructor(status: number, text: string) {
    super(`it answered HTTP ${status}${text ? `: ${text}` : ''}`);
    this.status = status;
  }
}

const READ_CHARS = 64 * 1024;

/** Reads the body and says what it means. */
export async function httpRefusal(
  response: Response,
  redact: Redact = redactUnknown,
): Promise<JsonRpcError | HttpStatusError> {
  const text = await beginning(response);
  const isHtml = response.headers.get('content-type')?.startsWith('text/html') ?? false;
  return errorAnswer(text, redact) ?? new HttpStatusError(response.status, isHtml ? '' : shortText(text, redact, 200));
}

function errorAnswer(text: string, redact: Redact): JsonRpcError | undefined {
  try {
    const body: unknown = JSON.parse(text);
    const error = isJsonRpcMessage(body) ? body.error : undefined;
    if (typeof error !== 'object' || error === null || typeof error.code !== 'number') return undefined;
    return new JsonRpcError(
      error.code,
      redact(typeof error.message === 'string' ? error.message : 'unknown error'),
      redactData(error.data, redact),
    );
  } catch {
    return undefined;
  }
}

/** As much of a body as an error message can use; a body that breaks off counts up to there. */
async function beginning(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    while (reader && text.length < READ_CHARS) {
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
