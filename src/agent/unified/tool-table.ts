/**
 * Holds the tools of a registry and the names they are shown under. A program's own tool wins over an MCP tool of the same
 * name, which is left out and reported.
 * @module
 */

import { readingsOf } from '../../catalog/tool-name.ts';
import { LIMITS } from '../../core/limits.ts';
import type { ToolProvider } from '../../core/tool-provider.ts';
import type { CallToolResult, ToolDefinition, ToolRef } from '../../core/types.ts';
import type { DefinitionSet, DescribedTool } from '../formats/definition-types.ts';
import { LiveNames, type NameTable, PairMap } from '../formats/names.ts';
import { ShownNames } from '../formats/shown-names.ts';
import { claudeSet, claudeTool, describe, leftOut } from './claude-set.ts';
import type { Tell } from './registry-log.ts';

/** What a handler is given beside its arguments. */
export interface OwnToolContext {
  readonly traceId: string | undefined;
  /** Aborts when the caller has gone. */
  readonly signal: AbortSignal;
}

/** A tool of the program: a static one, or one of a provider. */
export interface OwnTool {
  readonly definition: ToolDefinition;
  /** The provider, for the engine to call; undefined for a static tool. */
  readonly provider?: ToolProvider | undefined;
}

/** A function of the program. */
export interface StaticTool extends OwnTool {
  /** Fields that only Anthropic's format has. */
  readonly anthropic: Readonly<Record<string, unknown>>;
  readonly run: (args: Readonly<Record<string, unknown>>, context: OwnToolContext) => Promise<CallToolResult>;
}

/** A tool as it is shown. */
export interface ToolEntry {
  /** The name models see. */
  readonly name: string;
  /** Null for the program's own. */
  readonly server: string | null;
  readonly definition: ToolDefinition;
  readonly own?: OwnTool | StaticTool;
}

/** A tool that is left out. */
export interface ExcludedTool {
  /** Null for the program's own. */
  readonly serverName: string | null;
  readonly toolName: string;
  readonly reason: string;
}

/** How a discovery went. */
export interface DiscoverySummary {
  /** Tools of MCP servers that are registered now. */
  readonly registered: number;
  /** Tools that were left out and why, if there are any. */
  readonly excluded?: readonly ExcludedTool[];
  /** Variables without which `serversFromEnv` left servers out, if there are any. */
  readonly unset?: readonly string[];
}

/** What a provider gives. */
export interface Provided {
  readonly tools: ReadonlyMap<string, OwnTool>;
  /** Listed tools that cannot be used. */
  readonly excluded: readonly ExcludedTool[];
}

/** The tools of one server, and what is shown of them. */
interface ServerTools {
  readonly tools: ReadonlyMap<string, ToolDefinition>;
  shown: number;
  excluded: readonly ExcludedTool[];
}

/** The program's tools: static ones first, then those of providers in the order these were added. */
interface OwnTools {
  readonly tools: Map<string, OwnTool>;
  readonly names: LiveNames;
  /** What has to be left out of it. */
  readonly excluded: ExcludedTool[];
}

/** All tools at once, made when they are asked for. */
interface View {
  /** Sorted by name. */
  readonly entries: readonly ToolEntry[];
  readonly names: NameTable;
  readonly described: readonly DescribedTool[];
  readonly shown: ShownNames;
  readonly claude: DefinitionSet<'anthropic'>;
}

/** Keeps what is shown up to date: a change costs in proportion to the tools that changed, unless names collide. */
export class ToolTable {
  readonly #allows: (staticTool: string) => boolean;
  readonly #static = new Map<string, StaticTool>();
  readonly #provided = new Map<object, Provided>();
  readonly #servers = new Map<string, ServerTools>();
  readonly #mcpNames = new LiveNames();
  #own: OwnTools | undefined;
  /** Servers that are yet to be judged: which of their tools are shown depends on the names of all. */
  readonly #unjudged = new Set<string>();
  /** The names that the other servers were judged by. */
  #judgedBy: { readonly own: OwnTools; readonly renames: number } | undefined;
  #mcpCount = 0;
  /** Servers of which not all tools are shown. */
  readonly #incomplete = new Set<string>();
  #view: View | undefined;

  /** `allows` says whether the rules in force allow a static tool. */
  constructor(allows: (staticTool: string) => boolean) {
    this.#allows = allows;
  }

  /** All static tools, shown or not. */
  get staticTools(): ReadonlyMap<string, StaticTool> {
    return this.#static;
  }

  /** Other rules are in force. */
  ownChanged(): void {
    this.#own = undefined;
    this.#view = undefined;
  }

  addStatic(name: string, tool: StaticTool): void {
    this.#static.set(name, tool);
    this.#view = undefined;
    if (!this.#allows(name)) return;
    // A new name that is free changes no other.
    const isFree = this.#own?.names.refOf(name) === undefined && this.#mcpNames.refOf(name) === undefined;
    if (this.#own && isFree) addOwn(this.#own, name, tool);
    else this.#own = undefined;
  }

  /** Replaces what one provider gives; of two providers with a tool of one name, the first that was added wins. */
  setProvided(provider: object, provided: Provided): void {
    this.#provided.set(provider, provided);
    this.ownChanged();
  }

  /** What one provider gives. */
  provided(provider: object): Provided | undefined {
    return this.#provided.get(provider);
  }

  removeProvided(provider: object): boolean {
    this.ownChanged();
    return this.#provided.delete(provider);
  }

  hasServer(server: string): boolean {
    return this.#servers.has(server);
  }

  /** Replaces a server's tools. What has no usable name is left out; of two with one name, the first stays. */
  setServer(server: string, tools: readonly ToolDefinition[]): void {
    const byName = new Map<string, ToolDefinition>();
    for (const tool of tools) {
      if (!isTool(tool) || byName.has(tool.name)) continue;
      // A copy: what is remembered of a tool is remembered for this list.
      byName.set(tool.name, isSchema(tool.inputSchema) ? { ...tool } : { ...tool, inputSchema: { type: 'object' } });
    }
    this.#drop(server, byName);
    for (const name of byName.keys()) this.#mcpNames.add({ server, name });
    this.#servers.set(server, { tools: byName, shown: 0, excluded: [] });
    this.#unjudged.add(server);
  }

  /** Takes a server's tools out. Returns how many there were. */
  removeServer(server: string): number {
    const count = this.#servers.get(server)?.tools.size ?? 0;
    this.#drop(server, new Map());
    this.#servers.delete(server);
    return count;
  }

  /** All tools that are shown, sorted by name. */
  get entries(): readonly ToolEntry[] {
    return this.#current().entries;
  }

  /** The same tools, as definitions are made of them, and the names they get. */
  get described(): readonly DescribedTool[] {
    return this.#current().described;
  }

  get names(): NameTable {
    return this.#current().names;
  }

  /** The names as models see them; another object when the tools have changed. */
  get shown(): ShownNames {
    return this.#current().shown;
  }

  /** The same tools in Anthropic's format. */
  get claude(): DefinitionSet<'anthropic'> {
    return this.#current().claude;
  }

  /** The tools that are left out: of one server, or all, the program's own included. */
  *excluded(server?: string): Generator<ExcludedTool> {
    this.#judge();
    if (server !== undefined) return yield* this.#servers.get(server)?.excluded ?? [];
    for (const { excluded } of this.#provided.values()) yield* excluded;
    yield* this.#ownTools().excluded;
    for (const name of this.#incomplete) yield* this.#servers.get(name)?.excluded ?? [];
  }

  /** How many tools of servers are shown: of one, or of all. */
  mcpCount(server?: string): number {
    this.#judge();
    return server === undefined ? this.#mcpCount : (this.#servers.get(server)?.shown ?? 0);
  }

  /** The tool that a model means: by the name it was shown, else by any way to read the name as server and tool. */
  find(name: string): ToolEntry | undefined {
    if (typeof name !== 'string') return undefined;
    const ref = this.#ownTools().names.refOf(name) ?? this.#mcpNames.refOf(name);
    const shown = ref && this.findRef(ref.server, ref.tool);
    if (shown) return shown;
    for (const { server, tool } of readingsOf(name)) {
      const meant = this.findRef(server, tool);
      if (meant) return meant;
    }
    return undefined;
  }

  /** The tool of a server, or the program's own with the server `''`. */
  findRef(server: string, tool: string): ToolEntry | undefined {
    const { tools, names } = this.#ownTools();
    const own = server === '' ? tools.get(tool) : undefined;
    const name = (own ? names : this.#mcpNames).nameOf({ server, tool });
    const definition = own?.definition ?? this.#servers.get(server)?.tools.get(tool);
    if (name === undefined || !definition || !claudeTool(definition)) return undefined;
    if (own) return { name, server: null, definition, own };
    return names.refOf(name) ? undefined : { name, server, definition };
  }

  /** Says how many tools there are now, and which are left out. */
  told(tell: Tell, traceId: string | undefined, unset: readonly string[] = []): void {
    const left: string[] = [];
    for (const { serverName, toolName, reason } of this.excluded()) {
      left.push(`${serverName === null ? toolName : `${serverName}:${toolName}`}: ${reason}`);
      if (left.length === LIMITS.shown.listed) break;
    }
    const { tools, excluded } = this.#ownTools();
    const counts = { staticCount: tools.size - excluded.length, mcpCount: this.mcpCount() };
    const more = { ...(left.length > 0 && { excluded: left }), ...(unset.length > 0 && { unset }) };
    tell('tools.registry.updated', { ...counts, ...more }, traceId);
  }

  /** Forgets a server's tools, except for the names of those that stay. */
  #drop(server: string, staying: ReadonlyMap<string, unknown>): void {
    const known = this.#servers.get(server);
    for (const name of known?.tools.keys() ?? []) if (!staying.has(name)) this.#mcpNames.delete({ server, name });
    this.#mcpCount -= known?.shown ?? 0;
    this.#incomplete.delete(server);
    this.#unjudged.delete(server);
    this.#view = undefined;
  }

  #ownTools(): OwnTools {
    if (this.#own) return this.#own;
    const own: OwnTools = { tools: new Map(), names: new LiveNames(), excluded: [] };
    for (const [name, tool] of this.#static) if (this.#allows(name)) addOwn(own, name, tool);
    for (const { tools } of this.#provided.values())
      for (const [name, tool] of tools) if (!own.tools.has(name)) addOwn(own, name, tool);
    this.#own = own;
    return own;
  }

  /** Finds out which tools of servers are shown: of those that changed, or of all if names did. */
  #judge(): void {
    const own = this.#ownTools();
    const { renames } = this.#mcpNames;
    if (this.#judgedBy?.own !== own || this.#judgedBy.renames !== renames) {
      this.#judgedBy = { own, renames };
      this.#mcpCount = 0;
      for (const server of this.#servers.keys()) this.#unjudged.add(server);
    }
    for (const server of this.#unjudged) {
      const known = this.#servers.get(server);
      if (!known) continue;
      const excluded: ExcludedTool[] = [];
      for (const [tool, definition] of known.tools) {
        const name = this.#mcpNames.nameOf({ server, tool });
        if (name !== undefined && own.names.refOf(name))
          excluded.push({ serverName: server, toolName: tool, reason: `a tool of the program is called ${name}` });
        else excluded.push(...leftOut(server, definition));
      }
      known.excluded = excluded;
      known.shown = known.tools.size - excluded.length;
      this.#mcpCount += known.shown;
      if (excluded.length > 0) this.#incomplete.add(server);
      else this.#incomplete.delete(server);
    }
    this.#unjudged.clear();
  }

  #current(): View {
    this.#view ??= this.#build();
    return this.#view;
  }

  #build(): View {
    const own = [...this.#ownTools().tools.keys()].map((tool) => this.findRef('', tool));
    const mcp = [...this.#servers].flatMap(([server, { tools }]) =>
      [...tools.keys()].map((tool) => this.findRef(server, tool)),
    );
    const entries = [...own, ...mcp].filter((entry) => entry !== undefined).sort((a, b) => (a.name < b.name ? -1 : 1));
    const names = snapshotOf(entries);
    const described = entries.map(describe);
    return { entries, names, described, shown: new ShownNames(names, described), claude: claudeSet(entries, names) };
  }
}

function addOwn({ tools, names, excluded }: OwnTools, name: string, tool: OwnTool): void {
  tools.set(name, tool);
  names.add({ name });
  excluded.push(...leftOut(null, tool.definition));
}

/** The names as they are now: models go on using them while tools come and go. */
function snapshotOf(entries: readonly ToolEntry[]): NameTable {
  const refs = new Map<string, ToolRef>();
  const names = new PairMap<string>();
  for (const { name, server, definition } of entries) {
    const ref = { server: server ?? '', tool: definition.name };
    refs.set(name, ref);
    names.set(ref.server, ref.tool, name);
  }
  return {
    size: refs.size,
    nameOf: ({ server, tool }) => names.get(server, tool),
    refOf: (name) => refs.get(name),
    entries: () => [...refs],
  };
}

const isSchema = (schema: unknown): boolean => typeof schema === 'object' && schema !== null && !Array.isArray(schema);

/** Lists come from servers; only their names are looked at here. */
const isTool = (tool: unknown): tool is ToolDefinition =>
  typeof tool === 'object' &&
  tool !== null &&
  'name' in tool &&
  typeof tool.name === 'string' &&
  tool.name !== '' &&
  tool.name.length <= LIMITS.names.qualified;
