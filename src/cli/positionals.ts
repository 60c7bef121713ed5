/**
 * Checks the arguments of a command that are not options.
 * @module
 */
import { UsageError } from './usage-error.ts';

/** Exactly the arguments that are named; throws `UsageError` for a missing or an unexpected one. */
export function exactly(positionals: readonly string[], ...names: readonly string[]): string[] {
  if (positionals.length > names.length)
    throw new UsageError(`unexpected argument "${positionals.slice(names.length).join(' ')}"`);
  return names.map((name, at) => positionals[at] ?? missing(name));
}

/** A server and a tool, as two words or as one. */
export function pairOf(positionals: readonly string[]): { readonly server: string; readonly tool: string } {
  const [server, tool = ''] = positionals;
  if (server === undefined || (tool === '' && !/:|__/.test(server))) return missing(server ? '<tool>' : '<server>');
  return { server, tool };
}

/** Where to find what is missing. */
const HINTS: Readonly<Record<string, string>> = {
  '<server>': '; "anygpt mcp list" shows all servers',
  '<tool>': '; "anygpt mcp tools SERVER" shows all tools of a server',
};

const missing = (name: string): never => {
  throw new UsageError(`${name} is missing${HINTS[name] ?? ''}`);
};
