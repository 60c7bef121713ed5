/**
 * A client's entry in, whether it starts this gateway out. Importing that entry would make the gateway its own server.
 * @module
 */
import { isObject } from '../plain-object.ts';

/** Set by `anygpt mcp install`, so that an entry is known as ours whatever its command looks like. */
export const GATEWAY_MARK = 'ANYGPT_GATEWAY';

const PACKAGE = /^(?:--package=)?@?anygpt\/discovery(?:[@:][^/]*)?$/;
const INSTALLED = /[/\\]@anygpt[/\\]discovery[/\\]/;
const PROGRAM = /(?:^|[/\\])anygpt(?:\.(?:cmd|exe|ps1|js|mjs))?$/i;

/** Whether an entry starts this gateway. */
export function isOurselves(raw: Readonly<Record<string, unknown>>): boolean {
  if (isObject(raw.env) && Object.hasOwn(raw.env, GATEWAY_MARK)) return true;
  const args: unknown[] = Array.isArray(raw.args) ? raw.args : [];
  const words = [raw.command, ...args].flat().filter((word) => typeof word === 'string');
  if (words.some((word) => PACKAGE.test(word) || INSTALLED.test(word))) return true;
  const program = words.findIndex((word) => PROGRAM.test(word));
  return program !== -1 && (words[program + 1] === 'mcp' || words[program + 1] === 'serve');
}
