/**
 * A client's entry in, whether it starts this gateway out. Importing that entry would make the gateway its own server.
 * @module
 */
import { isObject } from '../../json/plain-object.ts';

/** The name this package keeps for itself. */
export const RESERVED_NAME = 'anygpt';

/** Set by `anygpt mcp install`, so that an entry is known as ours whatever its command looks like. */
export const GATEWAY_MARK = 'ANYGPT_GATEWAY';

const ADDRESSES = ['url', 'serverUrl', 'httpUrl', 'uri'];
const PACKAGE = /^(?:--package=)?@?anygpt\/discovery(?:[@:][^/]*)?$/;
const INSTALLED = /[/\\]@anygpt[/\\]discovery[/\\]|[/\\]dist[/\\]bin[/\\](?:discovery|anygpt)\.js$/;
const PROGRAM = /(?:^|[/\\])anygpt(?:\.(?:cmd|exe|ps1|js|mjs))?$/i;

/** Whether an entry carries the mark that installing leaves. */
export const isMarked = (raw: Readonly<Record<string, unknown>>): boolean =>
  [raw.env, raw.environment, raw.envs].some((env) => isObject(env) && Object.hasOwn(env, GATEWAY_MARK));

/**
 * Whether an entry starts this gateway, or reaches it: an address has no room for a mark, but the name is kept for us.
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
