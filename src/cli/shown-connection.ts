/**
 * Writes how a server is reached, its command line or its URL, on one line and without secrets.
 * @module
 */
import { addressWords } from '../core/transport-parts.ts';
import type { ServerDefinition } from '../core/types.ts';
import { maskSecrets } from '../secrets/credential-patterns.ts';
import { REDACTED } from '../secrets/redactor.ts';
import { secretParts } from '../secrets/secret-values.ts';
import { optionName } from '../secrets/server-secrets.ts';
import { toWord } from './json-document.ts';
import { withTilde } from './source-lines.ts';

/** A longer command line says nothing more in a list. */
const MAX_LENGTH = 500;
const REFERENCE = /\$\{[^}]*\}/g;
/** A word of visible ASCII characters needs no quotes to be read. */
const VISIBLE = /^[!#-&(-[\]-_a-~]+$/;

/** `npx -y some-server ~/Documents`, or `https://example.com/mcp`. `${NAME}` references stay as they are written. */
export function shownConnection(
  { connection }: Pick<ServerDefinition, 'connection'>,
  home: string | undefined,
): string {
  const words = addressWords(connection);
  const shown = words.map((word, at) => withTilde(withoutSecrets(word, optionName(words[at - 1])), home));
  const text = shown.map((word) => (VISIBLE.test(word) ? word : toWord(word))).join(' ');
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}

const withoutSecrets = (word: string, name: string): string =>
  maskSecrets(
    secretParts(word.replace(REFERENCE, ''), name).reduce((text, secret) => text.replaceAll(secret, REDACTED), word),
  );

/** Long paths cut to their last three names: `node …/server-memory/dist/index.js`. */
export const withShortPaths = (text: string): string =>
  text
    .split(' ')
    .map((word) => {
      const names = word.split('/');
      return names.length > 4 && !word.includes('://') ? `…/${names.slice(-3).join('/')}` : word;
    })
    .join(' ');
