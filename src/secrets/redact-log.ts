/**
 * Wraps a logger: redacts every message and field before the logger sees it.
 * @module
 */
import type { Logger } from '../core/types.ts';

const MAX_DEPTH = 8;

/** Returns the logger behind a redactor, which is called for every message. */
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
  if (depth >= MAX_DEPTH) return '…';
  // An error serialises to nothing as JSON, and its stack starts with its message.
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
