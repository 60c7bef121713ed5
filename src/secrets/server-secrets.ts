/**
 * Collects the secrets of configured servers: values of their references, and literal secrets in environments, headers,
 * arguments and URLs. All output is redacted with them.
 * @module
 */
import {
  addressWords,
  furtherTextsOf,
  isLocal,
  namedTextsOf,
  transportParts,
  userTextsOf,
} from '../core/transport-parts.ts';
import type { ConnectionDefinition, ServerDefinition } from '../core/types.ts';
import { maskSecrets } from './credential-patterns.ts';
import { isSecretName } from './secret-names.ts';
import { isNamedSecret, secretParts } from './secret-values.ts';

export interface ReferencedValue {
  readonly value: string;
  /** Its variable; undefined for the content of a file. */
  readonly variable: string | undefined;
}

/** A text with its references expanded. */
export interface LookedUp {
  readonly expanded: string;
  /** The values of its references, including defaults. */
  readonly values: readonly ReferencedValue[];
}

/** Expands references; the configuration knows their syntax. */
interface References {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Expands what can be read now; a missing value counts as empty. */
  lookUp(text: string): LookedUp;
}

/** Where a text is used: the name of its variable, option or header. */
export interface Place {
  readonly name: string;
  /** A reference in a header is usually a key, whatever its name. */
  readonly header?: boolean | undefined;
}

/** Tells whether a variable holds a proxy's URL, which may contain a password. */
export const isProxyVariable = (name: string): boolean => /^(?:https?|all|ftp|wss?)_proxy$/i.test(name);

/** Returns every secret value of the configured servers and of the embedding service. */
export function secretsOf(
  servers: Iterable<ServerDefinition>,
  references: References,
  embedder: { readonly url?: string | undefined; readonly apiKey?: string | undefined } = {},
): Set<string> {
  const secrets = new Set<string>();
  const add = (values: readonly string[]) => {
    for (const value of values) secrets.add(value);
  };
  const { env } = references;
  for (const { name, connection } of servers) {
    const texts = [...placedWords(connection), ...placedNames(connection)];
    for (const given of texts) add(secretsIn(references.lookUp(given.text), given));
    // A token is a secret as a whole; an inherited variable only if its name or value suggests one.
    for (const passed of transportParts(connection.type).passedOn(connection, name))
      for (const value of passed.from.flatMap((variable) => env[variable] || []))
        add(isLocal(connection) ? secretParts(value, passed.name) : [value]);
  }
  for (const [name, value = ''] of Object.entries(env)) if (isProxyVariable(name)) add(proxySecrets(value));
  const service = [
    { text: embedder.url ?? '', name: '' },
    { text: embedder.apiKey ?? '', name: 'apiKey' },
  ];
  for (const given of service) add(secretsIn(references.lookUp(given.text), given));
  return secrets;
}

/** Returns the secrets of one configured text. */
export function secretsIn({ expanded, values }: LookedUp, { name, header = false }: Place): string[] {
  // Either name may suggest a secret: `AUTH_TOKEN: ${FOO}`, `args: [${MY_TOKEN}]`.
  const referenced = values.flatMap(({ value, variable = '' }) => [
    ...secretParts(value, name, header || variable === ''),
    ...(isNamedSecret(value.trim(), variable) ? [value.trim()] : []),
  ]);
  // The expanded text is examined too, so that `Bearer ${X}` and `https://me:${X}@host` are recognised.
  return values[0]?.value === expanded ? referenced : [...referenced, ...secretParts(expanded, name)];
}

/** Returns the secrets in a proxy's URL, also one without a scheme. */
export const proxySecrets = (value: string): string[] => {
  const address = /^[\w+.-]{1,30}:\/\//.test(value) ? value : `http://${value}`;
  const pair = /^[\w+.-]{1,30}:\/\/(.*)@/s.exec(address)?.[1] ?? '';
  return [...secretParts(address, ''), ...(pair.includes(':') ? [pair, pair.slice(pair.indexOf(':') + 1)] : [])];
};

type PlacedText = Place & { readonly text: string };

/** Returns the words of a command line or the URL; the name of a word is the option before it. */
const placedWords = (connection: ConnectionDefinition): PlacedText[] =>
  addressWords(connection).map((text, at, words) => ({ text, name: optionName(words[at - 1]) }));

/** Returns the environment variables or headers, and the settings of a login. */
const placedNames = (connection: ConnectionDefinition): PlacedText[] => [
  ...[namedTextsOf(connection), ...Object.values(userTextsOf(connection) ?? {})].flatMap((texts) =>
    Object.entries(texts).map(([name, text]) => ({ text, name, header: !isLocal(connection) })),
  ),
  ...Object.entries(furtherTextsOf(connection)).map(([name, text]) => ({ text, name })),
];

/** Returns the name of an option whose value is the next argument. */
export const optionName = (arg = ''): string => (/^--?[\w.-]{1,100}$/.test(arg) ? arg.replace(/^-+/, '') : '');

const REFERENCE = /\$\{[^}]{1,8192}\}/g;
// Switches, numbers, plain words, paths, and URLs without personal parts.
const HARMLESS = /^(?:\d{1,6}|[A-Za-z]{1,20}|[./~][^\s]{0,500}|https?:\/\/[\w.:-]{1,200}(?:\/[\w./-]{0,40})?)$/;
const SCHEME = /^(?:bearer|basic|token)?\s*$/i;

/**
 * Returns the first place in a server that may hold a literal secret, which must not be copied to another file:
 * `env GITHUB_TOKEN`, `header Authorization`, `an argument`, `the url`. When in doubt, a value counts as secret.
 */
export function literalSecretIn({ connection }: ServerDefinition): string | undefined {
  const { nouns } = transportParts(connection.type);
  const texts = [namedTextsOf(connection), ...Object.values(userTextsOf(connection) ?? {})];
  const named = texts.flatMap((each) => Object.entries(each)).find(([name, text]) => isLiteral(name, text));
  if (named !== undefined) return `${nouns.named} ${named[0]}`;
  const further = Object.entries(furtherTextsOf(connection)).find(
    ([name, text]) => isSecretName(name) && isLiteral(name, text),
  );
  if (further !== undefined) return `oauth.${further[0]}`;
  const isSecret = ({ text, ...place }: PlacedText): boolean =>
    // Without references, only literal values are left to find.
    secretsIn({ expanded: text.replace(REFERENCE, ''), values: [] }, place).length > 0 || maskSecrets(text) !== text;
  return placedWords(connection).some(isSecret) ? nouns.word : undefined;
}

function isLiteral(name: string, text: string): boolean {
  const own = text.replace(REFERENCE, '');
  const hasDefault = /\$\{[^}]{1,1000}:-[^}]/.test(text);
  if (text !== own && SCHEME.test(own) && !hasDefault) return false;
  if (own === '') return hasDefault;
  return isSecretName(name) || !HARMLESS.test(own) || hasDefault;
}
