/**
 * Rewords the SDK's refusals. The SDK answers an invalid request with a dump of its validator's findings, usually as an
 * internal error. Returns INVALID_PARAMS with a sentence instead; other errors stay as they are.
 * @module
 */
import { INTERNAL_ERROR, INVALID_PARAMS, type JsonRpcErrorBody, METHOD_NOT_FOUND } from '../connections/json-rpc.ts';
import { LIMITS } from '../core/limits.ts';

interface Issue {
  readonly path: readonly (string | number)[];
  readonly expected?: unknown;
  readonly message: string;
}

const WORDS: ReadonlyMap<unknown, string> = new Map([
  ['string', 'a string'],
  ['number', 'a number'],
  ['int', 'a whole number'],
  ['boolean', 'true or false'],
  ['array', 'a list'],
  ['object', 'an object'],
  ['record', 'an object'],
]);

/** Rewords a validator's dump, and classifies an unknown method. Other errors stay as they are. */
export function reworded(error: JsonRpcErrorBody): JsonRpcErrorBody {
  const { code, message } = error;
  if (code === METHOD_NOT_FOUND && error.data === undefined) return { ...error, data: { code: 'VALIDATION_ERROR' } };
  if (code !== INTERNAL_ERROR && code !== INVALID_PARAMS) return error;
  const issues = issuesIn(message);
  if (issues === undefined) return error;
  const told = [...new Set(issues.map(inWords))];
  const more = told.length > LIMITS.validation.problems ? [`and ${told.length - LIMITS.validation.problems} more`] : [];
  const sentence = [...told.slice(0, LIMITS.validation.problems), ...more].join('; ');
  return { code: INVALID_PARAMS, message: sentence, data: { code: 'VALIDATION_ERROR' } };
}

/** The validator's findings: a JSON list, alone or after the method's name. */
function issuesIn(message: string): readonly Issue[] | undefined {
  const start = message.indexOf('[');
  if (start === -1 || !message.endsWith(']')) return undefined;
  try {
    const list: unknown = JSON.parse(message.slice(start));
    return Array.isArray(list) && list.length > 0 && list.every(isIssue) ? list : undefined;
  } catch {
    // Ordinary text with a bracket.
    return undefined;
  }
}

function isIssue(value: unknown): value is Issue {
  const { path, message } = Object(value) as { path?: unknown; message?: unknown };
  return Array.isArray(path) && typeof message === 'string';
}

function inWords({ path, expected, message }: Issue): string {
  const where = path.length === 0 ? 'the request' : path.join('.').slice(0, LIMITS.text.reason);
  const wanted = WORDS.get(expected);
  if (wanted === undefined) return `${where}: ${message.slice(0, LIMITS.text.reason)}`;
  return message.endsWith('received undefined')
    ? `${where} is missing: it must be ${wanted}`
    : `${where} must be ${wanted}`;
}
