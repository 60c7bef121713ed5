/**
 * Gives an agent loop an engine's tools in any API's format, and answers the model's calls: to own tools, tools of
 * servers and meta-tools.
 * @module
 */

import type {
  AiSdkOptions,
  DefinitionsOf,
  DescribedTool,
  NamedCall,
  OptionsOf,
  ToolFormat,
} from '../agent/formats/definition-types.ts';
import { createNameTable } from '../agent/formats/names.ts';
import { toOwnWords } from '../agent/formats/own-words.ts';
import type { ToolResultsOf } from '../agent/formats/result-types.ts';
import { SeenNames, ShownNames } from '../agent/formats/shown-names.ts';
import { toDefinitions } from '../agent/formats/to-definitions.ts';
import {
  type AnyToolCall,
  argumentsOf,
  type FormatOf,
  jsonProblem,
  readToolCall,
  type ToolCallOptions,
} from '../agent/formats/tool-call.ts';
import { type ResultOptionsOf, toToolResult } from '../agent/formats/tool-result.ts';
import { ValidationError } from '../core/errors.ts';
import { withoutMetaTools } from '../core/own-server.ts';
import { fail, type ToolResult, toFailure } from '../core/result.ts';
import { isProvider } from '../core/tool-provider.ts';
import type { Caller, CallToolResult, Progress, ToolDefinition, ToolRef, ToolRequest } from '../core/types.ts';
import { failure } from '../meta-tools/answers.ts';
import { createMetaToolRunner } from '../meta-tools/meta-tool-runner.ts';
import { isMetaTool, metaToolDefinitions } from '../meta-tools/meta-tools.ts';
import { nearestNames } from '../text/nearest-names.ts';
import { shorten } from '../text/plain-text.ts';
import type { EngineCore } from './engine-core.ts';
import type { KnownSources } from './engine-state.ts';

/** `search`: the five meta-tools. `all`: every tool that may be used. `auto`: all while they are known and few, else search. */
export type ToolMode = 'search' | 'all' | 'auto';

/** Selects tools and the format of their definitions. */
export type ToolsOptions<F extends ToolFormat = 'anthropic'> = {
  /** Default `anthropic`. */
  readonly format?: F | undefined;
  /** Default `auto`. */
  readonly mode?: ToolMode | undefined;
} & Omit<OptionsOf[F], 'names'>;

export interface HandleOptions<F extends ToolFormat = ToolFormat> extends ToolCallOptions<F> {
  readonly signal?: AbortSignal | undefined;
  /** The caller, for the audit log and for tools that ask back. */
  readonly caller?: Caller | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Set to false if the model reads only text. Default true. */
  readonly media?: boolean | undefined;
}

/** Options of one call, independent of its API. */
interface AgentCallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly caller?: Caller | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly request?: ToolRequest | undefined;
  /** Set to `all` if the model may not know the meta-tools. Default `all` once `tools()` has shown all tools. */
  readonly shown?: 'search' | 'all' | undefined;
}

/** Mode `auto` shows all tools up to this number. */
const FEW = 20;

const MODES: readonly unknown[] = ['search', 'all', 'auto'] satisfies readonly ToolMode[];

/** The tools known now, under the names that models see. */
interface KnownTools {
  /** Sorted by name. Own tools have no server. */
  readonly described: readonly DescribedTool[];
  readonly shown: ShownNames;
  nameOf(ref: ToolRef): string;
  /** The source of each own tool, by the tool's name. */
  readonly owners: ReadonlyMap<string, string>;
  /** Own tools that are shown beside the meta-tools. */
  readonly visible: readonly DescribedTool[];
  /** Names of all sources. */
  readonly servers: readonly string[];
  /** Whether every source has listed its tools. */
  readonly isWhole: boolean;
  /** Whether all requests see the same. */
  readonly isShared: boolean;
}

export class AgentTools {
  readonly #core: EngineCore;
  readonly #runMetaTool: ReturnType<typeof createMetaToolRunner>;
  #kept: { readonly sources: KnownSources; readonly version: number; readonly known: KnownTools } | undefined;
  readonly #seen = new SeenNames();
  /** What `tools()` has shown. Stays `all` once all tools were shown: a call does not tell which list its model got. */
  #shown: NonNullable<AgentCallOptions['shown']> = 'search';

  constructor(core: EngineCore) {
    this.#core = core;
    this.#runMetaTool = createMetaToolRunner(core);
  }

  /** Definitions of the tools known now, in one format. */
  tools<F extends ToolFormat = 'anthropic'>(options: ToolsOptions<F> = {} as ToolsOptions<F>): DefinitionsOf[F] {
    const { format = 'anthropic' as F, mode = 'auto', ...rest } = options;
    if (!MODES.includes(mode))
      throw new ValidationError(`Unknown mode "${String(mode)}". Use one of: ${MODES.join(', ')}.`);
    const { tools, shown } = this.listed(mode);
    if (shown === 'all') this.#shown = shown;
    // Pass the pair itself: a name joined from it could mean another tool.
    const execute: AiSdkOptions['execute'] = async ({ server, tool, arguments: args }, { abortSignal: signal }) =>
      server === ''
        ? this.call({ name: tool, arguments: args }, { signal, shown })
        : asResult(await this.#core.call({ server, tool, arguments: args, signal }), shown);
    const written = { ...(format === 'ai-sdk' && { execute }), ...rest, format };
    return toDefinitions(tools, written as never).definitions as DefinitionsOf[F];
  }

  /** The tools that `mode` shows, and whether they are all. */
  listed(mode: ToolMode): { readonly tools: readonly DescribedTool[]; readonly shown: 'search' | 'all' } {
    const { described, shown: names, visible, servers, isWhole, isShared } = this.known();
    // Names of a request's own tools are of no use to others.
    if (isShared) this.#seen.handOut(names);
    const isFew = isWhole && described.length > 0 && described.length <= FEW;
    if (mode === 'all' || (mode === 'auto' && isFew)) return { tools: described, shown: 'all' };
    return { tools: [...metaToolDefinitions(servers), ...visible], shown: 'search' };
  }

  /** Answers a call in the shape of the API it came from. */
  async handle<C extends AnyToolCall, F extends ToolFormat = FormatOf<C>>(
    call: C,
    options: HandleOptions<F> = {},
  ): Promise<ToolResultsOf[F]> {
    const { format, id, ...named } = readToolCall(call, options);
    const result = await this.call(named, options, format);
    const written = { format, id, name: named.name, media: options.media } as ResultOptionsOf<ToolFormat>;
    return toToolResult(result, written) as ToolResultsOf[F];
  }

  /** Answers a call by the name that models see. A tool's failure is an answer, never a rejection. */
  async call(
    { name, namespace, arguments: args }: NamedCall,
    options: AgentCallOptions = {},
    format?: ToolFormat,
  ): Promise<CallToolResult> {
    const { caller = {}, signal = new AbortController().signal, onProgress, request, shown = this.#shown } = options;
    try {
      const broken = jsonProblem(args);
      const refusal =
        broken === undefined
          ? undefined
          : fail('TOOL_VALIDATION_ERROR', `The arguments of ${shorten(name, 100)} ${broken}.`, {
              tool: name,
              outcome: 'not_sent',
            });
      if (isMetaTool(name) && !namespace) {
        if (refusal) return asResult(refusal, shown);
        return await this.#runMetaTool(name, argumentsOf(args) ?? args, { caller, signal, onProgress, request });
      }
      const ref = await this.find(name, namespace);
      const known = { caller, signal, onProgress, request, ...(ref ?? { server: '', tool: name }) };
      if (refusal) return asResult(await this.#core.refuse(refusal, known), shown);
      if (!ref) return asResult(await this.#core.refuse(this.#notFound(name), known), shown);
      const definition = this.#definitionOf(ref);
      const sent = definition ? toOwnWords(definition, args, format) : (argumentsOf(args) ?? args);
      return asResult(await this.#core.call({ ...known, arguments: sent }), shown);
    } catch (error) {
      return asResult(toFailure(error, { tool: name }), shown);
    }
  }

  /**
   * Finds the tool behind a name: first among the names that models have seen, then as any spelling of a server and a
   * tool.
   */
  async find(name: string, namespace?: string): Promise<ToolRef | undefined> {
    await this.#core.loaded();
    const shown = this.#shownAs(name, namespace);
    if (shown) return shown;
    if (namespace) return this.#knownRef(await this.#core.settledRef(namespace, name));
    return this.#knownRef(await this.#core.settledRef('', name));
  }

  /** The tools known now. Rebuilt after a list changes. */
  known(): KnownTools {
    const all = this.#core.sourcesNow;
    const [sources] = all;
    if (sources === undefined) return NOTHING;
    const { version } = sources.catalog;
    const isShared = all.length === 1;
    if (isShared && this.#kept?.sources === sources && this.#kept.version === version) return this.#kept.known;
    const known = knownTools(all);
    // A request's own tools are not cached for other requests.
    if (isShared) this.#kept = { sources, version, known };
    return known;
  }

  #shownAs(name: string, namespace: string | undefined): ToolRef | undefined {
    const { shown, owners } = this.known();
    const exists = ({ server, tool }: ToolRef) => this.#knownRef({ server: server || (owners.get(tool) ?? ''), tool });
    const now = shown.refOf(name, namespace);
    return (now && exists(now)) ?? this.#seen.find(name, namespace, exists);
  }

  #knownRef({ server, tool }: ToolRef): ToolRef | undefined {
    return this.#core.states.some(({ servers }) => servers.has(server)) ? { server, tool } : undefined;
  }

  /** The whole definition behind a shown tool: formats have no place for annotations and output schemas. */
  wholeDefinitionOf({ server, name }: DescribedTool): ToolDefinition | undefined {
    return this.#definitionOf({ server: server ?? this.known().owners.get(name) ?? '', tool: name });
  }

  #definitionOf({ server, tool }: ToolRef): ToolDefinition | undefined {
    return this.#core.states.find(({ servers }) => servers.has(server))?.catalog.definition(server, tool);
  }

  #notFound(name: string): ToolResult<never> {
    const { described, nameOf } = this.known();
    const names = described.map((tool) => nameOf({ server: tool.server ?? '', tool: tool.name }));
    const suggestions = nearestNames(name, names);
    const hint = suggestions.length > 0 ? `Did you mean ${suggestions.join(' or ')}?` : 'search_tools finds tools.';
    const message = `There is no tool "${shorten(name, 100)}". ${hint}`;
    return fail('TOOL_NOT_FOUND', message, { tool: name, suggestions, outcome: 'not_sent' });
  }
}

/** The result of a call by a tool's own name. A failure names meta-tools only if the model knows them. */
function asResult(result: ToolResult<CallToolResult>, shown: 'search' | 'all'): CallToolResult {
  if (result.success) return result.data;
  return failure(shown === 'all' ? withoutMetaTools(result.error) : result.error);
}

function knownTools(sources: readonly KnownSources[]): KnownTools {
  const owners = new Map<string, string>();
  const all: DescribedTool[] = [];
  const visible: DescribedTool[] = [];
  let isWhole = true;
  for (const { servers, catalog } of sources) {
    for (const [server, { definition: source }] of servers) {
      if (!catalog.isSeen(server) || !catalog.isLoaded(server)) isWhole = false;
      const isOwn = isProvider(source);
      for (const { name, title, description, inputSchema, examples } of catalog.tools(server)) {
        const isFirst = isOwn && !owners.has(name);
        const tool = { ...(!isFirst && { server }), name, title, description, inputSchema, examples };
        all.push(tool);
        if (isFirst) owners.set(name, server);
        if (isOwn && catalog.definition(server, name)?.visible === true) visible.push(tool);
      }
    }
  }
  const names = createNameTable(all);
  const nameOf = (ref: ToolRef) => names.nameOf(ref) ?? ref.tool;
  const keyed = all.map((tool) => ({ tool, key: nameOf({ server: tool.server ?? '', tool: tool.name }) }));
  const described = keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ tool }) => tool);
  const servers = sources.flatMap((one) => [...one.servers.keys()]);
  const isShared = sources.length === 1;
  return { described, shown: new ShownNames(names, described), nameOf, owners, visible, servers, isWhole, isShared };
}

const NOTHING: KnownTools = { ...knownTools([]), isWhole: false };
