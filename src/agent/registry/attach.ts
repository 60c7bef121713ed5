/**
 * A registry on a server of the MCP SDK: `tools/list` shows what is visible, `tools/call` runs what the registry has, and
 * everything else stays with the server.
 * @module
 */

import { limitTime } from '../../async/time-limit.ts';
import { ValidationError } from '../../core/errors.ts';
import type { ToolProvider, ToolRequest } from '../../core/tool-provider.ts';
import type { CallToolResult } from '../../core/types.ts';
import { repairArguments } from '../../execution/validation/repair-arguments.ts';
import { maskSecrets } from '../../secrets/credential-patterns.ts';
import { messageOf } from '../../text/thrown-message.ts';
import { checkOptions, shown } from './check-options.ts';
import { checkProvider } from './check-provider.ts';
import {
  discoveryTools,
  EXECUTE_TOOL,
  refuse,
  runExecuteTool,
  runTool,
  runToolSearch,
  TOOL_SEARCH,
} from './discovery-tools.ts';
import type { ListChanges, ListedServer } from './list-changes.ts';
import { type ListResult, OwnNames } from './own-names.ts';
import { requestProviders, withRequestProviders } from './request-scope.ts';
import { isVersion2, toToolContext, toToolRequest } from './sdk-request.ts';
import {
  type AttachableServer,
  lowLevelOf,
  onListChanged,
  putInFront,
  type RawHandler,
  reserveTools,
  tellListChanged,
  withSdkChecks,
} from './sdk-server.ts';
import type { ToolView } from './tool-view.ts';

/** `hidden`: what is not visible is found by `tool_search`. `show-all`: for clients that search themselves; all tools are listed. */
export type ListMode = 'hidden' | 'show-all';

/** Choices for a server. */
export interface AttachOptions {
  /** What `tools/list` shows; may differ from request to request. Default `hidden`. */
  readonly mode?: ListMode | ((request: ToolRequest) => ListMode) | undefined;
  /** Tools of one request only: of its user, by header or authorization. Asked for each request, and waited for `waitMs`. */
  readonly providersFor?: ((request: ToolRequest) => RequestProviders | Promise<RequestProviders>) | undefined;
  /** True: `tool_search` gives one line of parameters, `args`, in place of `input_schema`. */
  readonly compact?: boolean | undefined;
  /** What can be found, in a few words: `e-mail, calendars and invoices`. Goes into the description of `tool_search`. */
  readonly about?: string | undefined;
}

/** One provider, several, or none. */
export type RequestProviders = ToolProvider | readonly ToolProvider[] | undefined;

/** What attaching needs of a registry. */
export interface AttachedRegistry {
  readonly changes: ListChanges;
  /** How long providers of a request are waited for. */
  readonly waitMs: number;
  /** The tools that the request sees which is being served. */
  view(): ToolView;
}

export type { AttachableServer } from './sdk-server.ts';

const attached = new WeakSet<object>();
const RESERVED: ReadonlySet<unknown> = new Set([TOOL_SEARCH, EXECUTE_TOOL]);

/** Puts a registry in front of a server's own tools, which win where names are the same. */
export function attachTo(server: AttachableServer, options: AttachOptions, registry: AttachedRegistry): void {
  checkOptions(options, { mode: 'any', providersFor: 'function', compact: 'flag', about: 'text' });
  const { mode = 'hidden', providersFor, compact = false, about } = options;
  if (typeof mode !== 'function' && mode !== 'hidden' && mode !== 'show-all') {
    throw new ValidationError(`mode must be 'hidden', 'show-all' or a function, not ${shown(mode)}`);
  }
  const low = lowLevelOf(server);
  if (attached.has(low)) {
    throw new ValidationError('This server already has a registry; add other tools to that one, with addProvider()');
  }
  reserveTools(server, [TOOL_SEARCH, EXECUTE_TOOL]);
  attached.add(low);
  const tools = discoveryTools(about);
  const theirs = new OwnNames(RESERVED, registry.waitMs, () => listBehind());

  const inScope = async <T>(sdk: unknown, fn: () => Promise<T>): Promise<T> => {
    if (providersFor === undefined) return fn();
    return withRequestProviders(await readProviders(providersFor, sdk, registry.waitMs), fn);
  };

  const ownList: RawHandler = async () => ({ tools: [] });
  const checkedList = withSdkChecks(low, 'tools/list', ownList);
  const listBehind = putInFront(low, 'tools/list', (request, sdk, behind = checkedList) =>
    inScope(sdk, async () => {
      const result = (await behind(request, sdk)) as ListResult;
      const listed = await theirs.passBy(request, result, sdk);
      if (request.params?.cursor !== undefined) return { ...result, tools: listed };
      const showAll = modeFor(mode, sdk) === 'show-all';
      const ours = (await registry.view().definitions(showAll)).filter(({ name }) => !theirs.knows(name));
      return {
        ...result,
        tools: [...listed, ...ours, ...(showAll ? [] : tools)],
        // What one user sees must not be kept for others.
        ...(isVersion2(sdk) && requestProviders().length > 0 && { ttlMs: 0, cacheScope: 'private' }),
      };
    }),
  );
  onListChanged(low, () => theirs.forget());

  const run = withSdkChecks(low, 'tools/call', ({ params = {} }, sdk): Promise<CallToolResult> => {
    const name = String(params.name);
    // Version 1 hands on what it was sent.
    const args = repairArguments(params.arguments);
    if (args === undefined) return Promise.resolve(refuse(name, 'they must be an object'));
    const view = registry.view();
    if (name === TOOL_SEARCH) return runToolSearch(view, args, compact);
    const context = toToolContext(sdk);
    const isListed = async (one: string) => RESERVED.has(one) || theirs.has(one, sdk);
    if (name === EXECUTE_TOOL) return runExecuteTool(view, args, context, isListed);
    return runTool(view, name, args, context, isListed);
  });
  putInFront(low, 'tools/call', (request, sdk, behind) =>
    inScope(sdk, async () => {
      const name = request.params?.name;
      if (behind === undefined || RESERVED.has(name)) return run(request, sdk);
      const isOurs = typeof name === 'string' && !(await theirs.has(name, sdk)) && (await registry.view().has(name));
      return (isOurs ? run : behind)(request, sdk);
    }),
  );

  const listedServer: ListedServer = { showsAll: mode !== 'hidden', tell: () => tellListChanged(low) };
  keepAlive.set(low, listedServer);
  registry.changes.add(listedServer);
}

/** A server keeps what is told about changes for it; nobody else does. */
const keepAlive = new WeakMap<object, ListedServer>();

/** One that cannot be had shows what everybody may see. */
function modeFor(mode: NonNullable<AttachOptions['mode']>, sdk: unknown): ListMode {
  if (typeof mode !== 'function') return mode;
  try {
    return mode(toToolRequest(sdk));
  } catch {
    return 'hidden';
  }
}

async function readProviders(
  providersFor: NonNullable<AttachOptions['providersFor']>,
  sdk: unknown,
  waitMs: number,
): Promise<readonly ToolProvider[]> {
  const overdue = () => new Error(`no answer within ${waitMs} ms`);
  try {
    const { signal: parent } = toToolContext(sdk);
    const given = await limitTime({ ms: waitMs, parent, overdue }, () => providersFor(toToolRequest(sdk)));
    const providers: readonly unknown[] = Array.isArray(given) ? given : [given ?? []].flat();
    return providers.map((provider) => {
      checkProvider(provider);
      return provider;
    });
  } catch (thrown) {
    return [unavailable(thrown)];
  }
}

/** Stands in for providers that could not be had: the others go on, and the reason is said where it matters. */
function unavailable(thrown: unknown): ToolProvider {
  const reason = maskSecrets(messageOf(thrown));
  return {
    name: 'the provider of this request',
    listToolMetadata: () => Promise.reject(new Error(reason)),
    getTool: () => undefined,
    callTool: () => Promise.reject(new Error(reason)),
  };
}
