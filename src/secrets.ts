/**
 * Which texts of a configuration are secrets: what its references stand for, and what is written literally into
 * environments, headers, arguments and addresses. They are taken out of everything we say.
 * @module
 */
import { referencedValues, referencesIn } from './config/references.ts';
import { serverVariable } from './config/world.ts';
import { isSecretKey, isSecretName } from './secret-names.ts';
import type { ServerDefinition } from './types.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Every secret value that the servers of a configuration are given, and the service that search asks. */
export function secretsOf(
  servers: Iterable<ServerDefinition>,
  env: Environment,
  embedder: { readonly url?: string | undefined; readonly apiKey?: string | undefined } = {},
): Set<string> {
  const secrets = new Set<string>();
  const add = (...values: readonly (string | undefined)[]) => {
    for (const value of values) if (value) secrets.add(value);
  };
  /** What a text holds besides itself: its references, their defaults, and the secret parts of what is literal. */
  const look = (text: string, name = '') => {
    for (const value of referencedValues(text, env)) add(value, ...partsOf(value, name));
    for (const { name: variable, fallback = '' } of referencesIn(text)) {
      add(...partsOf(fallback, isSecretName(name) ? name : variable));
      if (looksRandom(fallback)) add(fallback);
    }
    add(...partsOf(withoutReferences(text), name));
  };
  for (const { connection, name } of servers) {
    if (connection.kind === 'stdio') {
      look(connection.command);
      connection.args.forEach((arg, at) => {
        look(arg, optionName(connection.args[at - 1]));
      });
      for (const variable of connection.inheritEnv) {
        const value = env[variable] ?? '';
        add(looksSecret(value) ? value : undefined, ...partsOf(value, variable));
      }
    } else {
      look(connection.url);
      if (connection.auth === 'env') add(env[serverVariable(name, 'MCP_TOKEN')], env.MCP_AUTH_TOKEN);
    }
    for (const [key, text] of Object.entries(connection.kind === 'stdio' ? connection.env : connection.headers)) {
      look(text, key);
      if (!text.includes('${') && looksSecret(text)) add(text);
    }
  }
  look(embedder.url ?? '');
  look(embedder.apiKey ?? '', 'apiKey');
  return secrets;
}

// `1`, `production` or a path are no secrets, and blotting them out would make messages unreadable.
const looksSecret = (text: string): boolean => text.length >= 12 && !/^[./~]|^[a-z]+$/i.test(text);

// A default stands in for anything: an address, a sentence, the name of a model. A key is one run with digits in it.
const looksRandom = (text: string): boolean => /^[\w+/=.~-]{16,}$/.test(text) && looksSecret(text) && /\d/.test(text);

/** Something given under a name that says it is secret need look less like one; a short plain word is still none. */
const isCredential = (text: string): boolean =>
  text.length >= 8 && !/^(?:[./~]|[a-z]{1,11}$)/i.test(text) && !/^\w+:\/\//.test(text);

const SCHEME = /^(?:bearer|basic|token|apikey|api-key|key)[ \t]+(\S+)\s*$/i;
/** As in `--env=HEADER=Authorization: Bearer x`. */
const MAX_DEPTH = 3;
const ASSIGNMENT = /^-{0,2}([\w.-]{1,100})[ \t]*[=:][ \t]*(\S.*)$/s;

/** The secret parts of a text that is given under a name: credentials behind a scheme, assigned values, parts of URLs. */
function partsOf(text: string, name: string, depth = 0): string[] {
  const credentials = SCHEME.exec(text)?.[1];
  if (credentials !== undefined) return [credentials, ...basicParts(credentials)].filter(isLongEnough);
  const parts = urlParts(text);
  if (isSecretName(name) && isCredential(text) && (isSecretKey(name) || /\d/.test(text))) parts.push(text);
  const [, key, value] = ASSIGNMENT.exec(text) ?? [];
  const assigned = key !== undefined && value !== undefined && !value.startsWith('//');
  if (assigned && depth < MAX_DEPTH) parts.push(...partsOf(value, key, depth + 1));
  return parts;
}

/** User and password in what `Basic` sends. */
function basicParts(credentials: string): string[] {
  const plain = Buffer.from(credentials, 'base64').toString('utf8');
  const colon = plain.indexOf(':');
  // Anything can be read as base64; what is not text in the end was something else.
  return colon === -1 || /[\u0000-\u001f\ufffd]/.test(plain) ? [] : [plain, plain.slice(colon + 1)];
}

/** User, password and telling query values of an address. */
function urlParts(text: string): string[] {
  if (!text.includes('://') || !URL.canParse(text)) return [];
  const { username, password, searchParams } = new URL(text);
  const parts = [...both(password)];
  if (looksSecret(username) || (username !== '' && password === '')) parts.push(...both(username));
  for (const [key, value] of searchParams) if (isSecretName(key) || key === 'code') parts.push(value);
  return parts.filter(isLongEnough);
}

/** A part of an address as it is written and as it is meant. */
function both(part: string): string[] {
  try {
    return [part, decodeURIComponent(part)];
  } catch {
    // A lone percent sign means itself.
    return [part];
  }
}

/** `password` for a password is left alone: masking it would spoil every other sentence and hide nothing. */
const isLongEnough = (part: string): boolean => part.length >= 6 && !(/^[a-z]+$/i.test(part) && isSecretKey(part));

/** The name of an option whose value is the next argument. */
const optionName = (arg = ''): string => (/^--?[\w.-]{1,100}$/.test(arg) ? arg.replace(/^-+/, '') : '');

/** A text with every reference taken out; what is left was written by hand. */
const withoutReferences = (text: string): string => text.replace(/\$\{[^}]{0,1000}\}/g, '');
