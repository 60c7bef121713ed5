/**
 * What stands on the command line beside options, checked: names in, names out.
 * @module
 */
import { UsageError } from './usage-error.ts';

/** As many as there are names for, no more and no fewer. */
export function exactly(positionals: readonly string[], ...names: readonly string[]): string[] {
  if (positionals.length > names.length)
    throw new UsageError(`there is no use for "${positionals.slice(names.length).join(' ')}"`);
  return names.map((name, at) => positionals[at] ?? missing(name));
}

/** A server and a tool, or both in one word. */
export function pairOf(positionals: readonly string[]): { readonly server: string; readonly tool: string } {
  const [server, tool = ''] = positionals;
  if (server === undefined || (tool === '' && !/:|__/.test(server))) return missing(server ? '<tool>' : '<server>');
  return { server, tool };
}

const missing = (name: string): never => {
  throw new UsageError(`${name} is missing`);
};
