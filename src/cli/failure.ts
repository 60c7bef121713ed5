/**
 * An error in; words on stderr, or with `--json` one document on stdout, and the exit code out.
 * @module
 */
import type { ErrorInfo } from '../core/errors.ts';
import { visibly } from '../text/plain-text.ts';
import { exitCodeOf } from './exit-code.ts';
import type { Io } from './io.ts';
import { toJson } from './json-document.ts';
import { block, columnsIn } from './layout.ts';

/** Says that something went wrong, in the form the caller asked for. */
export function reportFailure(io: Io, error: ErrorInfo, json: boolean): number {
  if (json) io.stdout.write(toJson({ success: false, error: visibly(error) }));
  else complain(io, forTerminal(error.message), 0);
  return exitCodeOf(error.code);
}

/** Says something on stderr and gives back the exit code. */
export function complain(io: Io, message: string, code: number): number {
  io.stderr.write(`${block(`anygpt: ${message}`, columnsIn(io.stderr), '')}\n`);
  return code;
}

/** Our messages are written for agents and name meta-tools; at a terminal there are commands for the same. */
export const forTerminal = (message: string): string =>
  message
    .replace(/list_tools with server "([^"]{1,200})" shows/, '"anygpt mcp tools $1" shows')
    .replace(/\blist_mcp_servers\b/, '"anygpt mcp list --status"');
