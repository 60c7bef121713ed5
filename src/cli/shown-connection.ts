/**
 * Writes how a server is reached, its command line or its URL, on one line and without secrets.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { addressWords } from '../core/transport-parts.ts';
import type { ServerDefinition } from '../core/types.ts';
import { maskSecrets } from '../secrets/credential-patterns.ts';
import { REDACTED } from '../secrets/redactor.ts';
import { secretParts } from '../secrets/secret-values.ts';
import { optionName } from '../secrets/server-secrets.ts';
import { toWord } from './json-document.ts';
import { withTilde } from './source-lines.ts';

const REFERENCE = /\$\{[^}]*\}/g;
/** A word of visible ASCII characters needs no quotes to be read. */
const VISIBLE = /^[!#-&(-[\]-_a-~]+$/;

/**
 * `npx -y some-server ~/Documents`, or `https://example.com/mcp`. `${NAME}` references stay as they are written. `redact`
 * knows the secrets of all servers: one server's arguments may contain another's.
 */
export function shownConnection(
  { connection }: Pick<ServerDefinition, 'connection'>,
  home: string | undefined,
  redact: (text: string) => string,
): string {
  const words = addressWords(connection);
  const shown = words.map((word, at) => withTilde(redact(withoutSecrets(word, optionName(words[at - 1]))), home));
  const text = shown.map((word) => (VISIBLE.test(word) ? word : isProse(word) ? '…' : toWord(word))).join(' ');
  return text.length > LIMITS.shown.command ? `${text.slice(0, LIMITS.shown.command)}…` : text;
}

/** Whether an argument is a whole script or sentence: it says little in a list, and may contain a secret in any form. */
const isProse = (word: string): boolean => word.length > LIMITS.shown.argument;

/** `-k` and `-t` usually take a key or a token, which may look like an ordinary word. */
const KEY_OPTION = /^[kt]$/i;
/** The fragment of a URL is hidden: it is never sent to the server, so it is useless or a secret. */
const FRAGMENT = /^([\w+.-]{1,30}:\/\/[^#]*#).+$/s;

const withoutSecrets = (word: string, name: string): string => {
  const own = word.replace(REFERENCE, '');
  if (KEY_OPTION.test(name) && own !== '' && !/^-|:\/\//.test(own)) return REDACTED;
  return maskSecrets(
    secretParts(own, name)
      .reduce((text, secret) => text.replaceAll(secret, REDACTED), word)
      .replace(FRAGMENT, `$1${REDACTED}`),
  );
};

/** Long paths cut to their last three names: `node …/server-memory/dist/index.js`. */
export const withShortPaths = (text: string): string =>
  text
    .split(' ')
    .map((word) => {
      const names = word.split('/');
      return names.length > 4 && !/:\/\/|\$\{[^}]*\//.test(word) ? `…/${names.slice(-3).join('/')}` : word;
    })
    .join(' ');
