/**
 * Serves one client on stdin and stdout.
 * @module
 */
import type { Readable, Writable } from 'node:stream';
import type { Server } from '@modelcontextprotocol/server';
import { LISTEN } from '../connections/peer.ts';
import { LIMITS } from '../core/limits.ts';
import type { Caller } from '../core/types.ts';
import { IDENTITY } from '../core/version.ts';
import { coreOf, type EngineHandle } from '../engine/engine-handle.ts';
import type { RunTool } from '../meta-tools/run-tool.ts';
import { discoverySurface } from './discovery-surface.ts';
import type { Introduction } from './introduction.ts';
import { ParkedCalls } from './parked-calls.ts';
import type { UpstreamIdentity } from './sdk-context.ts';
import { StdioLane } from './stdio-lane.ts';
import { createUpstreamHandler, type UpstreamHandler } from './upstream.ts';

/** The streams to use, by default those of the process, and what to serve. */
export interface ServeStdioOptions {
  readonly input?: Readable;
  readonly output?: Writable;
  /** What is served. Default: the five meta-tools. */
  readonly surface?: Surface;
}

/** What a gateway shows its clients: how tools run, and the SDK server that offers them. */
export interface Surface {
  readonly run: RunTool;
  /** Shows one server as it is, so that its errors are passed on verbatim. */
  readonly relays?: boolean;
  /** Answers for clients before an SDK server exists. */
  readonly introduction?: Introduction | undefined;
  createServer(handler: UpstreamHandler, identity: UpstreamIdentity): Promise<Server>;
  /** Adds a subscription of a client of the new protocol. Returns a function that ends it. */
  listen?(params: Readonly<Record<string, unknown>>, caller: Caller): () => void;
  /** Reduces a subscription to what the caller may see. Absent if all callers see the same. */
  mayHear?(params: Readonly<Record<string, unknown>>, caller: Caller): Promise<Readonly<Record<string, unknown>>>;
  /** Says why the headers of a call over HTTP do not match its arguments. */
  headerFault?(
    params: Readonly<Record<string, unknown>>,
    headers: Headers,
    caller: Caller,
  ): Promise<string | undefined>;
  /** Passes on changes while clients of a caller listen that have no session. Returns a function that stops it. */
  relayChanges?(notify: ChangeNotifier, caller: Caller): () => void;
}

/** The SDK's way to announce changes to listening clients. */
export interface ChangeNotifier {
  toolsChanged(): void;
  promptsChanged(): void;
  resourcesChanged(): void;
  resourceUpdated(uri: string): void;
}

/** A running gateway. */
export interface ServedGateway {
  /** Resolves when the client has disconnected; rejects when it cannot be served. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** Serves one client until it disconnects or `close` is called. Does not close the engine. */
export function serveGatewayOnStdio(engine: EngineHandle, options: ServeStdioOptions = {}): ServedGateway {
  const { input = process.stdin, output = process.stdout, surface = discoverySurface(engine) } = options;
  const parked = new ParkedCalls();
  const handler = createUpstreamHandler(surface.run, parked);
  let finish = () => {};
  let fail: (reason: unknown) => void = () => {};
  const closed = new Promise<void>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  let server: Server | undefined;
  const serveBySdk = async () => {
    const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
    return serveStdio(
      async ({ era }) => {
        const { capabilities } = lane;
        server = await surface.createServer(handler, { era, session: 'stdio', capabilities });
        return server;
      },
      { transport: lane as never },
    );
  };
  let sdk: ReturnType<typeof serveBySdk> | undefined;
  const listening = new Map<unknown, () => void>();
  const endListening = (id: unknown) => {
    listening.get(id)?.();
    listening.delete(id);
  };
  const lane = new StdioLane({
    input,
    output,
    handler,
    maxMessageBytes: LIMITS.wire.message,
    serverInfo: IDENTITY,
    relays: surface.relays,
    introduction: surface.introduction,
    onLeft: ({ id, method, params = {} }) => {
      if (method === LISTEN && surface.listen) listening.set(id, surface.listen(params, { session: 'stdio' }));
      else if (method === 'notifications/cancelled') endListening(params.requestId);
    },
    wake: () => {
      sdk = serveBySdk();
      // An installation that cannot load the SDK can serve no client.
      sdk.catch((error) => {
        fail(error);
        void lane.close();
      });
    },
    onEnd: () => finish(),
  });
  lane.listen();
  const unsubscribe = coreOf(engine).onShownTools(() => {
    if (server) void server.sendToolListChanged().catch(() => {});
    else lane.toolListChanged();
  });
  const close = async () => {
    unsubscribe();
    for (const id of listening.keys()) endListening(id);
    parked.close();
    await (await sdk?.catch(() => undefined))?.close();
    await lane.close();
    finish();
  };
  return { closed, close };
}
