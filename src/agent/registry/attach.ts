/**
 * Puts the tools of a registry or an engine on a server of the MCP SDK: `tools/list` shows them beside the server's own,
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

/** What is attached: tools, as the request sees them that is being served. */
export interface AttachedTools {
  readonly changes: ListChanges;
  /** How long providers of a request are waited for. */
  readonly waitMs: number;
  /** The names of the tools that find others. */
  readonly reserved: readonly string[];
  /** What `tools/list` shows: all tools, or those that find the others. */
  list(all: boolean): Promise<readonly ToolDefinition[]>;
  has(name: string): Promise<boolean>;
  /** Runs a tool, or one of those that find others. `isListed` tells whether a name is one of the server's own. */
  run(
    name: string,
    args: Readonly<Record<string, unknown>>,
    context: ToolContext,
    isListed: (name: string) => Promise<boolean>,
  ): Promise<CallToolResult>;
}

/** Who sees all tools, and what a request brings along. */
export interface AttachChoices {
  readonly showsAll: boolean | ((request: ToolRequest) => boolean);
  readonly providersFor?: AttachOptions['providersFor'];
}

export type { AttachableServer } from './sdk-server.ts';

const attached = new WeakSet<object>();

/** Puts tools in front of a server's own, which win where names are the same. */
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
      'This server already has a registry or an engine; add other tools to that one as providers',
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

/** A server keeps what is told about changes for it; nobody else does. */
const keepAlive = new WeakMap<object, ListedServer>();

/** A choice that throws shows what everybody may see. */
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
