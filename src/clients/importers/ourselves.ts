/**
 * Tells whether a client's entry starts this gateway. Importing that entry would make the gateway its own server.
 * @module
 */
import { isObject } from '../../json/plain-object.ts';

/** The name reserved for this package. */
export const RESERVED_NAME = 'anygpt';

/** Set by `anygpt mcp install`, so that the entry is recognised as ours whatever its command. */
export const GATEWAY_MARK = 'ANYGPT_GATEWAY';

const ADDRESSES = ['url', 'serverUrl', 'httpUrl', 'uri'];
const PACKAGE = /^(?:--package=)?@?anygpt\/discovery(?:[@:][^/]*)?$/;
const INSTALLED = /[/\\]@anygpt[/\\]discovery[/\\]|[/\\]dist[/\\]bin[/\\](?:discovery|anygpt)\.js$/;
const PROGRAM = /(?:^|[/\\])anygpt(?:\.(?:cmd|exe|ps1|js|mjs))?$/i;

/** Tells whether an entry has the mark that `install` sets. */
export const isMarked = (raw: Readonly<Record<string, unknown>>): boolean =>
  [raw.env, raw.environment, raw.envs].some((env) => isObject(env) && Object.hasOwn(env, GATEWAY_MARK));

/**
 * Tells whether an entry starts or reaches this gateway. An entry with an address has no mark, but has the reserved
 * name.
 */
export function isOurselves(raw: Readonly<Record<string, unknown>>, name = ''): boolean {
  if (isMarked(raw)) return true;
  if (name === RESERVED_NAME && ADDRESSES.some((key) => typeof raw[key] === 'string')) return true;
  const args: unknown[] = Array.isArray(raw.args) ? raw.args : [];
  const words = [raw.command, ...args].flat().filter((word) => typeof word === 'string');
  if (words.some((word) => PACKAGE.test(word) || INSTALLED.test(word))) return true;
  const program = words.findIndex((word) => PROGRAM.test(word));
  return program !== -1 && (words[program + 1] === 'mcp' || words[program + 1] === 'serve');
}
