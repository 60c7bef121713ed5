/**
 * The gateway on stdin and stdout, for one client.
 * @module
 */
import type { Readable, Writable } from 'node:stream';
import type { Server } from '@modelcontextprotocol/server';
import { LIMITS } from '../core/limits.ts';
import { IDENTITY } from '../core/version.ts';
import { coreOf, type EngineHandle } from '../engine/engine-handle.ts';
import { createMetaToolRunner } from '../meta-tools/meta-tool-runner.ts';
import type { RunTool } from '../meta-tools/run-tool.ts';
import { type Introduction, introductionOf } from './introduction.ts';
import { ParkedCalls } from './parked-calls.ts';
import type { UpstreamIdentity } from './sdk-context.ts';
import { StdioLane } from './stdio-lane.ts';
import { createUpstreamHandler, type UpstreamHandler } from './upstream.ts';

/** The streams to speak on, those of the process unless told otherwise, and what to serve. */
export interface ServeStdioOptions {
  readonly input?: Readable;
  readonly output?: Writable;
  /** What is served; the five meta-tools unless told otherwise. */
  readonly surface?: Surface;
}

/** What a gateway shows its clients: how tools are run, and the server that says so. */
export interface Surface {
  readonly run: RunTool;
  /** Shows a server as it is, so that its errors are handed on word for word. */
  readonly relays?: boolean;
  /** What clients may be told before there is a server. */
  readonly introduction?: Introduction;
  createServer(handler: UpstreamHandler, identity: UpstreamIdentity): Promise<Server>;
  /** Passes on what changes while clients without sessions listen; returns how to stop. */
  relayChanges?(notify: ChangeNotifier): () => void;
}

/** The SDK's way to tell listening clients what has changed. */
export interface ChangeNotifier {
  toolsChanged(): void;
  promptsChanged(): void;
  resourcesChanged(): void;
  resourceUpdated(uri: string): void;
}

/** A gateway that runs, until `close`. */
export interface ServedGateway {
  /** Settles when the client has gone; rejects when it cannot be served. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** The five meta-tools in front of everything. */
export function discoverySurface(engine: EngineHandle): Surface {
  const introduction = introductionOf(coreOf(engine));
  return {
    run: createMetaToolRunner(coreOf(engine)),
    introduction,
    createServer: async (handler, identity) =>
      (await import('./create-server.ts')).createGatewayServer(introduction, handler, identity),
  };
}

/** Serves one client until it closes its end or `close` is called. Does not close the engine. */
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
        server = await surface.createServer(handler, { era, session: 'stdio' });
        return server;
      },
      { transport: lane as never },
    );
  };
  let sdk: ReturnType<typeof serveBySdk> | undefined;
  const lane = new StdioLane({
    input,
    output,
    handler,
    maxMessageBytes: LIMITS.wire.message,
    serverInfo: IDENTITY,
    relays: surface.relays,
    introduction: surface.introduction,
    wake: () => {
      sdk = serveBySdk();
      // An installation from which it cannot be loaded serves nobody.
      sdk.catch((error) => {
        fail(error);
        void lane.close();
      });
    },
    onEnd: () => finish(),
  });
  lane.listen();
  const unsubscribe = coreOf(engine).onReload(() => {
    if (server) void server.sendToolListChanged().catch(() => {});
    else lane.toolListChanged();
  });
  const close = async () => {
    unsubscribe();
    parked.close();
    await (await sdk?.catch(() => undefined))?.close();
    await lane.close();
    finish();
  };
  return { closed, close };
}
