/**
 * Writes untrusted strings as parts of TypeScript source: literals, property names and comments. Nothing that a server
 * says can end a literal or a comment.
 * @module
 */
import { plainText, replaceUnseen } from '../../text/plain-text.ts';

/** Returns a JSON value as a literal; characters that show nothing are escaped. */
export const literalText = (value: unknown): string =>
  replaceUnseen(JSON.stringify(value) ?? 'null', (sign) =>
    Array.from({ length: sign.length }, (_, at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  );

/** Returns a property name of a type. */
export const keyText = (name: string): string => (isIdentifier(name) ? name : literalText(name));

/** Tells whether a name needs no quotes. */
export const isIdentifier = (name: string): boolean => /^[A-Za-z_$][\w$]*$/.test(name) && name !== '__proto__';

/** Returns a documentation comment, with a line break after it; empty for no text. */
export function commentText(text: string | undefined, indent = ''): string {
  const lines = plainText(text ?? '')
    .replaceAll('*/', '*\\/')
    .split(/\r\n|[\r\n]/)
    .map((line) => line.trimEnd());
  if (lines.join('').trim() === '') return '';
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} *${line === '' ? '' : ` ${line}`}\n`).join('')}${indent} */\n`;
}
