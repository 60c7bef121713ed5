/**
 * Messages for people, one line each, away from stdout. Compatible with pino: pass your own logger instead if you have one.
 * @module
 */
import type { Logger } from './types.ts';

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LEVELS)[number];

const nothing = (): void => {};

/** Says nothing. The default of the library. */
export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** A logger that writes `level message key=value …` lines through `write`. */
export function createLogger(
  write: (line: string) => void,
  level: LogLevel = 'info',
  redact: (text: string) => string = (text) => text,
): Logger {
  const least = LEVELS.indexOf(level);
  const at = (name: Exclude<LogLevel, 'silent'>) => {
    if (LEVELS.indexOf(name) < least) return nothing;
    return (fields: object, message = '') => {
      const details = Object.entries(fields).map(
        ([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
      );
      // One line per message: what a server said may hold line breaks and terminal sequences.
      write(
        redact(`${name} ${message}${details.join('')}`)
          .replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
          .slice(0, 4000),
      );
    };
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
