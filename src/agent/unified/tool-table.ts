/**
 * The tools of a registry and the names they are shown under: own tools and lists of servers in, one sorted view out. A
 * program's own tool wins over an MCP tool of the same name, which is then left out, and that is said.
 * @module
 */
import { readingsOf } from '../../catalog/tool-name.ts';
import { LIMITS } from '../../core/limits.ts';
import type { CallToolResult, ToolDefinition } from '../../core/types.ts';
import type { AnthropicTool, DefinitionSet, DescribedTool } from '../formats/definition-types.ts';
import { createNameTable, type NameTable } from '../formats/names.ts';
import { claudeSet, describe } from './claude-set.ts';
import type { Tell } from './registry-log.ts';
import { ShownNames } from './shown-names.ts';

/** What a program's own tool may know while it runs. */
export interface OwnToolContext {
  readonly traceId: string | undefined;
  /** Fires when the caller has gone. */
  readonly signal: AbortSignal;
}

/** A tool that the program runs itself. */
export interface OwnTool {
  readonly definition: ToolDefinition;
  /** What only Anthropic's format has a place for. */
  readonly anthropic?: Readonly<Record<string, unknown>>;
  readonly run: (args: Readonly<Record<string, unknown>>, context: OwnToolContext) => Promise<CallToolResult>;
}

/** A tool as it is shown. */
export interface ToolEntry {
  /** The name models see. */
  readonly name: string;
  /** Null for the program's own. */
  readonly server: string | null;
  readonly definition: ToolDefinition;
  readonly own?: OwnTool;
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
  /** What it lists and nobody can use. */
  readonly excluded: readonly ExcludedTool[];
}

interface View {
  /** Sorted by name. */
  readonly entries: readonly ToolEntry[];
  readonly byName: ReadonlyMap<string, ToolEntry>;
  readonly names: NameTable;
  readonly described: readonly DescribedTool[];
  readonly shown: ShownNames;
  readonly claude: DefinitionSet<'anthropic'>;
  readonly claudeTools: ReadonlyMap<string, AnthropicTool>;
  readonly excluded: readonly ExcludedTool[];
  readonly ownCount: number;
}

export class ToolTable {
  readonly #static = new Map<string, OwnTool>();
  readonly #provided = new Map<object, Provided>();
  readonly #servers = new Map<string, ReadonlyMap<string, ToolDefinition>>();
  #view: View | undefined;

  hasStatic(name: string): boolean {
    return this.#static.has(name);
  }

  addStatic(name: string, tool: OwnTool): void {
    this.#static.set(name, tool);
    this.#view = undefined;
  }

  /** Replaces what one provider gives; of two providers with a tool of one name, the first that was added wins. */
  setProvided(provider: object, provided: Provided): void {
    this.#provided.set(provider, provided);
    this.#view = undefined;
  }

  removeProvided(provider: object): boolean {
    this.#view = undefined;
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
    this.#servers.set(server, byName);
    this.#view = undefined;
  }

  /** Takes a server's tools out. Returns how many there were. */
  removeServer(server: string): number {
    const count = this.#servers.get(server)?.size ?? 0;
    this.#servers.delete(server);
    this.#view = undefined;
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

  claudeTool(name: string): AnthropicTool {
    return this.#current().claudeTools.get(name) as AnthropicTool;
  }

  get excluded(): readonly ExcludedTool[] {
    return this.#current().excluded;
  }

  /** How many tools of servers are shown: of one, or of all. */
  mcpCount(server?: string): number {
    const { entries, ownCount } = this.#current();
    return server === undefined ? entries.length - ownCount : entries.filter((tool) => tool.server === server).length;
  }

  /** The tool that a model means: by the name it was shown, else by any way to read the name as server and tool. */
  find(name: string): ToolEntry | undefined {
    const shown = this.#current().byName.get(name);
    if (shown || typeof name !== 'string') return shown;
    for (const { server, tool } of readingsOf(name)) {
      const meant = this.findRef(server, tool);
      if (meant) return meant;
    }
    return undefined;
  }

  /** The tool of a server, or the program's own with the server `''`. */
  findRef(server: string, tool: string): ToolEntry | undefined {
    const { names, byName } = this.#current();
    const entry = byName.get(names.nameOf({ server, tool }) ?? '');
    return (entry?.server ?? '') === server ? entry : undefined;
  }

  /** Says how many tools there are now, and which are left out. */
  told(tell: Tell, traceId: string | undefined, unset: readonly string[] = []): void {
    const { ownCount, excluded } = this.#current();
    const left = excluded.map(({ serverName, toolName, reason }) => {
      const name = serverName === null ? toolName : `${serverName}:${toolName}`;
      return `${name}: ${reason}`;
    });
    const counts = { staticCount: ownCount, mcpCount: this.mcpCount() };
    const more = { ...(left.length > 0 && { excluded: left }), ...(unset.length > 0 && { unset }) };
    tell('tools.registry.updated', { ...counts, ...more }, traceId);
  }

  #current(): View {
    this.#view ??= this.#build();
    return this.#view;
  }

  #build(): View {
    const own = this.#own();
    const ownNames = createNameTable([...own.keys()].map((name) => ({ name })));
    const mcpNames = createNameTable(this.#listed());
    const byName = new Map<string, ToolEntry>();
    const excluded = [...this.#provided.values()].flatMap((provided) => provided.excluded);
    for (const [name, { tool }] of ownNames.entries()) {
      const found = own.get(tool);
      if (found) byName.set(name, { name, server: null, definition: found.definition, own: found });
    }
    for (const [name, { server, tool }] of mcpNames.entries()) {
      const definition = this.#servers.get(server)?.get(tool);
      if (!definition) continue;
      if (!byName.has(name)) byName.set(name, { name, server, definition });
      else excluded.push({ serverName: server, toolName: tool, reason: `a tool of the program is called ${name}` });
    }
    const names: NameTable = {
      size: byName.size,
      nameOf: (ref) => (ref.server === '' ? ownNames : mcpNames).nameOf(ref),
      refOf: (name) => ownNames.refOf(name) ?? mcpNames.refOf(name),
      entries: () => [...byName.keys()].sort().map((name) => [name, refOf(byName.get(name))] as const),
    };
    const shown = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    const claude = claudeSet(shown, names);
    const claudeTools = new Map(claude.definitions.map((tool) => [tool.name, tool]));
    for (const { kind, server, tool, message } of claude.problems) {
      if (kind === 'left-out')
        excluded.push({ serverName: server === '' ? null : server, toolName: tool, reason: message });
    }
    const entries = shown.filter(({ name }) => claudeTools.has(name));
    for (const { name } of shown) if (!claudeTools.has(name)) byName.delete(name);
    const ownCount = entries.filter(({ server }) => server === null).length;
    const described = entries.map(describe);
    const seen = new ShownNames(names, described);
    return { entries, byName, names, described, shown: seen, claude, claudeTools, excluded, ownCount };
  }

  /** The program's tools: static ones first, then those of providers in the order these were added. */
  #own(): ReadonlyMap<string, OwnTool> {
    const own = new Map<string, OwnTool>(this.#static);
    for (const { tools } of this.#provided.values())
      for (const [name, tool] of tools) if (!own.has(name)) own.set(name, tool);
    return own;
  }

  *#listed(): Generator<{ readonly server: string; readonly name: string }> {
    for (const [server, tools] of this.#servers) for (const name of tools.keys()) yield { server, name };
  }
}

const refOf = (entry: ToolEntry | undefined) => ({ server: entry?.server ?? '', tool: entry?.definition.name ?? '' });

const isSchema = (schema: unknown): boolean => typeof schema === 'object' && schema !== null && !Array.isArray(schema);

/** Lists come from servers; only their names are looked at here. */
const isTool = (tool: unknown): tool is ToolDefinition =>
  typeof tool === 'object' &&
  tool !== null &&
  'name' in tool &&
  typeof tool.name === 'string' &&
  tool.name !== '' &&
  tool.name.length <= LIMITS.names.qualified;
