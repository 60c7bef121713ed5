/**
 * Makes a definition of a resource, a template, a prompt or a server's introduction, so that it can be pinned, scanned and
 * decided on as a tool is.
 * @module
 */
import type {
  Introduction,
  ItemKind,
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
  ServerItems,
  ToolDefinition,
} from './types.ts';

/** No definition of a server has a symbol as key, so no tool can pass for an item. */
const ITEM: unique symbol = Symbol('item');

/** What a definition is of, if not of a tool. */
interface ItemId {
  readonly what: 'resource' | 'template' | 'prompt' | 'introduction';
  /** What it is in rules and calls; an introduction is in neither. */
  readonly kind: ItemKind | undefined;
  readonly id: string;
}

type Item = ResourceDefinition | ResourceTemplateDefinition | PromptDefinition | Introduction;

/** A definition named `prompt:review`, `resource:docs://a`, `template:docs://{page}` or `introduction`. */
export interface ItemDefinition extends ToolDefinition {
  /** As the server lists it. */
  readonly item: Item;
  readonly [ITEM]: ItemId;
}

const known = new WeakMap<Item, ItemDefinition>();

function toDefinition(what: ItemId['what'], id: string, item: Item, kind?: ItemKind): ItemDefinition {
  const made = known.get(item);
  if (made !== undefined) return made;
  const name = kind === undefined ? what : `${what}:${id}`;
  const definition = { name, inputSchema: {}, item, [ITEM]: { what, kind, id } } as const;
  known.set(item, definition);
  return definition;
}

export const resourceDefinition = (item: ResourceDefinition): ItemDefinition =>
  toDefinition('resource', item.uri, item, 'resource');
export const templateDefinition = (item: ResourceTemplateDefinition): ItemDefinition =>
  toDefinition('template', item.uriTemplate, item, 'resource');
export const promptDefinition = (item: PromptDefinition): ItemDefinition =>
  toDefinition('prompt', item.name, item, 'prompt');
export const introductionDefinition = (item: Introduction): ItemDefinition => toDefinition('introduction', '', item);

/** The definitions of everything that these lists have. */
export const itemDefinitions = ({
  resources = [],
  resourceTemplates = [],
  prompts = [],
}: Partial<ServerItems>): ItemDefinition[] => [
  ...resources.map(resourceDefinition),
  ...resourceTemplates.map(templateDefinition),
  ...prompts.map(promptDefinition),
];

/** The items of which something holds. */
export const itemsWith = (
  { resources, resourceTemplates, prompts }: ServerItems,
  holds: (definition: ItemDefinition) => boolean,
): ServerItems => ({
  resources: resources.filter((item) => holds(resourceDefinition(item))),
  resourceTemplates: resourceTemplates.filter((item) => holds(templateDefinition(item))),
  prompts: prompts.filter((item) => holds(promptDefinition(item))),
});

/** What a definition is of; undefined for that of a tool. */
export const itemIn = (definition: ToolDefinition): ItemId | undefined => (definition as Partial<ItemDefinition>)[ITEM];
