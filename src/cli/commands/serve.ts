/**
 * `anygpt mcp serve`: the gateway, until its client goes or a signal comes.
 * @module
 */
import type { Writable } from 'node:stream';
import { DiscoveryEngine } from '../../discovery-engine.ts';
import { configFile } from '../../engine-world.ts';
import { DiscoveryError } from '../../errors.ts';
import { createLogger, type LogLevel } from '../../log.ts';
import type { Logger } from '../../types.ts';
import { EXIT, type Io } from '../io.ts';
import { type Command, complain } from '../main.ts';

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'];

export const serve: Command = {
  summary: 'Run the gateway on stdio, or on HTTP with --http',
  usage: `Usage: anygpt mcp serve [options]

The MCP server that agents connect to. Speaks MCP on stdin and stdout; messages for people go to stderr.

Options:
  --config FILE      Use this configuration file
  --http PORT        Serve Streamable HTTP on 127.0.0.1:PORT/mcp instead of stdio
  --expose SERVER    Show this one server's own tools, prompts and resources instead of the five meta-tools
  --trust-project    Use this folder's configuration without asking
  --watch            Reload when the configuration files change
  --log-level LEVEL  debug, info, warn, error or silent (default warn)

Examples:
  anygpt mcp serve
  anygpt mcp serve --config ./mcp-discovery.config.json --log-level info
  anygpt mcp serve --http 8080`,
  options: {
    config: { type: 'string' },
    http: { type: 'string' },
    expose: { type: 'string' },
    'trust-project': { type: 'boolean' },
    watch: { type: 'boolean' },
    'log-level': { type: 'string' },
  },
  async run(values, positionals, io) {
    if (positionals.length > 0)
      return complain(io, `serve takes no arguments, only options: ${positionals.join(' ')}`, EXIT.usage);
    const level = (values['log-level'] as string | undefined) ?? 'warn';
    if (!LEVELS.includes(level)) return complain(io, `--log-level is one of ${LEVELS.join(', ')}`, EXIT.usage);
    const port = values.http === undefined ? undefined : Number(values.http);
    if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port < 65536))
      return complain(io, '--http takes a port number', EXIT.usage);
    const logger = createLogger((line) => io.stderr.write(`anygpt: ${line}\n`), level as LogLevel);
    // A configuration written as code, or a dependency, may print; stdout belongs to the protocol.
    const output = io.reserveStdout?.() ?? io.stdout;
    const engine = new DiscoveryEngine(configFile(values.config as string | undefined), {
      env: io.env,
      cwd: io.cwd,
      trustProject: values['trust-project'] === true,
      logger,
    });
    try {
      return await serveEngine(
        engine,
        { port, expose: values.expose as string | undefined, watch: values.watch === true, logger, output },
        io,
      );
    } finally {
      await engine.close();
    }
  },
};

interface ServeOptions {
  readonly port: number | undefined;
  readonly expose: string | undefined;
  readonly watch: boolean;
  readonly logger: Logger;
  /** Where the protocol is spoken. */
  readonly output: Writable;
}

async function serveEngine(
  engine: DiscoveryEngine,
  { port, expose, watch, logger, output }: ServeOptions,
  io: Io,
): Promise<number> {
  // Piece by piece: the gateway on stdio is started for every agent and need not load HTTP.
  const stdio = import('../../gateway/serve-stdio.ts');
  await engine.getConfig();
  const { discoverySurface, serveGatewayOnStdio } = await stdio;
  if (expose !== undefined) {
    const names = await engine.serverNames();
    if (!names.includes(expose))
      return complain(io, `There is no server "${expose}". Known: ${names.join(', ') || 'none'}.`, EXIT.notFound);
  }
  const surface =
    expose === undefined
      ? discoverySurface(engine)
      : (await import('../../gateway/exposed-server.ts')).exposedSurface(engine, expose);
  if (port === undefined && io.stdin.isTTY) {
    io.stderr.write(
      'anygpt: this is an MCP server; it waits for a client on stdin. To look around, run: anygpt --help\n',
    );
  }
  const served =
    port === undefined
      ? serveGatewayOnStdio(engine, { input: io.stdin, output, surface })
      : await (await import('../../gateway/serve-http.ts'))
          .serveGatewayOnHttp(engine, { port, surface })
          .catch((error: NodeJS.ErrnoException) => {
            throw new DiscoveryError('SERVER_CONNECTION_ERROR', `cannot listen on port ${port}: ${error.message}`);
          });
  if ('url' in served) io.stderr.write(`anygpt: listening on ${served.url}\n`);
  const { watchConfig } = await import('../../watch-config.ts');
  const stopWatching = await watchConfig(engine, { logger, files: watch });
  await new Promise<void>((resolve) => {
    let asked = false;
    const stopListening = io.onSignal(() => {
      // The second signal does not wait; the reaper ends what is still running.
      if (asked) io.exit(130);
      asked = true;
      resolve();
    });
    void served.closed.then(() => {
      if (!asked) stopListening();
      resolve();
    });
  });
  stopWatching();
  // Whatever hangs now, hangs no longer than this; the reaper ends what is still running.
  const { limits } = await engine.getConfig();
  setTimeout(() => io.exit(EXIT.failed), limits.shutdown).unref();
  // Calls under way may still answer before the connection goes.
  await engine.close();
  await served.close();
  return EXIT.ok;
}
