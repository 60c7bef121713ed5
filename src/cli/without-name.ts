/**
 * Removes a server's name from the beginning of a message that stands beside that name.
 * @module
 */

/** `it exited` for `github: it exited`. */
export function withoutName(message: string, name: string): string {
  for (const start of [`${name}: `, `${name} `]) if (message.startsWith(start)) return message.slice(start.length);
  return message;
}
