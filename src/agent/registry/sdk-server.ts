/**
 * Puts our handlers of `tools/list` and `tools/call` in front of those of an MCP SDK server, version 1 or 2, high or
 * low level. Imports nothing of the SDK; the few differences between versions are handled here.
 * @module
 */
import { ValidationError } from '../../core/errors.ts';
import { messageOf } from '../../text/thrown-message.ts';

/** Any server of the MCP SDK: `McpServer` or `Server`, of version 1 or 2. */
export interface AttachableServer {
  connect(transport: never): Promise<void>;
  close(): Promise<void>;
  sendToolListChanged(): unknown;
}

/** A request as it arrives. */
export interface RawRequest {
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

/** A handler as the SDK stores it; `sdk` is its `extra` or `ctx`. */
export type RawHandler = (request: RawRequest, sdk: unknown) => Promise<unknown>;

/** Our handler, in front of the server's. `theirs` is undefined if the server has none. */
type FrontHandler = (request: RawRequest, sdk: unknown, theirs: RawHandler | undefined) => Promise<unknown>;

/** What both versions have, some of it private. */
interface LowLevelServer {
  readonly transport?: unknown;
  readonly _requestHandlers?: unknown;
  onerror?: ((error: Error) => void) | undefined;
  setRequestHandler(...args: unknown[]): void;
  registerCapabilities(capabilities: object): void;
  getCapabilities?(): { readonly tools?: { readonly listChanged?: boolean } };
  sendToolListChanged(): Promise<void>;
  /** Version 2: adds the SDK's checks to a handler. */
  _wrapHandler?(method: string, handler: RawHandler): RawHandler;
}

interface HighLevelServer {
  readonly server: LowLevelServer;
  registerTool(name: string, config: object, handler: () => unknown): { remove(): void };
}

/** The server under `McpServer`, or the server itself. Throws for anything else. */
export function lowLevelOf(server: AttachableServer): LowLevelServer {
  const low = isHighLevel(server) ? server.server : (server as unknown as LowLevelServer);
  if (typeof low?.setRequestHandler !== 'function' || !(low._requestHandlers instanceof Map)) {
    throw new ValidationError('attach() takes a server of the MCP SDK: McpServer or Server, of version 1 or 2');
  }
  return low;
}

const isHighLevel = (server: unknown): server is HighLevelServer =>
  typeof (server as Partial<HighLevelServer>).registerTool === 'function' &&
  typeof (server as Partial<HighLevelServer>).server === 'object';

/**
 * Declares the capability and reserves the names. A high-level server sets its handlers with its first tool, and
 * refuses to do so if others exist, so it gets placeholders with these names. The handlers in front do the work.
 */
export function reserveTools(server: AttachableServer, names: readonly string[]): void {
  const taken: { remove(): void }[] = [];
  try {
    if (!isHighLevel(server)) return declareTools(lowLevelOf(server));
    for (const name of names) taken.push(server.registerTool(name, {}, () => ({ content: [] })));
  } catch (cause) {
    for (const tool of taken) tool.remove();
    const advice =
      lowLevelOf(server).transport === undefined
        ? `attach() adds ${names.join(' and ')}; give the server's own tool another name.`
        : 'Attach before the server is connected.';
    throw new ValidationError(`The registry cannot be attached: ${messageOf(cause)}. ${advice}`, { cause });
  }
}

function declareTools(low: LowLevelServer): void {
  const declared = low.getCapabilities?.().tools;
  if (declared !== undefined && low.transport !== undefined) return;
  low.registerCapabilities({ tools: { listChanged: declared?.listChanged ?? true } });
}

/** Puts a handler in front of the server's own, even one that is set later. Returns a getter of the server's own. */
export function putInFront(low: LowLevelServer, method: string, front: FrontHandler): () => RawHandler | undefined {
  const handlers = low._requestHandlers as Map<string, RawHandler>;
  let theirs: RawHandler | undefined;
  const installed: RawHandler = (request, sdk) => front(request, sdk, theirs);
  const install = (): void => {
    theirs = handlers.get(method);
    handlers.set(method, installed);
  };
  install();
  const set = low.setRequestHandler;
  low.setRequestHandler = (...args) => {
    set.apply(low, args);
    if (handlers.get(method) !== installed) install();
  };
  return () => theirs;
}

/** Adds the SDK's checks to a handler, if the SDK offers them separately. */
export const withSdkChecks = (low: LowLevelServer, method: string, handler: RawHandler): RawHandler =>
  low._wrapHandler?.(method, handler) ?? handler;

/** Calls back whenever the server announces changed tools, connected or not. */
export function onListChanged(low: LowLevelServer, changed: () => void): void {
  const send = low.sendToolListChanged;
  low.sendToolListChanged = () => {
    changed();
    return send.call(low);
  };
}

/** Notifies the client of a connected server that the list changed. */
export function tellListChanged(low: LowLevelServer): void {
  if (low.transport === undefined) return;
  low.sendToolListChanged().catch((error: Error) => low.onerror?.(error));
}
