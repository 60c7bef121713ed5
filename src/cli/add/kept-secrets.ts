/**
 * Keeps the secrets of a server to add out of its entry: each is replaced by a reference to a variable, or to a file
 * that only its owner can read.
 * @module
 */
import { existsSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { referencesIn } from '../../config/references.ts';
import { stateFolder, type World } from '../../config/world.ts';
import { DiscoveryError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { isLocal, type WrittenConnection } from '../../core/transport-parts.ts';
import { makeFolder } from '../../disk/make-folder.ts';
import { literalSecrets } from '../../secrets/literal-secrets.ts';
import { serverVariable } from '../../text/server-variable.ts';
import type { Io } from '../io.ts';
import { UsageError } from '../usage-error.ts';

/** A secret of a server: the entry has a reference to it. */
export interface KeptSecret {
  /** The variable that holds it, unless a file does. */
  readonly variable: string;
  /** The text with references that a person gave instead of the value. It stays as it is. */
  readonly written?: string | undefined;
  /** The value that a person gave, and the file to write it to. */
  readonly kept?: { readonly value: string; readonly file: string } | undefined;
}

/** What the choice of a place depends on. */
interface SecretContext {
  readonly world: World;
  readonly io: Io;
}

/** Where a text stands. */
type Place = 'word' | 'variable' | 'header';
/** Returns a text with references in place of its secrets. */
export type Without = (text: string, key: string, place: Place) => string;

/** Replaces secrets wherever a person can write them: in words, in variables or headers, and in a login. */
export function withoutSecrets(
  connection: WrittenConnection,
  given: Readonly<Record<string, string>>,
  without: Without,
): WrittenConnection {
  const named = (place: Place) =>
    Object.fromEntries(Object.entries(given).map(([key, text]) => [key, without(text, key, place)]));
  if (isLocal(connection)) {
    const { command, args } = connection;
    const env = named('variable');
    const replaced = args?.map((word, at) => without(word, optionIn(args[at - 1] ?? ''), 'word'));
    return { ...connection, command: without(command, '', 'word'), ...(replaced && { args: replaced }), env };
  }
  const { url, oauth } = connection;
  const headers = named('header');
  const { clientSecret, privateKey } = oauth ?? {};
  const login = oauth && {
    ...oauth,
    ...(clientSecret !== undefined && { clientSecret: without(clientSecret, 'clientSecret', 'word') }),
    ...(privateKey !== undefined && { privateKey: without(privateKey, 'privateKey', 'word') }),
  };
  return { ...connection, url: without(url, '', 'word'), headers, ...(login && { oauth: login }) };
}

/** The name of an option whose value is the next word. */
const optionIn = (word: string): string => /^--?([\w.-]+)$/.exec(word)?.[1] ?? '';

/** Replaces each secret in a person's text by a reference of its own. References stay. */
export function withReferences(
  text: string,
  key: string,
  place: Place,
  server: string,
  secrets: KeptSecret[],
  context: SecretContext,
): string {
  refuseSecretDefault(text);
  for (const { name, fallback } of referencesIn(text)) if (fallback === undefined) secrets.push({ variable: name });
  let [out, at] = ['', 0];
  for (const [from, to] of literalSecrets(text, key, place === 'header')) {
    const variable = place === 'variable' ? key : serverVariable(server, nameFor(text.slice(0, from), key));
    const kept = keptSecret(variable, text.slice(from, to), server, secrets, context);
    secrets.push(kept);
    out += text.slice(at, from) + referenceTo(kept);
    at = to;
  }
  return out + text.slice(at);
}

/** A default of a reference stands in the configuration. */
function refuseSecretDefault(text: string): void {
  for (const { name, fallback = '' } of referencesIn(text))
    if (literalSecrets(fallback, name).length > 0)
      throw new UsageError(
        `The default in \${${name}:-…} looks like a secret and would stand in the configuration. Leave it out, and set ${name}`,
      );
}

/** Names a secret after what stands before it: `token` in `?token=`, `PASSWORD` in `https://me:`. */
function nameFor(before: string, key: string): string {
  const [, name] = /([\w.-]{1,100})[=:][ \t]*(?:(?:bearer|basic|token)[ \t]+)?$/i.exec(before) ?? [];
  const nearest = /:\/\/[^/]*$/.test(before) ? 'password' : name || key || 'secret';
  return nearest
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .replace(/\W+/g, '_')
    .replace(/^_+|_+$/g, '');
}

/** Returns the reference that stands in the entry. */
export const referenceTo = ({ variable, written, kept }: KeptSecret): string =>
  written !== undefined ? written : kept === undefined ? `\${${variable}}` : `\${file:${kept.file}}`;

/** Chooses where a secret is kept: in the environment if it is there, else in a file that only its owner can read. */
export function keptSecret(
  variable: string,
  value: string,
  server: string,
  others: Iterable<KeptSecret>,
  { world, io }: SecretContext,
): KeptSecret {
  const own = variable.startsWith(serverVariable(server, '')) ? variable : serverVariable(server, variable);
  const path = join(stateFolder(world), 'secrets', own.replace(/\W/g, '_').slice(0, LIMITS.names.file));
  // The files of this addition do not exist yet, but their names are taken. Some file systems ignore case.
  const chosen = new Map([...others].flatMap(({ kept }) => (kept ? [[kept.file.toLowerCase(), kept.value]] : [])));
  const isOther = (known: string | undefined) => known !== undefined && known !== value;
  const taken = (file: string) => isOther(chosen.get(file.toLowerCase())) || (existsSync(file) && !holds(file, value));
  let file = path;
  for (let number = 2; taken(file); number++) file = `${path}_${number}`;
  return io.env[variable] === value || file.includes('}') ? { variable } : { variable, kept: { value, file } };
}

/**
 * Writes the file of a secret. Returns false if it exists with this value. A file with another value was chosen by
 * another process at the same time and is never replaced.
 */
export async function writeSecret(file: string, value: string): Promise<boolean> {
  await makeFolder(dirname(file));
  try {
    await writeFile(file, `${value}\n`, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && holds(file, value)) return false;
    if (code !== 'EEXIST') await rm(file, { force: true });
    const why = code === 'EEXIST' ? 'was just written by another process; try again' : `could not be written (${code})`;
    throw new DiscoveryError('STORAGE_ERROR', `${file} ${why}. Nothing was changed.`, { cause: error });
  }
}

function holds(file: string, value: string): boolean {
  try {
    return readFileSync(file, 'utf8').trim() === value.trim();
  } catch {
    // A file that cannot be read holds something else.
    return false;
  }
}
