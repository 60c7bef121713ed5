/**
 * Finds the tool behind a name that models are shown, alone or in a namespace. The OpenAI Responses API can be given a
 * namespace for each server, with shorter names in it.
 * @module
 */

import { LIMITS } from '../../core/limits.ts';
import type { ToolRef } from '../../core/types.ts';
import type { DescribedTool } from './definition-types.ts';
import { createNameTable, type NameTable } from './names.ts';

export class ShownNames {
  readonly #names: NameTable;
  readonly #tools: readonly DescribedTool[];
  #spaces: { readonly names: NameTable; readonly servers: ReadonlyMap<string, string[]> } | undefined;
  readonly #within = new Map<string, NameTable>();

  constructor(names: NameTable, tools: readonly DescribedTool[]) {
    this.#names = names;
    this.#tools = tools;
  }

  /** The tool behind a name; `''` is no namespace. */
  refOf(name: string, namespace = ''): ToolRef | undefined {
    if (namespace === '') return this.#names.refOf(name);
    this.#spaces ??= spacesOf(this.#tools);
    const server = this.#spaces.names.refOf(namespace)?.tool;
    if (server === undefined) return undefined;
    const within = this.#within.get(server) ?? tableOf(this.#spaces.servers.get(server) ?? []);
    this.#within.set(server, within);
    const tool = within.refOf(name)?.tool;
    return tool === undefined ? undefined : { server, tool };
  }
}

/** The names that models were shown, latest first. Older names still work: a conversation may outlive a list. */
export class SeenNames {
  #sets: readonly ShownNames[] = [];

  /** Records names that models have been given. */
  handOut(shown: ShownNames): void {
    if (this.#sets[0] !== shown) this.#sets = [shown, ...this.#sets].slice(0, LIMITS.cache.earlierNames);
  }

  /** The first tool of that name that still exists: by the latest names, then by earlier ones. */
  find<T>(name: string, namespace: string | undefined, exists: (ref: ToolRef) => T | undefined): T | undefined {
    for (const shown of this.#sets) {
      const ref = shown.refOf(name, namespace);
      const found = ref && exists(ref);
      if (found) return found;
    }
    return undefined;
  }
}

/** The namespace of a server, if no other server wants the same one. */
export const namespaceOf = (server: string): string => tableOf([server]).nameOf({ server: '', tool: server }) ?? server;

const tableOf = (names: readonly string[]): NameTable => createNameTable(names.map((name) => ({ name })));

function spacesOf(tools: readonly DescribedTool[]) {
  const servers = new Map<string, string[]>();
  for (const { server = '', name } of tools) {
    const known = servers.get(server);
    if (known) known.push(name);
    else if (server !== '') servers.set(server, [name]);
  }
  return { names: tableOf([...servers.keys()]), servers };
}
