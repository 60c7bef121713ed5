/**
 * Reads what a server offers beside tools: resources, resource templates and prompts. Asks only for what the server
 * announced; a list that fails leaves the others as they are.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import type { PromptArgument, ServerItems } from '../core/types.ts';
import { isObject } from '../json/plain-object.ts';
import type { Redact } from '../secrets/redactor.ts';
import { isPlain } from '../text/plain-text.ts';
import {
  type CheckedEntry,
  jsonLength,
  type ReadPage,
  readPagedList,
  type SkippedEntry,
  shortened,
} from './paged-list.ts';

/** The lists that were read. One that is absent could not be read: what is known of it stays. */
export interface ListedItems extends Partial<ServerItems> {
  readonly skipped: readonly SkippedEntry[];
}

type Entry = Readonly<Record<string, unknown>>;

/** Each list: the capability that it needs, its method, and what identifies an entry. */
const LISTS = {
  resources: { capability: 'resources', method: 'resources/list', id: 'uri' },
  resourceTemplates: { capability: 'resources', method: 'resources/templates/list', id: 'uriTemplate' },
  prompts: { capability: 'prompts', method: 'prompts/list', id: 'name' },
} as const satisfies Record<keyof ServerItems, object>;

type ListName = keyof typeof LISTS;

interface ItemListOptions {
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Reads one page of a list. Rejects if the server fails. */
  readonly page: (method: string, cursor: string | undefined) => ReturnType<ReadPage>;
  readonly limits: { readonly pages: number; readonly descriptionChars: number };
  readonly redact: Redact;
}

/** Reads all lists at once. Never rejects. */
export async function readItemLists(options: ItemListOptions): Promise<ListedItems> {
  const names = Object.keys(LISTS) as ListName[];
  const lists = await Promise.all(names.map((name) => readItems(name, options)));
  const read = names.flatMap((name, at) => (lists[at] ? [[name, lists[at].entries] as const] : []));
  return {
    ...(Object.fromEntries(read) as Partial<ServerItems>),
    skipped: lists.flatMap((list) => list?.skipped ?? []),
  };
}

async function readItems(name: ListName, { capabilities, page, limits, redact }: ItemListOptions) {
  const { capability, method, id } = LISTS[name];
  if (!isObject(capabilities[capability])) return { entries: [], skipped: [] };
  try {
    const list = await readPagedList<Entry>((cursor) => page(method, cursor), {
      key: name,
      check: (entry) => checkItem(entry, id, limits.descriptionChars, redact),
      repeated: 'it was listed before',
      limits: {
        pages: limits.pages,
        entries: LIMITS.wire.items,
        bytes: LIMITS.wire.listDefinitions * LIMITS.wire.item,
      },
      redact,
    });
    return list.incomplete && !list.isCut ? undefined : list;
  } catch {
    return undefined;
  }
}

/** Checks one entry. Its URI or name has to be repeated as it is, so it cannot be cleaned, cut or masked. */
function checkItem(entry: unknown, key: string, descriptionChars: number, redact: Redact): CheckedEntry<Entry> {
  if (!isObject(entry)) return { name: undefined, reason: 'not an object' };
  const id = entry[key];
  const longest = key === 'name' ? LIMITS.names.tool : LIMITS.names.uri;
  if (typeof id !== 'string' || id === '') return { name: entry.name, reason: `the ${key} is missing` };
  if (id.length > longest) return { name: id, reason: `the ${key} is longer than ${longest} characters` };
  if (!isPlain(id) || /[\t\r\n]/.test(id)) return { name: id, reason: `the ${key} has invisible characters` };
  if (redact(id) !== id) return { name: id, reason: `the ${key} contains a secret` };
  const bytes = jsonLength(entry);
  if (bytes === undefined) return { name: id, reason: 'the definition is nested too deeply' };
  if (bytes > LIMITS.wire.item)
    return { name: id, reason: `the definition has ${bytes} bytes, more than ${LIMITS.wire.item}` };
  const { name, title, description, mimeType, arguments: given, ...rest } = entry;
  const kept = {
    ...rest,
    ...(typeof name === 'string' && { name }),
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description: shortened(description, descriptionChars, redact) }),
    ...(typeof mimeType === 'string' && { mimeType }),
    ...(key === 'name' && Array.isArray(given) && { arguments: given.filter(isArgument) }),
  };
  return { id, entry: kept, bytes };
}

const isArgument = (given: unknown): given is PromptArgument =>
  isObject(given) &&
  typeof given.name === 'string' &&
  given.name !== '' &&
  (given.description === undefined || typeof given.description === 'string');
