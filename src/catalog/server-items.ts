/**
 * Converts resources, templates and prompts for search, rules and calls.
 * @module
 */

import { type ItemDefinition, itemDefinitions, itemIn } from '../core/item-definition.ts';
import { LIMITS } from '../core/limits.ts';
import type {
  ItemKind,
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
  SearchResult,
  ServerItems,
  ToolDefinition,
  ToolMetadata,
} from '../core/types.ts';
import type { ToolDecision } from '../rules/tool-policy.ts';
import { firstSentence } from '../text/plain-text.ts';
import { signature } from './signature.ts';

/** A resource, a template or a prompt. */
export interface ServerItem {
  readonly kind: ItemKind;
  /** What it is read by: the URI, the URI template or the name. */
  readonly id: string;
  readonly definition: ResourceDefinition | ResourceTemplateDefinition | PromptDefinition;
}

/** All items of a server. A resource comes before a template of the same text. */
export const itemsOf = ({ resources, resourceTemplates, prompts }: ServerItems): ServerItem[] => [
  ...resources.map((definition) => ({ kind: 'resource', id: definition.uri, definition }) as const),
  ...resourceTemplates.map((definition) => ({ kind: 'resource', id: definition.uriTemplate, definition }) as const),
  ...prompts.map((definition) => ({ kind: 'prompt', id: definition.name, definition }) as const),
];

/** The items that may be used. */
export function usableItems(items: ServerItems, isUsable: (kind: ItemKind, id: string) => boolean): ServerItems {
  const { resources, resourceTemplates, prompts } = items;
  return {
    resources: resources.filter(({ uri }) => isUsable('resource', uri)),
    resourceTemplates: resourceTemplates.filter(({ uriTemplate }) => isUsable('resource', uriTemplate)),
    prompts: prompts.filter(({ name }) => isUsable('prompt', name)),
  };
}

const byId = new WeakMap<ServerItems, ReadonlyMap<string, readonly ItemDefinition[]>>();

/** The definitions of what is read by this URI or name: usually one, several if a server repeats itself. */
export function listedAs(items: ServerItems, kind: ItemKind, id: string): readonly ItemDefinition[] {
  let known = byId.get(items);
  if (known === undefined) {
    const made = new Map<string, ItemDefinition[]>();
    for (const definition of itemDefinitions(items)) {
      const item = itemIn(definition);
      const key = `${item?.kind}:${item?.id}`;
      made.set(key, [...(made.get(key) ?? []), definition]);
    }
    known = made;
    byId.set(items, made);
  }
  return known.get(`${kind}:${id}`) ?? [];
}

/**
 * Converts items for the index, without those that are not approved. Their first tag says what they are, so `tag:prompt`
 * finds prompts.
 */
export function toIndexed(
  server: string,
  items: ServerItems,
  decide: (kind: ItemKind, id: string) => ToolDecision,
): ToolMetadata[] {
  const byId = new Map<string, ToolMetadata>();
  for (const item of itemsOf(items)) {
    const { kind, id, definition } = item;
    if (byId.has(id)) continue;
    const { enabled, tags, approval } = decide(kind, id);
    if (approval !== undefined) continue;
    const title = definition.title ?? (kind === 'resource' ? definition.name : undefined);
    const { inputSchema } = toDefinition(item);
    byId.set(id, {
      server,
      name: id,
      summary: firstSentence(definition.description ?? title ?? ''),
      signature: signature(inputSchema),
      title,
      description: definition.description,
      inputSchema,
      enabled,
      tags: [kind, ...tags],
    });
  }
  return [...byId.values()];
}

/** A hit of the item index as search shows it. */
export const fromIndexed = ({ tags: [kind, ...tags], ...hit }: SearchResult): SearchResult => ({
  ...hit,
  tags,
  kind: kind as ItemKind,
});

/** An item below this is more often wrong than right. */
const LEAST_RELEVANCE = 0.2;
/** A tool from this on is more often right than wrong: it stays before every item. */
const SURE = 0.5;

/**
 * Puts items among the tools of an answer, by relevance. Beside tools there are few items, and only such as fit about
 * as well. They fill free places. If no tool surely fits, or if it was asked for literally, an item that fits better
 * than all tools comes first, and takes the place of the last tool where none is free.
 */
export function withItems(
  tools: readonly SearchResult[],
  items: readonly SearchResult[],
  limit: number = LIMITS.search.defaultResults,
): readonly SearchResult[] {
  const [best] = tools;
  if (best === undefined || items.length === 0) return best === undefined ? items.slice(0, limit) : tools;
  const least = Math.max(LEAST_RELEVANCE, best.relevance / 2);
  const most = best.relevance >= SURE ? best.relevance : 1;
  const fitting = items
    .filter(({ relevance }) => relevance >= least)
    // 1 is that of a URI or a name that was asked for literally.
    .map((item) => (item.relevance > most && item.relevance < 1 ? { ...item, relevance: most } : item));
  const free = Math.max(limit - tools.length, (fitting[0]?.relevance ?? 0) > best.relevance ? 1 : 0);
  const shown = fitting.slice(0, Math.min(free, LIMITS.search.items));
  return [...tools.slice(0, limit - shown.length), ...shown].sort((a, b) => b.relevance - a.relevance);
}

/** An item as a tool: what it takes is checked like the arguments of a tool. */
export function toDefinition({ kind, id, definition: { description, arguments: given } }: ServerItem): ToolDefinition {
  const listed = kind === 'prompt' ? ((given ?? []) as NonNullable<PromptDefinition['arguments']>) : variablesIn(id);
  const properties = listed.map(({ name, description: about }) => [
    name,
    { type: 'string', ...(about !== undefined && { description: about }) },
  ]);
  const required = listed.filter((one) => one.required === true).map(({ name }) => name);
  return {
    name: id,
    description,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(properties),
      ...(required.length > 0 && { required }),
    },
  };
}

/** The variables of a URI template (RFC 6570): `{name}`, `{+path}`, `{?a,b*}`. */
export const variablesIn = (uri: string): { readonly name: string; readonly description?: string; required: true }[] =>
  [...uri.matchAll(/\{[+#./;?&]?([\w.%,:*]{1,200})\}/g)].flatMap(([, names = '']) =>
    names.split(',').map((name) => ({ name: name.replace(/(?:\*|:\d+)$/, ''), required: true }) as const),
  );
