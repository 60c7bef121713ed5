/**
 * Wraps a logger: redacts every message and field before the logger sees it.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { Logger } from '../core/types.ts';

/** The same logger behind a redactor, which is asked anew each time. */
export function redactLog(logger: Logger, redact: (text: string) => string): Logger {
  const at = (level: keyof Logger) => (fields: object, message?: string) => {
    const clean = redactField(fields, redact, 0) as object;
    if (message === undefined) logger[level](clean);
    else logger[level](clean, redact(message));
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

function redactField(value: unknown, redact: (text: string) => string, depth: number): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= LIMITS.secrets.logDepth) return '…';
  // An error shows nothing of itself as JSON, and its stack begins with its message.
  if (value instanceof Error) return redactField(factsOf(value), redact, depth);
  if (Array.isArray(value)) return value.map((item) => redactField(item, redact, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [redact(key), redactField(item, redact, depth + 1)]),
  );
}

const factsOf = (error: Error): object => ({
  type: error.name,
  message: error.message,
  stack: error.stack,
  ...('code' in error && { code: error.code }),
  ...(error.cause !== undefined && { cause: error.cause }),
});
