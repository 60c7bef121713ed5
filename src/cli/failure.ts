/**
 * Reports an error on stderr, or with `--json` as one document on stdout, and returns the exit code.
 * @module
 */
import type { ErrorInfo } from '../core/errors.ts';
import { visibly } from '../text/plain-text.ts';
import { shellWord } from '../text/shell-word.ts';
import { exitCodeOf } from './exit-code.ts';
import type { Io } from './io.ts';
import { toJson } from './json-document.ts';
import { block, columnsIn } from './layout.ts';
import { withTildes } from './source-lines.ts';

/** Reports an error in the form the command line asked for. */
export function reportFailure(io: Io, error: ErrorInfo, json: boolean): number {
  if (json) io.stdout.write(toJson({ success: false, error: visibly(error) }));
  else complain(io, forTerminal(error.message), 0);
  return exitCodeOf(error.code);
}

/** Writes a message to stderr and returns the exit code. */
export function complain(io: Io, message: string, code: number): number {
  io.stderr.write(`${block(`anygpt: ${withTildes(message, io.env.HOME)}`, columnsIn(io.stderr), '')}\n`);
  return code;
}

/** Replaces the meta-tools that our messages name for agents by the matching commands. */
export const forTerminal = (message: string): string =>
  message
    .replace(/list_tools with server "([^"]{1,200})" shows/, '"anygpt mcp tools $1" shows')
    .replace(/\blist_mcp_servers\b/, '"anygpt mcp list"')
    .replace(/\bA person has to look at it and run\b/, 'Look at it and run')
    .replace(/\ba person can look: /, 'see ')
    .replace(
      /^(The server "([^"]{1,200})" is disabled\. )A person can enable it: remove "enabled": false .*$/s,
      (_, what: string, name: string) => `${what}To switch it on, run "anygpt mcp enable ${shellWord(name)}".`,
    )
    .replace(/\bA person can\b/, 'You can');
