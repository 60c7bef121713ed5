/**
 * Writes log messages for people, one line each, never to stdout. Compatible with pino: a program may pass its own
 * logger.
 * @module
 */
import { plainText } from '../text/plain-text.ts';
import { LIMITS } from './limits.ts';
import type { Logger } from './types.ts';

/** The log levels, quietest last. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
/** `debug`, `info`, `warn`, `error` or `silent`. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** How a message is written: a line for people, or one JSON object for programs. */
export const LOG_FORMATS = ['text', 'json'] as const;
/** `text` or `json`. */
export type LogFormat = (typeof LOG_FORMATS)[number];

type Level = Exclude<LogLevel, 'silent'>;

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
  return atLevels(level, (name, fields, message) => {
    const details = Object.entries(fields).map(
      ([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    );
    // One line per message: a server's text may contain line breaks and terminal sequences.
    const line = redact(`${name} ${message}${details.join('')}`);
    write(shown(line.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')));
  });
}

/**
 * Returns a logger that writes JSON objects: `level`, `message` and the fields of the message.
 * @param more adds fields to each message, such as its time
 */
export function createJsonLogger(
  write: (line: string) => void,
  level: LogLevel | (() => LogLevel),
  more: () => object,
): Logger {
  const readable = (_key: string, value: unknown) => (typeof value === 'string' ? shown(value) : value);
  return atLevels(level, (name, fields, message) =>
    write(JSON.stringify({ ...fields, ...more(), level: name, message }, readable)),
  );
}

const shown = (text: string): string => plainText(text).slice(0, LIMITS.text.message);

function atLevels(
  level: LogLevel | (() => LogLevel),
  emit: (name: Level, fields: object, message: string) => void,
): Logger {
  const least = () => LOG_LEVELS.indexOf(typeof level === 'function' ? level() : level);
  const at = (name: Level) => {
    const rank = LOG_LEVELS.indexOf(name);
    return (fields: object, message = '') => {
      if (rank >= least()) emit(name, fields, message);
    };
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
