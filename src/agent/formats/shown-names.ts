/**
 * The names models are shown: the tools of a registry in; out the tool behind a name, alone or in a namespace. A namespace is
 * what the OpenAI Responses API can be given for each server, with shorter names in it.
 * @module
 */

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

/** The namespace of a server that stands alone. */
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
