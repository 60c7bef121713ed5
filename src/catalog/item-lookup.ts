/**
 * Finds a resource or prompt before it is read. A URI goes to the server that the caller names, listed or not; a prompt
 * has to be listed, because its arguments are checked.
 * @module
 */

import { fail, ok, type ToolResult } from '../core/result.ts';
import { isProvider } from '../core/tool-provider.ts';
import type { Caller, ItemRef, ToolDefinition } from '../core/types.ts';
import { nearestNames } from '../text/nearest-names.ts';
import { shorten } from '../text/plain-text.ts';
import { itemsOf, type ServerItem, toDefinition, variablesIn } from './server-items.ts';
import { type LookupState, requireServer, requireTools } from './tool-lookup.ts';

/** Finds an item, or fails with SERVER_NOT_FOUND, TOOL_NOT_FOUND or, for a template, TOOL_VALIDATION_ERROR. */
export async function lookUpItem(
  state: LookupState,
  server: string,
  item: ItemRef,
  caller: Caller | undefined,
): Promise<ToolResult<ToolDefinition>> {
  const { kind, id } = item;
  const where = { server, tool: `${kind}:${id}`, outcome: 'not_sent' } as const;
  const known = requireServer(state, server);
  if (!known.success) return { success: false, error: { ...known.error, ...where } };
  if (isProvider(known.data)) return fail('TOOL_NOT_FOUND', `${server} has only tools, no ${kind}s.`, where);
  // The list is needed for a resource, too: whether it may be read depends on the server's tools.
  const listed = await requireTools(state, server, caller);
  if (!listed.success) return { success: false, error: { ...listed.error, ...where } };
  const { catalog, discovery } = state;
  const find = (): ServerItem | undefined =>
    itemsOf(catalog.items.of(server)).find((one) => one.kind === kind && one.id === id);
  if (kind === 'resource') {
    // No URI has braces, unless its server lists it so.
    const [variable] = 'uri' in (find()?.definition ?? {}) ? [] : variablesIn(id);
    if (variable === undefined) return ok({ name: id, inputSchema: { type: 'object' } });
    const message = `${shorten(id, 200)} is a template: put a value in the place of {${variable.name}}.`;
    return fail('TOOL_VALIDATION_ERROR', message, where);
  }
  // The list may be older than the prompt.
  if (!find() && (catalog.fetchedAt(server) === 0 || discovery.isOld(server)))
    await discovery.listedInTime(server, caller);
  const found = find();
  if (found) return ok(toDefinition(found));
  const names = catalog.items.of(server).prompts.filter(({ name }) => catalog.items.decide(server, kind, name).enabled);
  const suggestions = nearestNames(
    id,
    names.map(({ name }) => name),
  );
  const hint = suggestions.length > 0 ? ` Did you mean ${suggestions.map((name) => `"${name}"`).join(', ')}?` : '';
  return fail('TOOL_NOT_FOUND', `${server} has no prompt "${shorten(id, 100)}".${hint}`, { ...where, suggestions });
}
