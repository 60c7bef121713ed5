/**
 * Converts the context of an MCP SDK handler, version 1 or 2, to ours.
 * @module
 */
import type { ToolContext, ToolRequest } from '../../core/tool-provider.ts';
import type { Progress } from '../../core/types.ts';

/** `extra` of version 1. */
interface Extra {
  readonly signal?: AbortSignal;
  readonly sessionId?: string;
  readonly authInfo?: unknown;
  readonly requestInfo?: { readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>> };
  readonly _meta?: { readonly progressToken?: string | number };
  sendNotification?(notification: unknown): Promise<void>;
}

/** `ctx` of version 2. */
interface Context {
  readonly sessionId?: string;
  readonly mcpReq: {
    readonly signal: AbortSignal;
    readonly _meta?: { readonly progressToken?: string | number };
    notify(notification: unknown): Promise<void>;
  };
  readonly http?: {
    readonly authInfo?: unknown;
    readonly req?: { readonly headers?: { get(name: string): string | null } };
  };
}

const isContext = (sdk: unknown): sdk is Context => typeof (sdk as Partial<Context> | undefined)?.mcpReq === 'object';

/** Tells whether a request came through version 2 of the SDK. */
export const isVersion2 = isContext;

/** The context of a call through the SDK. */
export function toToolContext(sdk: unknown): ToolContext {
  const { signal, token, notify } = isContext(sdk)
    ? { signal: sdk.mcpReq.signal, token: sdk.mcpReq._meta?.progressToken, notify: sdk.mcpReq.notify }
    : {
        signal: (sdk as Extra).signal,
        token: (sdk as Extra)._meta?.progressToken,
        notify: (sdk as Extra).sendNotification,
      };
  const report = (progress: Progress): void => {
    // The client may have disconnected; the call itself notices.
    notify?.({ method: 'notifications/progress', params: { progressToken: token, ...progress } }).catch(() => {});
  };
  return {
    signal: signal ?? new AbortController().signal,
    request: toToolRequest(sdk),
    ...(token !== undefined && { onProgress: report }),
  };
}

/** The request itself, for decisions by header or authorization. */
export function toToolRequest(sdk: unknown): ToolRequest {
  const { sessionId } = (sdk ?? {}) as Extra;
  const authInfo = isContext(sdk) ? sdk.http?.authInfo : (sdk as Extra | undefined)?.authInfo;
  return {
    header: (name) => headerOf(sdk, name.toLowerCase()),
    ...(authInfo !== undefined && { authInfo }),
    ...(sessionId !== undefined && { sessionId }),
    sdk,
  };
}

function headerOf(sdk: unknown, name: string): string | undefined {
  if (isContext(sdk)) return sdk.http?.req?.headers?.get(name) ?? undefined;
  const headers = (sdk as Extra | undefined)?.requestInfo?.headers ?? {};
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return typeof value === 'object' ? value.join(', ') : value;
}
