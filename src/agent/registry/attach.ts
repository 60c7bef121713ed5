/**
 * Attaches the tools of a registry or an engine to an MCP SDK server. `tools/list` shows them beside the server's own,
 * `tools/call` runs them, and everything else stays with the server.
 * @module
 */

import { limitTime } from '../../async/time-limit.ts';
import { ValidationError } from '../../core/errors.ts';
import type { ToolContext, ToolProvider, ToolRequest } from '../../core/tool-provider.ts';
import type { CallToolResult, ToolDefinition } from '../../core/types.ts';
import { repairArguments } from '../../execution/validation/repair-arguments.ts';
import { maskSecrets } from '../../secrets/credential-patterns.ts';
import { messageOf } from '../../text/thrown-message.ts';
import { checkProvider } from './check-provider.ts';
import { refuse } from './discovery-tools.ts';
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

/**
 * `hidden`: tools that are not visible are found by `tool_search`. `show-all`: all tools are listed, for clients that
 * search themselves.
 */
type ListMode = 'hidden' | 'show-all';

/** Options for attaching a registry to a server. */
export interface AttachOptions {
  /** What `tools/list` shows. A function decides per request. Default `hidden`. */
  readonly mode?: ListMode | ((request: ToolRequest) => ListMode) | undefined;
  /**
   * Gives the tools of one request, for example by its header or authorization. Called for each request; times out
   * after `waitMs`.
   */
  readonly providersFor?: ((request: ToolRequest) => RequestProviders | Promise<RequestProviders>) | undefined;
  /** True: `tool_search` returns one line of parameters, `args`, instead of `input_schema`. */
  readonly compact?: boolean | undefined;
  /** What can be found, in a few words: `e-mail, calendars and invoices`. Part of the description of `tool_search`. */
  readonly about?: string | undefined;
}

/** One provider, several, or none. */
export type RequestProviders = ToolProvider | readonly ToolProvider[] | undefined;

/** The attached tools, as the current request sees them. */
interface AttachedTools {
  readonly changes: ListChanges;
  /** Timeout for a request's providers. */
  readonly waitMs: number;
  /** The names of the search and meta-tools. */
  readonly reserved: readonly string[];
  /** What `tools/list` shows: all tools, or only the search and meta-tools. */
  list(all: boolean): Promise<readonly ToolDefinition[]>;
  has(name: string): Promise<boolean>;
  /** Runs a tool or a meta-tool. `isListed` tells whether a name is one of the server's own tools. */
  run(
    name: string,
    args: Readonly<Record<string, unknown>>,
    context: ToolContext,
    isListed: (name: string) => Promise<boolean>,
  ): Promise<CallToolResult>;
}

/** Which requests see all tools, and their own providers. */
interface AttachChoices {
  readonly showsAll: boolean | ((request: ToolRequest) => boolean);
  readonly providersFor?: AttachOptions['providersFor'];
}

const attached = new WeakSet<object>();

/** Attaches tools to a server. The server's own tools win if names are equal. */
export function attachTo(
  server: AttachableServer,
  { showsAll, providersFor }: AttachChoices,
  attachedTools: AttachedTools,
): void {
  const { reserved, waitMs } = attachedTools;
  const finders: ReadonlySet<unknown> = new Set(reserved);
  const low = lowLevelOf(server);
  if (attached.has(low)) {
    throw new ValidationError(
      'This server already has a registry or an engine attached; add other tools to that one as providers',
    );
  }
  reserveTools(server, reserved);
  attached.add(low);
  const theirs = new OwnNames(finders, waitMs, () => listBehind());

  const inScope = async <T>(sdk: unknown, fn: () => Promise<T>): Promise<T> => {
    if (providersFor === undefined) return fn();
    return withRequestProviders(await readProviders(providersFor, sdk, waitMs), fn);
  };

  const ownList: RawHandler = async () => ({ tools: [] });
  const checkedList = withSdkChecks(low, 'tools/list', ownList);
  const listBehind = putInFront(low, 'tools/list', (request, sdk, behind = checkedList) =>
    inScope(sdk, async () => {
      const result = (await behind(request, sdk)) as ListResult;
      const listed = await theirs.passBy(request, result, sdk);
      if (request.params?.cursor !== undefined) return { ...result, tools: listed };
      const ours = await attachedTools.list(seesAll(showsAll, sdk));
      return {
        ...result,
        tools: [...listed, ...ours.filter(({ name }) => !theirs.knows(name))],
        // A list with one user's tools must not be cached for others.
        ...(isVersion2(sdk) && requestProviders().length > 0 && { ttlMs: 0, cacheScope: 'private' }),
      };
    }),
  );
  onListChanged(low, () => theirs.forget());

  const run = withSdkChecks(low, 'tools/call', ({ params = {} }, sdk): Promise<CallToolResult> => {
    const name = String(params.name);
    // Version 1 passes on what it was sent.
    const args = repairArguments(params.arguments);
    if (args === undefined) return Promise.resolve(refuse(name, 'they must be an object'));
    const isListed = async (one: string) => finders.has(one) || theirs.has(one, sdk);
    return attachedTools.run(name, args, toToolContext(sdk), isListed);
  });
  putInFront(low, 'tools/call', (request, sdk, behind) =>
    inScope(sdk, async () => {
      const name = request.params?.name;
      if (behind === undefined || finders.has(name)) return run(request, sdk);
      const isOurs = typeof name === 'string' && !(await theirs.has(name, sdk)) && (await attachedTools.has(name));
      return (isOurs ? run : behind)(request, sdk);
    }),
  );

  const listedServer: ListedServer = { showsAll: showsAll !== false, tell: () => tellListChanged(low) };
  keepAlive.set(low, listedServer);
  attachedTools.changes.add(listedServer);
}

/** Ties the lifetime of the notification target to the server. */
const keepAlive = new WeakMap<object, ListedServer>();

/** A mode function that throws gives the default list. */
function seesAll(showsAll: AttachChoices['showsAll'], sdk: unknown): boolean {
  if (typeof showsAll !== 'function') return showsAll;
  try {
    return showsAll(toToolRequest(sdk));
  } catch {
    return false;
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

/** Stands in for providers that failed to load: the others keep working, and searches and calls report the error. */
function unavailable(thrown: unknown): ToolProvider {
  const reason = maskSecrets(messageOf(thrown));
  return {
    name: 'the provider of this request',
    listToolMetadata: () => Promise.reject(new Error(reason)),
    getTool: () => undefined,
    callTool: () => Promise.reject(new Error(reason)),
  };
}
