/**
 * `anygpt mcp serve`: runs the gateway until its client disconnects or a signal arrives.
 * @module
 */
import { elapsedNow } from '../../async/clock.ts';
import { DiscoveryError, type ErrorInfo } from '../../core/errors.ts';
import { DEFAULTS, LIMITS } from '../../core/limits.ts';
import { LOG_LEVELS } from '../../core/log.ts';
import { toFailure } from '../../core/result.ts';
import type { EngineCore } from '../../engine/engine-core.ts';
import { configFile } from '../../engine/engine-world.ts';
import type { ServedHttp, ServeHttpOptions } from '../../gateway/serve-http.ts';
import type { Surface } from '../../gateway/serve-stdio.ts';
import { failure } from '../../meta-tools/answers.ts';
import type { GatewayTelemetry } from '../../telemetry/gateway-telemetry.ts';
import { wantsOpenTelemetry } from '../../telemetry/wants-open-telemetry.ts';
import { askTrust } from '../ask-trust.ts';
import type { Command } from '../command.ts';
import { exitCodeOf } from '../exit-code.ts';
import { complain, reportFailure } from '../failure.ts';
import { HTTP_OPTIONS, httpOptions } from '../http-options.ts';
import { EXIT, type Io, type Output } from '../io.ts';
import { observed } from '../observed-surface.ts';
import { ServeLog } from '../serve-log.ts';
import { oneOf, UsageError } from '../usage-error.ts';

export const serve: Command = {
  usage: `Usage: anygpt mcp serve [options]

Runs the MCP server that agents connect to, on stdin and stdout. Log messages go
to stderr.

Options:
  --config FILE      Use this configuration file
  --http [PORT]      Serve Streamable HTTP at http://127.0.0.1:PORT/mcp, not
                     stdio (default: 8080); docs/http.md says more
  --port PORT        The port, as an option of its own; 0: any free port
  --host ADDRESS     Listen on this address, such as 0.0.0.0. Needs tokens
                     (anygpt mcp token) or auth in the configuration
  --tls-cert FILE    Speak HTTPS with this certificate, as PEM
  --tls-key FILE     The key of the certificate
  --allowed-host NAME    Clients may reach the gateway under this name, too
  --allowed-origin URL   Web pages of this origin may use the gateway
  --trusted-proxy NET    Believe X-Forwarded-For, -Host and -Proto of proxies in
                     this network. These three may be given several times
  --access-log FILE  Append one JSON line for each HTTP request; -: to stderr
  --metrics [ADDRESS:]PORT   Serve Prometheus text at
                     http://127.0.0.1:PORT/metrics, for stdio and HTTP alike
  --expose SERVER    Expose one server's own tools, prompts and resources
                     instead of the five meta-tools. Given several times: those
                     of several servers, each named SERVER__NAME
  --profile NAME     Show clients only what this profile has
  --url URL          Expose the server at this URL, for clients that can only
                     start programs; reads no configuration
  --trust-project    Use this folder's configuration without asking
  --watch            Reload when the configuration files change, once they are
                     written completely
  --log-level LEVEL  debug, info, warn, error or silent (default: log.level of
                     the configuration)

Examples:
  anygpt mcp serve
  anygpt mcp serve --config ./mcp-discovery.config.json --log-level info
  anygpt mcp serve --http 8080
  anygpt mcp serve --http --host 0.0.0.0 --allowed-host tools.example.com`,
  bare: { http: '' },
  options: {
    config: { type: 'string' },
    http: { type: 'string' },
    ...HTTP_OPTIONS,
    metrics: { type: 'string' },
    expose: { type: 'string', multiple: true },
    profile: { type: 'string' },
    url: { type: 'string' },
    'trust-project': { type: 'boolean' },
    watch: { type: 'boolean' },
    'log-level': { type: 'string' },
  },
  async run(values, positionals, io) {
    if (positionals.length > 0)
      throw new UsageError(`unexpected argument "${positionals.join(' ')}"; serve takes only options`);
    const given = values['log-level'];
    const level = given === undefined ? undefined : oneOf('--log-level', given, LOG_LEVELS);
    const http = httpOptions(values, io);
    const metrics = values.metrics === undefined ? undefined : metricsPlace(String(values.metrics));
    const others = ['config', 'expose', 'profile'].filter((name) => values[name] !== undefined);
    if (values.url !== undefined && others.length > 0)
      throw new UsageError(`--url cannot be combined with --${others[0]}`);
    if (values.expose !== undefined && values.profile !== undefined)
      throw new UsageError('--expose cannot be combined with --profile');
    const log = new ServeLog(io.stderr, level);
    // Loaded here, so that help does not load it.
    const { EngineCore } = await import('../../engine/engine-core.ts');
    // Most gateways are not watched, and start sooner without.
    const telemetry =
      metrics === undefined && !wantsOpenTelemetry(io.env)
        ? undefined
        : await (await import('../../telemetry/gateway-telemetry.ts')).openGatewayTelemetry(io.env, (message) =>
            log.logger.info({}, message),
          );
    if (telemetry) log.ids = telemetry.ids;
    const { url } = values;
    const expose = url === undefined ? (values.expose as string[] | undefined) : [REMOTE];
    const profile = values.profile as string | undefined;
    const engine = new EngineCore(url === undefined ? configFile(values.config as string | undefined) : at(url), {
      env: io.env,
      cwd: io.cwd,
      trustProject: values['trust-project'] === true,
      isTrusted: askTrust(io),
      logger: log.logger,
      observer: telemetry?.observer,
    });
    telemetry?.watch(engine);
    const shown = metrics && telemetry && (await showMetrics(metrics, telemetry.metrics(), io));
    try {
      return await serveEngine(engine, { http, expose, profile, watch: values.watch === true, log, telemetry }, io);
    } finally {
      await shown?.close();
      await engine.close();
      await telemetry?.close();
      log.close();
    }
  },
};

/** `9464` or `0.0.0.0:9464`. */
function metricsPlace(text: string): { host: string | undefined; port: number } {
  const [, host, digits] = /^(?:([\w.-]{1,253}):)?(\d{1,5})$/.exec(text) ?? [];
  if (digits === undefined || Number(digits) > 65535) throw new UsageError('--metrics needs a port, such as 9464');
  return { host, port: Number(digits) };
}

async function showMetrics(place: ReturnType<typeof metricsPlace>, text: () => Promise<string>, io: Io) {
  const { serveMetrics } = await import('../../telemetry/serve-metrics.ts');
  const served = await serveMetrics(place, text).catch((error: Error) => {
    throw cannotListen(`cannot serve metrics on port ${place.port}`, '--metrics', error);
  });
  io.stderr.write(`anygpt: metrics at ${served.url}\n`);
  return served;
}

const REMOTE = 'remote';

/** A configuration with one remote server. */
const at = (url: unknown) => ({ servers: [{ name: REMOTE, connection: { type: 'http' as const, url: String(url) } }] });

interface ServeOptions {
  readonly http: Omit<ServeHttpOptions, 'surface'> | undefined;
  /** Servers to expose in place of the five meta-tools. */
  readonly expose: readonly string[] | undefined;
  readonly profile: string | undefined;
  readonly watch: boolean;
  readonly log: ServeLog;
  readonly telemetry: GatewayTelemetry | undefined;
}

async function serveEngine(
  engine: EngineCore,
  { http, expose, profile, watch, log, telemetry }: ServeOptions,
  io: Io,
): Promise<number> {
  // Every agent starts a gateway on stdio, so HTTP is loaded only on demand.
  const stdio = import('../../gateway/serve-stdio.ts');
  const discovery = import('../../gateway/discovery-surface.ts');
  const watcher = import('../../engine/watch-config.ts');
  const stampBefore = watcher.then(({ stampNow }) => stampNow(engine));
  const configured = followConfiguration(engine, log, io);
  const { serveGatewayOnStdio } = await stdio;
  const { discoverySurface } = await discovery;
  // A terminal may show a question first, and --expose needs the server. Otherwise the client is greeted at once:
  // configuration code that takes long, or hangs, must not make the gateway look dead.
  // Who may come in over HTTP is in the configuration.
  if (io.stdin.isTTY || expose !== undefined || profile !== undefined || http) await configured;
  // Other mistakes are told by the tools. This one may leave a door open that should be shut.
  if (http && /^\s*- (?:\w+\.)?auth\b/m.test(engine.problem?.message ?? '')) return EXIT.notFound;
  if (expose !== undefined && !engine.problem) {
    const names = await engine.serverNames();
    const unknown = expose.find((name) => !names.includes(name));
    if (unknown !== undefined)
      return complain(io, `Unknown server "${unknown}". Servers: ${names.join(', ') || 'none'}.`, EXIT.notFound);
  }
  if (profile !== undefined && !engine.problem && !engine.hasProfile(profile))
    return complain(
      io,
      `Unknown profile "${profile}". It has to be under "profiles" in the configuration.`,
      EXIT.notFound,
    );
  const shown =
    expose === undefined
      ? discoverySurface(engine, profile)
      : engine.problem
        ? unexposable(discoverySurface(engine), engine.problem, expose)
        : await exposing(engine, expose);
  const surface = telemetry ? observed(shown, telemetry, http !== undefined) : shown;
  if (!http && io.stdin.isTTY) {
    complain(io, 'This is an MCP server and waits for a client on stdin. For help, run: anygpt --help', 0);
  }
  const overHttp = http && (await listen(engine, { ...http, surface, within: telemetry?.within }));
  if (overHttp) for (const line of howToReach(overHttp, http)) complain(io, line, EXIT.ok);
  if (overHttp) await tellDamagedTokens(engine, io);
  const served = overHttp ?? serveGatewayOnStdio(engine, { input: io.stdin, output: io.stdout, surface });
  // Otherwise the first calls of all clients would wait for it. If loading fails, the first call reports that.
  if (overHttp) setImmediate(() => void engine.loadAhead().catch(() => {}));
  // Over HTTP, every client has a session of its own.
  const sessionEnded = overHttp ? undefined : telemetry?.session();
  const { watchConfig } = await watcher;
  const watching = configured.then(() => watchConfig(engine, { logger: log.logger, files: watch, stampBefore }));
  let asked = false;
  let stop = (_bySignal: boolean) => {};
  const stopped = new Promise<boolean>((resolve) => {
    stop = (bySignal) => {
      asked = true;
      resolve(bySignal);
    };
  });
  // A second signal, or one after the client has disconnected, exits at once; the reaper ends child processes.
  const stopListening = io.onSignal(() => (asked ? io.exit(130) : stop(true)));
  const hasLeft = () => stop(false);
  // An unexpected disconnect is reported at exit.
  served.closed.then(hasLeft, hasLeft);
  // A client that closed stdin may take its time to read.
  if (await stopped) whenUnread(io.stdout, (bytes) => void leave(bytes));
  overHttp?.drain();
  void watching.then((stopWatching) => stopWatching());
  // Limits the shutdown; the reaper ends child processes.
  const { limits } = (await engine.getConfig().catch(() => undefined)) ?? {};
  setTimeout(() => io.exit(EXIT.failed), limits?.shutdown ?? DEFAULTS.limits.shutdown).unref();
  // Running calls may still be answered before the connection closes.
  await engine.close();
  await served.close();
  stopListening();
  await served.closed;
  sessionEnded?.();
  return engine.problem ? exitCodeOf(engine.problem.code) : EXIT.ok;

  /** Ends unread calls and the process. */
  async function leave(bytes: number): Promise<void> {
    io.stderr.write(
      `anygpt: ended before the client had read ${bytes} bytes of its answers: it has read nothing for ${LIMITS.time.unread / 1000} s.\n`,
    );
    await served.close().catch(() => {});
    await engine.close();
    io.exit(EXIT.failed);
  }
}

async function listen(engine: EngineCore, options: ServeHttpOptions): Promise<ServedHttp> {
  const { serveGatewayOnHttp } = await import('../../gateway/serve-http.ts');
  return serveGatewayOnHttp(engine, options).catch((error: Error) => {
    if (error instanceof DiscoveryError) throw error;
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code.startsWith('ERR_OSSL'))
      throw new UsageError(`--tls-cert and --tls-key must be a certificate and its key, as PEM: ${error.message}`);
    throw cannotListen(`cannot listen on port ${options.port}`, '--port', error);
  });
}

function cannotListen(what: string, option: string, error: NodeJS.ErrnoException): DiscoveryError {
  const why = error.code === 'EADDRINUSE' ? `another program uses it. Take another one with ${option}.` : error.message;
  return new DiscoveryError('SERVER_CONNECTION_ERROR', `${what}: ${why}`);
}

const EVERY_ADDRESS = /^(?:0\.0\.0\.0|::|\[::\])$/;

/** What a person who started the gateway has to know. */
function howToReach({ url, isAuthenticated }: ServedHttp, { host, tls }: NonNullable<ServeOptions['http']>): string[] {
  const who = isAuthenticated
    ? 'Clients send a token: Authorization: Bearer <token> (anygpt mcp token create).'
    : 'Every program on this machine may use it. To ask for tokens, run "anygpt mcp token create".';
  const isOpen = host !== undefined && !tls && !/^(?:localhost$|127\.|::1$)/.test(host);
  const plain = isOpen ? ['tokens travel unencrypted unless a proxy in front speaks HTTPS.'] : [];
  const where = host !== undefined && EVERY_ADDRESS.test(host) ? ' and every other address of this machine' : '';
  return [`listening on ${url}${where}`, who, ...plain];
}

/** With a file of tokens that cannot be read, everybody is refused; clients are not told why. */
async function tellDamagedTokens(engine: EngineCore, io: Io): Promise<void> {
  const { StaticTokens } = await import('../../auth/static-tokens.ts');
  try {
    new StaticTokens(await engine.stateFolder()).list();
  } catch (error) {
    complain(io, `${(error as Error).message} Until then, every token is refused.`, EXIT.ok);
  }
}

/** Calls back once, when a reader has read nothing for too long although output waits. Keeps no process alive. */
function whenUnread(output: Output, tell: (bytes: number) => void): void {
  let waited = output.writableLength;
  let since = elapsedNow();
  const timer = setInterval(() => {
    const waiting = output.writableLength;
    if (waiting === 0 || waiting < waited) since = elapsedNow();
    waited = waiting;
    if (elapsedNow() - since < LIMITS.time.unread) return;
    clearInterval(timer);
    tell(waiting);
  }, LIMITS.pace.exit).unref();
}

/** Applies the log settings of the current configuration. An invalid one is reported on stderr, and the gateway goes on. */
async function followConfiguration(engine: EngineCore, log: ServeLog, io: Io): Promise<void> {
  const follow = async () => log.configure((await engine.getConfig()).log);
  engine.onReload(() => void follow());
  try {
    await follow();
  } catch (error) {
    log.configure({ level: 'warn', format: 'text' });
    const failed = toFailure(error);
    if (!failed.success) reportFailure(io, failed.error, false);
  }
}

/** Exposes one server as it is, or several under names that tell them apart. */
async function exposing(engine: EngineCore, names: readonly string[]): Promise<Surface> {
  const [only = '', ...others] = new Set(names);
  if (others.length === 0) return (await import('../../gateway/exposed-server.ts')).exposedSurface(engine, only);
  return (await import('../../gateway/exposed-servers.ts')).exposedServersSurface(engine, [only, ...others]);
}

/** The surface for --expose with an invalid configuration: every tool says why, until a restart. */
const unexposable = (surface: Surface, { message }: ErrorInfo, expose: readonly string[]): Surface => ({
  ...surface,
  run: async () =>
    failure({
      code: 'CONFIGURATION_ERROR',
      message: `The server "${expose.join('", "')}" cannot be exposed, because the configuration is invalid: ${message} Ask the user to correct it and to restart this gateway.`,
      retryable: false,
      outcome: 'not_sent',
    }),
});
