/**
 * Opens connections to local servers: starts the program and greets it, with the old greeting first. A failed probe
 * with the new one would cost another process, and some old servers exit on it.
 * @module
 */
import { existsSync } from 'node:fs';
import { withTimeLimit } from '../../async/time-limit.ts';
import { ConfigurationError, DiscoveryError, ServerConnectionError } from '../../core/errors.ts';
import type { ServerDefinition, StdioConnection } from '../../core/types.ts';
import { optionName } from '../../secrets/server-secrets.ts';
import { connectMs } from '../connect-time.ts';
import { Conversation, type Greeting } from '../conversation.ts';
import { discover, initialize } from '../handshake.ts';
import { INTERNAL_ERROR, JsonRpcError } from '../json-rpc.ts';
import type { OpenedConnection, OpenOptions } from '../open-options.ts';
import { lastWords, sentence, shortText } from '../short-text.ts';
import { failUnreadable } from '../unreadable-answer.ts';
import { childEnvironment } from './child-environment.ts';
import { homeFolder } from './home-folder.ts';
import { StdioTransport } from './stdio-transport.ts';

/** The fraction of the timeout for a greeting that another one follows. */
const FIRST_SHARE = 0.4;

/**
 * Starts a local server and connects to it. A server that used to be modern may have been replaced by an old one that
 * exits on a modern greeting: it is started once more, with the old greeting first.
 */
export async function openStdio(
  definition: ServerDefinition,
  connection: StdioConnection,
  options: OpenOptions,
  signal: AbortSignal,
): Promise<OpenedConnection> {
  try {
    return await start(definition, connection, options, signal);
  } catch (error) {
    if (options.prior?.era !== 'modern' || !(error instanceof ServerConnectionError) || signal.aborted) throw error;
    return start(definition, connection, { ...options, prior: undefined }, signal);
  }
}

/** Starts the child and greets it. On failure the child is ended, and the error quotes the end of its stderr. */
async function start(
  definition: ServerDefinition,
  connection: StdioConnection,
  options: OpenOptions,
  signal: AbortSignal,
): Promise<OpenedConnection> {
  const { env, expand, limits, prior, secrets } = options;
  const command = expand(connection.command);
  const args = connection.args.map((arg, at) => expand(arg, { name: optionName(connection.args[at - 1]) }));
  const cwd = connection.cwd ?? homeFolder(env);
  const childEnv = childEnvironment(connection, env, expand, process.platform, secrets);
  refuseNul(definition, [command, ...args, ...Object.keys(childEnv), ...Object.values(childEnv)]);
  const child = new StdioTransport({
    command,
    args,
    env: childEnv,
    cwd,
    maxMessageBytes: limits.messageBytes,
    maxMessageValues: limits.messageValues,
    stderrBytes: limits.stderrBytes,
    onStderr: options.onStderr,
    redact: secrets.redact,
    onUnreadable: (id, why) => failUnreadable(peer, definition.name, id, why, limits),
  });
  const conversation = new Conversation(definition, options, child, child);
  const { peer } = conversation;
  try {
    await peer.start();
    // A modern server may have been replaced by an old one, and some of those never answer unknown requests.
    const greetings =
      prior?.era === 'modern'
        ? [briefly(discover, connectMs(definition)), initialize, discover]
        : [initialize, discover];
    const opened = await conversation.open(greetings, signal);
    return { connection: opened, verdict: { era: opened.era, transport: 'stdio' } };
  } catch (error) {
    // Not awaited: ending a stubborn process tree takes seconds, and the caller already has its error.
    void peer.close();
    if (error instanceof DiscoveryError) throw error;
    const hopeless = child.exitReason
      ? `it ${child.exitReason} during the MCP handshake`
      : spawnFault(error, command, cwd);
    const why = hopeless ?? shortage(error) ?? (error instanceof Error ? error.message : String(error));
    const words = lastWords(child.log(secrets.redactWords), secrets.redactWords);
    throw new ServerConnectionError(
      definition.name,
      sentence(
        `${definition.name} could not be started: ${shortText(words ? `${sentence(why)} Its last words: ${words}` : why, secrets.redactWords, 1000)}`,
      ),
      // The same command fails the same way a second later: only a person can fix it.
      { cause: error, ...(hopeless !== undefined && { retryable: false }) },
    );
  }
}

/** Returns a greeting that counts as refused when it is not answered within its fraction of the timeout. */
const briefly =
  (greet: Greeting, ms: number): Greeting =>
  (peer, wire, client, capabilities, signal) => {
    const overdue = () => new JsonRpcError(INTERNAL_ERROR, 'no answer');
    return withTimeLimit(ms * FIRST_SHARE, signal, overdue, (limit) => greet(peer, wire, client, capabilities, limit));
  };

function refuseNul(definition: ServerDefinition, texts: readonly string[]): void {
  if (!texts.some((text) => text.includes('\0'))) return;
  const { file, path } = definition.origin;
  throw new ConfigurationError(
    `${definition.name}: the command, its arguments and its environment must not hold a NUL character (${file}, ${path}).`,
    [],
    { server: definition.name, outcome: 'not_sent' },
  );
}

/** Explains an error of the operating system, which says ENOENT for a missing folder, too. */
function spawnFault(error: unknown, command: string, cwd: string | undefined): string | undefined {
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  if (typeof syscall !== 'string' || !syscall.startsWith('spawn')) return undefined;
  if (code === 'ENOENT' && cwd !== undefined && !existsSync(cwd)) return `the folder ${cwd} does not exist`;
  if (code === 'ENOENT') return `the command "${command}" was not found (ENOENT); install it or write its full path`;
  if (code === 'EACCES') return `the command "${command}" may not be executed (EACCES)`;
  return undefined;
}

/** Explains a shortage that may be over when other servers have ended. */
function shortage(error: unknown): string | undefined {
  const { code } = error as { code?: unknown };
  if (code !== 'EMFILE' && code !== 'ENFILE') return undefined;
  return `too many files are open (${code}); raise the limit, for example with "ulimit -n 4096"`;
}
