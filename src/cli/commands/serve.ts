/**
 * `anygpt mcp serve`: the gateway, until its client goes or a signal comes.
 * @module
 */
import { readInPlace } from '../../connections/quick-pipe.ts';
import { DiscoveryError, type ErrorInfo } from '../../core/errors.ts';
import { DEFAULTS } from '../../core/limits.ts';
import { LOG_LEVELS, type LogLevel } from '../../core/log.ts';
import { toFailure } from '../../core/result.ts';
import type { DiscoveryEngine } from '../../engine/discovery-engine.ts';
import { configFile } from '../../engine/engine-world.ts';
import type { Surface } from '../../gateway/serve-stdio.ts';
import { failure } from '../../meta-tools/answers.ts';
import { askTrust } from '../ask-trust.ts';
import type { Command } from '../command.ts';
import { exitCodeOf } from '../exit-code.ts';
import { complain, reportFailure } from '../failure.ts';
import { EXIT, type Io } from '../io.ts';
import { optimiseEarly } from '../optimise-early.ts';
import { ServeLog } from '../serve-log.ts';
import { UsageError } from '../usage-error.ts';

export const serve: Command = {
  usage: `Usage: anygpt mcp serve [options]

The MCP server that agents connect to. Speaks MCP on stdin and stdout; messages for people go to stderr.

Options:
  --config FILE      Use this configuration file
  --http PORT        Serve Streamable HTTP on 127.0.0.1:PORT/mcp instead of stdio
  --expose SERVER    Show this one server's own tools, prompts and resources instead of the five meta-tools
  --url URL          Show the server at this address as it is, for clients that start programs only; reads no configuration
  --trust-project    Use this folder's configuration without asking
  --watch            Reload when the configuration files change (half-written ones wait until they are whole)
  --log-level LEVEL  debug, info, warn, error or silent (default: log.level of the configuration)

Examples:
  anygpt mcp serve
  anygpt mcp serve --config ./mcp-discovery.config.json --log-level info
  anygpt mcp serve --http 8080`,
  options: {
    config: { type: 'string' },
    http: { type: 'string' },
    expose: { type: 'string' },
    url: { type: 'string' },
    'trust-project': { type: 'boolean' },
    watch: { type: 'boolean' },
    'log-level': { type: 'string' },
  },
  async run(values, positionals, io) {
    if (positionals.length > 0)
      throw new UsageError(`serve takes no arguments, only options: ${positionals.join(' ')}`);
    const level = values['log-level'] as LogLevel | undefined;
    if (level !== undefined && !LOG_LEVELS.includes(level))
      throw new UsageError(`--log-level is one of ${LOG_LEVELS.join(', ')}`);
    const port = values.http === undefined ? undefined : Number(values.http);
    if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port < 65536))
      throw new UsageError('--http takes a port number');
    const others = ['config', 'expose'].filter((name) => values[name] !== undefined);
    if (values.url !== undefined && others.length > 0)
      throw new UsageError(`--url and --${others[0]} exclude each other`);
    const log = new ServeLog(io.stderr, level);
    // Loaded here, so that help need not load it.
    const { DiscoveryEngine } = await import('../../engine/discovery-engine.ts');
    const { url } = values;
    const expose = url === undefined ? (values.expose as string | undefined) : REMOTE;
    const engine = new DiscoveryEngine(url === undefined ? configFile(values.config as string | undefined) : at(url), {
      env: io.env,
      cwd: io.cwd,
      trustProject: values['trust-project'] === true,
      isTrusted: askTrust(io),
      logger: log.logger,
    });
    try {
      return await serveEngine(engine, { port, expose, watch: values.watch === true, log }, io);
    } finally {
      await engine.close();
      log.close();
    }
  },
};

const REMOTE = 'remote';

/** A configuration of one server at an address. */
const at = (url: unknown) => ({ servers: [{ name: REMOTE, connection: { type: 'http' as const, url: String(url) } }] });

interface ServeOptions {
  readonly port: number | undefined;
  readonly expose: string | undefined;
  readonly watch: boolean;
  readonly log: ServeLog;
}

async function serveEngine(
  engine: DiscoveryEngine,
  { port, expose, watch, log }: ServeOptions,
  io: Io,
): Promise<number> {
  // Piece by piece: the gateway on stdio is started for every agent and need not load HTTP.
  const stdio = import('../../gateway/serve-stdio.ts');
  const configured = followConfiguration(engine, log, io);
  const { discoverySurface, serveGatewayOnStdio } = await stdio;
  // A person at a terminal may be asked a question first; one server's own tools need the server. Others are greeted at
  // once: code that takes long, or hangs, must not look like a gateway that is dead.
  if (io.stdin.isTTY || expose !== undefined) await configured;
  if (expose !== undefined && !engine.problem) {
    const names = await engine.serverNames();
    if (!names.includes(expose))
      return complain(io, `There is no server "${expose}". Known: ${names.join(', ') || 'none'}.`, EXIT.notFound);
  }
  const surface =
    expose === undefined
      ? discoverySurface(engine)
      : engine.problem
        ? unexposable(discoverySurface(engine), engine.problem, expose)
        : (await import('../../gateway/exposed-server.ts')).exposedSurface(engine, expose);
  if (port === undefined && io.stdin.isTTY) {
    io.stderr.write(
      'anygpt: this is an MCP server; it waits for a client on stdin. To look around, run: anygpt --help\n',
    );
  }
  const served =
    port === undefined
      ? // Nobody else reads it here; in a program of somebody else's it stays his.
        serveGatewayOnStdio(engine, { input: readInPlace(io.stdin), output: io.stdout, surface })
      : await (await import('../../gateway/serve-http.ts'))
          .serveGatewayOnHttp(engine, { port, surface })
          .catch((error: NodeJS.ErrnoException) => {
            throw new DiscoveryError('SERVER_CONNECTION_ERROR', `cannot listen on port ${port}: ${error.message}`);
          });
  if ('url' in served) io.stderr.write(`anygpt: listening on ${served.url}\n`);
  const { watchConfig } = await import('../../engine/watch-config.ts');
  optimiseEarly();
  const watching = configured.then(() => watchConfig(engine, { logger: log.logger, files: watch }));
  let asked = false;
  let stop = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = () => {
      asked = true;
      resolve();
    };
  });
  // A signal after the first, or after the client has gone, does not wait; the reaper ends what is still running.
  const stopListening = io.onSignal(() => (asked ? io.exit(130) : stop()));
  // Why it went, if that was not its wish, is told at the end.
  served.closed.then(stop, stop);
  await stopped;
  void watching.then((stopWatching) => stopWatching());
  // Whatever hangs now, hangs no longer than this; the reaper ends what is still running.
  const { limits } = (await engine.getConfig().catch(() => undefined)) ?? {};
  setTimeout(() => io.exit(EXIT.failed), limits?.shutdown ?? DEFAULTS.limits.shutdown).unref();
  // Calls under way may still answer before the connection goes.
  await engine.close();
  await served.close();
  stopListening();
  await served.closed;
  return engine.problem ? exitCodeOf(engine.problem.code) : EXIT.ok;
}

/** Logs as the configuration in force says. One that cannot be used is said on stderr, and the gateway goes on without. */
async function followConfiguration(engine: DiscoveryEngine, log: ServeLog, io: Io): Promise<void> {
  const follow = async () => log.configure((await engine.getConfig()).log);
  engine.onReload(() => void follow());
  try {
    await follow();
  } catch (error) {
    log.configure({ level: 'warn' });
    const failed = toFailure(error);
    if (!failed.success) reportFailure(io, failed.error, false);
  }
}

/** Where one server was to be shown and nobody knows which: tools that say why. A restart shows the server. */
const unexposable = (surface: Surface, { message }: ErrorInfo, expose: string): Surface => ({
  ...surface,
  run: async () =>
    failure({
      code: 'CONFIGURATION_ERROR',
      message: `The server "${expose}" cannot be shown, because the configuration cannot be used: ${message} Ask the person to mend it and to restart this gateway.`,
      retryable: false,
      outcome: 'not_sent',
    }),
});
