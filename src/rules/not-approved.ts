/**
 * Says that a tool is not approved, and what a person has to type.
 * @module
 */
import type { Unapproved } from '../core/approval-mode.ts';
import { itemIn } from '../core/item-definition.ts';
import { LIMITS } from '../core/limits.ts';
import type { ToolDefinition } from '../core/types.ts';
import { shorten, visible } from '../text/plain-text.ts';
import { shellWord } from '../text/shell-word.ts';

/**
 * Returns the message of TOOL_NOT_APPROVED. Names are untrusted: one that a shell could not take is left out.
 * @param isAway what other replicas have approved cannot be read now
 */
export function notApprovedMessage(
  status: Unapproved,
  server: string,
  definition: ToolDefinition,
  isAway = false,
): string {
  const { what = 'tool', id = definition.name } = itemIn(definition) ?? {};
  const why = status === 'changed' ? 'has changed since it was approved' : 'has not been approved yet';
  const ref = `${server}:${definition.name}`;
  // A person copies the command, so it shows exactly what it does.
  const isTypeable = /^[\x20-\x7e]*$/.test(ref) && ref.length <= LIMITS.names.shown;
  const command = `anygpt mcp approve${isTypeable ? ` ${shellWord(ref)}` : ''}`;
  const person = `person has to look at it and run \`${command}\`.`;
  const next = isAway
    ? `Redis, where replicas keep their approvals, does not answer: nothing new is approved until it does. After that, if it is still not approved, a ${person}`
    : `A ${person}`;
  return `The ${what} "${shorten(visible(id), LIMITS.names.shown)}" of the server "${shorten(visible(server), LIMITS.names.shown)}" ${why}. ${next}`;
}
