/**
 * A server in, the first place out where something is written that may be a secret: what must not be copied from one
 * file to another. Errs on the side of secrecy; references are fine.
 * @module
 */
import { maskSecrets } from './mask-secrets.ts';
import { isSecretName } from './secret-names.ts';
import { secretsOf } from './secrets.ts';
import type { ServerDefinition } from './types.ts';

// Switches, numbers, plain words, paths, and addresses without anything personal in them.
const HARMLESS = /^(?:\d{1,6}|[A-Za-z]{1,20}|[./~][^\s]{0,500}|https?:\/\/[\w.:-]{1,200}(?:\/[\w./-]{0,40})?)$/;
const REFERENCE = /\$\{[^}]{1,1000}\}/g;
const SCHEME = /^(?:bearer|basic|token)?\s*$/i;

/** `env GITHUB_TOKEN`, `header Authorization`, `an argument`, `the url`; undefined when nothing looks secret. */
export function literalSecretIn(server: ServerDefinition): string | undefined {
  const { connection } = server;
  const [kind, texts] =
    connection.kind === 'stdio' ? (['env', connection.env] as const) : (['header', connection.headers] as const);
  const named = Object.entries(texts).find(([name, text]) => isLiteral(name, text));
  if (named !== undefined) return `${kind} ${named[0]}`;
  const words = connection.kind === 'stdio' ? [connection.command, ...connection.args] : [connection.url];
  // Without references to look up nothing is left to find but what is written out.
  const bare = { ...server, connection: { ...connection, env: {}, headers: {} } };
  const found = secretsOf([bare], {}).size > 0 || words.some((word) => maskSecrets(word) !== word);
  if (!found) return undefined;
  return connection.kind === 'stdio' ? 'an argument' : 'the url';
}

function isLiteral(name: string, text: string): boolean {
  const own = text.replace(REFERENCE, '');
  const hasDefault = /\$\{[^}]{1,1000}:-[^}]/.test(text);
  if (text !== own && SCHEME.test(own) && !hasDefault) return false;
  if (own === '') return hasDefault;
  return isSecretName(name) || !HARMLESS.test(own) || hasDefault;
}
