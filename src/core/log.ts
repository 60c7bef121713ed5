/**
 * Writes log messages for people, one line each, never to stdout. Compatible with pino: a program may pass its own
 * logger.
 * @module
 */
import { plainText } from '../text/plain-text.ts';
import type { Logger } from './types.ts';

/** The log levels, quietest last. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
/** `debug`, `info`, `warn`, `error` or `silent`. */
export type LogLevel = (typeof LOG_LEVELS)[number];

const nothing = (): void => {};

/** Discards all messages. The default of the library. */
export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/**
 * Returns a logger that writes `level message key=value …` lines through `write`. If `level` is a function, the level
 * may change.
 */
export function createLogger(
  write: (line: string) => void,
  level: LogLevel | (() => LogLevel) = 'info',
  redact: (text: string) => string = (text) => text,
): Logger {
  const least = () => LOG_LEVELS.indexOf(typeof level === 'function' ? level() : level);
  const at = (name: Exclude<LogLevel, 'silent'>) => {
    const rank = LOG_LEVELS.indexOf(name);
    return (fields: object, message = '') => {
      if (rank < least()) return;
      const details = Object.entries(fields).map(
        ([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
      );
      // One line per message: a server's text may contain line breaks and terminal sequences.
      const line = redact(`${name} ${message}${details.join('')}`);
      write(plainText(line.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')).slice(0, 4000));
    };
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
