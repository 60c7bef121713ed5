/**
 * Names the tools of a registry and finds them by name. A program's own tool wins over an MCP tool of the same name, which
 * is left out and reported. The tools themselves stay in the engine's catalogue.
 * @module
 */

import { readingsOf } from '../../catalog/tool-name.ts';
import { LIMITS } from '../../core/limits.ts';
import type { ToolProvider } from '../../core/tool-provider.ts';
import type { ToolDefinition, ToolRef } from '../../core/types.ts';
import type { DefinitionSet, DescribedTool } from '../formats/definition-types.ts';
import { createNameTable, type NameTable, plainName } from '../formats/names.ts';
import { ShownNames } from '../formats/shown-names.ts';
import { claudeSet, claudeTool, describe, leftOut } from './claude-set.ts';
import { type Tell, UNHEARD } from './registry-log.ts';
import type { AnthropicFields } from './static-tool.ts';

export interface ExcludedTool {
  /** Null for the program's own tools. */
  readonly serverName: string | null;
  readonly toolName: string;
  readonly reason: string;
}

/** How a discovery went. */
export interface DiscoverySummary {
  /** Number of tools of MCP servers that are registered now. */
  readonly registered: number;
  /** Tools that were left out and why, if any. */
  readonly excluded?: readonly ExcludedTool[];
  /** Missing variables because of which `serversFromEnv` left servers out, if any. */
  readonly unset?: readonly string[];
}

/** The tools of one source. It is replaced as a whole. */
export interface ToolList {
  readonly tools: ReadonlyMap<string, ToolDefinition>;
  /** The source of a program's own tools. */
  readonly provider?: ToolProvider | undefined;
  /** Fields that only Anthropic's format has, by tool. */
  readonly anthropic?: ReadonlyMap<string, AnthropicFields> | undefined;
  /** Listed tools that cannot be used. */
  readonly excluded?: readonly ExcludedTool[] | undefined;
}

export interface ToolLists {
  /** Changes whenever a list changes. */
  readonly revision: string;
  /** The program's own tools. Of two with one name, the first wins. The same object until one of them changes. */
  readonly own: readonly ToolList[];
  /** Names of the servers that have a list. */
  readonly servers: Iterable<string>;
  /** The list of a server. The same object until it changes. */
  of(server: string): ToolList | undefined;
}

/** A tool that can be shown. */
export interface FoundTool {
  /** Null for the program's own. */
  readonly server: string | null;
  readonly definition: ToolDefinition;
  /** The list of one of the program's own tools. */
  readonly from?: ToolList | undefined;
}

/** A tool as it is shown. */
export interface ToolEntry extends FoundTool {
  /** The name models see. */
  readonly name: string;
}

/** The program's tools, and the names that they take from servers. */
interface OwnTools {
  readonly of: readonly ToolList[];
  readonly tools: ReadonlyMap<string, ToolList>;
  readonly names: NameTable;
}

/** All tools in several forms, each made on demand. */
interface View {
  readonly revision: string;
  /** Sorted by name. */
  readonly entries: readonly ToolEntry[];
  readonly names: NameTable;
  readonly described: readonly DescribedTool[];
  /** The names as models see them. */
  readonly shown: ShownNames;
  readonly claude: DefinitionSet<'anthropic'>;
}

export class ToolTable {
  readonly #lists: ToolLists;
  #own: OwnTools | undefined;
  #view: View | undefined;
  /** The tools left out of each server's list, and the program's tools that the list was compared with. */
  readonly #judged = new WeakMap<ToolList, { readonly own: OwnTools; readonly excluded: readonly ExcludedTool[] }>();

  constructor(lists: ToolLists) {
    this.#lists = lists;
  }

  hasServer(server: string): boolean {
    return this.#lists.of(server) !== undefined;
  }

  /** All tools that are shown, in several forms. The same object until the tools change. */
  get view(): View {
    const { revision } = this.#lists;
    if (this.#view?.revision !== revision) this.#view = this.#build(revision);
    return this.#view;
  }

  /** The tools that are left out: of one server, or all, the program's own included. */
  *excluded(server?: string): Generator<ExcludedTool> {
    const own = this.#ownTools();
    if (server === undefined) for (const { excluded = [] } of own.of) yield* excluded;
    if (server === undefined) yield* this.#ownExcluded();
    for (const name of server === undefined ? this.#lists.servers : [server]) yield* this.#excludedFrom(name, own);
  }

  /** Number of shown tools of one server, or of all servers. */
  mcpCount(server?: string): number {
    const own = this.#ownTools();
    let count = 0;
    for (const name of server === undefined ? this.#lists.servers : [server])
      count += (this.#lists.of(name)?.tools.size ?? 0) - this.#excludedFrom(name, own).length;
    return count;
  }

  /** Finds a tool without building the view: one of the program's own, or `server__tool`. */
  findPlain(name: string): FoundTool | undefined {
    if (typeof name !== 'string') return undefined;
    const own = this.#ownTools().names.refOf(name);
    if (own) return this.findRef('', own.tool);
    for (const { server, tool } of readingsOf(name)) {
      const meant = this.findRef(server, tool);
      if (meant) return meant;
    }
    return undefined;
  }

  /** Finds the tool that a model means: by a plain name, else by the name that models see. */
  find(name: string): FoundTool | undefined {
    const plain = this.findPlain(name);
    if (plain) return plain;
    const ref = this.view.names.refOf(name);
    return ref && this.findRef(ref.server, ref.tool);
  }

  /** The tool of a server, or the program's own with the server `''`. */
  findRef(server: string, tool: string, own = this.#ownTools()): FoundTool | undefined {
    const from = server === '' ? own.tools.get(tool) : undefined;
    const definition = (from ?? this.#lists.of(server))?.tools.get(tool);
    if (!definition || !claudeTool(definition)) return undefined;
    if (from) return { server: null, definition, from };
    return own.names.refOf(plainName({ server, tool })) ? undefined : { server, definition };
  }

  /** Logs how many tools there are now, and which are left out. */
  told(tell: Tell, traceId: string | undefined, unset: readonly string[] = []): void {
    if (tell === UNHEARD) return;
    const left: string[] = [];
    for (const { serverName, toolName, reason } of this.excluded()) {
      left.push(`${serverName === null ? toolName : `${serverName}:${toolName}`}: ${reason}`);
      if (left.length === LIMITS.shown.listed) break;
    }
    const staticCount = this.#ownTools().tools.size - this.#ownExcluded().length;
    const more = { ...(left.length > 0 && { excluded: left }), ...(unset.length > 0 && { unset }) };
    tell('tools.registry.updated', { staticCount, mcpCount: this.mcpCount(), ...more }, traceId);
  }

  #ownTools(): OwnTools {
    const { own: of } = this.#lists;
    if (this.#own?.of === of) return this.#own;
    const tools = new Map<string, ToolList>();
    for (const list of of) for (const name of list.tools.keys()) if (!tools.has(name)) tools.set(name, list);
    this.#own = { of, tools, names: createNameTable([...tools.keys()].map((name) => ({ name }))) };
    return this.#own;
  }

  #ownExcluded(): readonly ExcludedTool[] {
    return [...this.#ownTools().tools].flatMap(([name, { tools }]) => leftOut(null, tools.get(name) as ToolDefinition));
  }

  #excludedFrom(server: string, own: OwnTools): readonly ExcludedTool[] {
    const list = this.#lists.of(server);
    if (!list) return [];
    const judged = this.#judged.get(list);
    if (judged?.own === own) return judged.excluded;
    const excluded = [...list.tools].flatMap(([tool, definition]) => {
      const name = plainName({ server, tool });
      if (!own.names.refOf(name)) return leftOut(server, definition);
      return { serverName: server, toolName: tool, reason: `a tool of the program is called ${name}` };
    });
    this.#judged.set(list, { own, excluded });
    return excluded;
  }

  #build(revision: string): View {
    const own = this.#ownTools();
    const found = [...own.tools.keys()].map((tool) => this.findRef('', tool, own));
    for (const server of this.#lists.servers)
      for (const tool of this.#lists.of(server)?.tools.keys() ?? []) found.push(this.findRef(server, tool, own));
    const usable = found.filter((one) => one !== undefined);
    const refs = usable.map(({ server, definition: { name } }) => (server === null ? { name } : { server, name }));
    const names = createNameTable(refs);
    const entries = usable
      .flatMap((one): ToolEntry[] => {
        const name = names.nameOf(refOf(one));
        return name === undefined ? [] : [{ ...one, name }];
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const described = entries.map(describe);
    const shown = new ShownNames(names, described);
    return { revision, entries, names, described, shown, claude: claudeSet(entries, names) };
  }
}

/** A tool's server and name, with the server `''` for the program's own. */
export const refOf = ({ server, definition }: FoundTool): ToolRef => ({ server: server ?? '', tool: definition.name });

/** Reads a list from a program. Skips tools without a usable name; of two with one name, the first stays. */
export function toToolList(tools: readonly ToolDefinition[]): ToolList {
  const byName = new Map<string, ToolDefinition>();
  for (const tool of tools) {
    if (!isTool(tool) || byName.has(tool.name)) continue;
    // Copied, because caches use the object as their key and must not be shared with other lists.
    byName.set(tool.name, isSchema(tool.inputSchema) ? { ...tool } : { ...tool, inputSchema: { type: 'object' } });
  }
  return { tools: byName };
}

const isSchema = (schema: unknown): boolean => typeof schema === 'object' && schema !== null && !Array.isArray(schema);

const isTool = (tool: unknown): tool is ToolDefinition =>
  typeof tool === 'object' &&
  tool !== null &&
  'name' in tool &&
  typeof tool.name === 'string' &&
  tool.name !== '' &&
  tool.name.length <= LIMITS.names.qualified;
