/**
 * Says that a tool is not approved, and what a person has to type.
 * @module
 */
import type { Unapproved } from '../core/approval-mode.ts';
import { LIMITS } from '../core/limits.ts';
import { shorten, visible } from '../text/plain-text.ts';
import { shellWord } from '../text/shell-word.ts';

/** Returns the message of TOOL_NOT_APPROVED. Names are untrusted: one that a shell could not take is left out. */
export function notApprovedMessage(status: Unapproved, server: string, tool: string): string {
  const why = status === 'changed' ? 'has changed since it was approved' : 'has not been approved yet';
  const ref = `${server}:${tool}`;
  // A person copies the command, so it shows exactly what it does.
  const isTypeable = /^[\x20-\x7e]*$/.test(ref) && ref.length <= LIMITS.names.shown;
  const command = `anygpt mcp approve${isTypeable ? ` ${shellWord(ref)}` : ''}`;
  return `The tool "${shorten(visible(tool), LIMITS.names.shown)}" of the server "${shorten(visible(server), LIMITS.names.shown)}" ${why}. A person has to look at it and run \`${command}\`.`;
}
