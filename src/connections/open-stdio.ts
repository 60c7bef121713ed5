/**
 * Starts a local server and greets it, in the old way first: a probe with the new one costs a process of its own where
 * it fails, and some old servers die of it.
 * @module
 */
import { existsSync } from 'node:fs';
import { ConfigurationError, DiscoveryError, ServerConnectionError } from '../errors.ts';
import type { ServerDefinition, StdioConnection } from '../types.ts';
import { childEnvironment } from './child-environment.ts';
import { Conversation } from './conversation.ts';
import { discover, initialize } from './handshake.ts';
import type { OpenedConnection, OpenOptions } from './open-options.ts';
import { lastWords, sentence, shortText } from './short-text.ts';
import { StdioTransport } from './stdio-transport.ts';
import { failUnreadable } from './unreadable-answer.ts';

/** Starts the child and says hello. When that fails the child is being ended and the error holds its last words. */
export async function openStdio(
  definition: ServerDefinition,
  connection: StdioConnection,
  options: OpenOptions,
  signal: AbortSignal,
): Promise<OpenedConnection> {
  const { env, expand, limits, prior } = options;
  const command = expand(connection.command);
  const args = connection.args.map(expand);
  const childEnv = childEnvironment(connection, env, expand);
  refuseNul(definition, [command, ...args, ...Object.keys(childEnv), ...Object.values(childEnv)]);
  const child = new StdioTransport({
    command,
    args,
    env: childEnv,
    cwd: connection.cwd,
    maxMessageBytes: limits.messageBytes,
    maxMessageValues: limits.messageValues,
    stderrBytes: limits.stderrBytes,
    onStderr: options.onStderr,
    onUnreadable: (id, why) => failUnreadable(peer, definition.name, id, why, limits),
  });
  const conversation = new Conversation(definition, options, child, child);
  const { peer } = conversation;
  try {
    await peer.start();
    const greetings = prior?.era === 'modern' ? [discover, initialize] : [initialize, discover];
    const opened = await conversation.open(greetings, signal);
    return { connection: opened, verdict: { era: opened.era, transport: 'stdio' } };
  } catch (error) {
    // Not awaited: ending a stubborn tree takes seconds, and the caller already has its answer.
    void peer.close();
    if (error instanceof DiscoveryError) throw error;
    const hopeless = child.exitReason
      ? `it ${child.exitReason} before it said hello`
      : spawnFault(error, command, connection.cwd);
    const why = hopeless ?? shortage(error) ?? (error instanceof Error ? error.message : String(error));
    const words = lastWords(child.stderr.toString());
    throw new ServerConnectionError(
      definition.name,
      sentence(
        `${definition.name} could not be started or reached: ${shortText(words ? `${sentence(why)} Its last words: ${words}` : why, 1000)}`,
      ),
      // The same command ends the same way a second later: only somebody who mends it can help.
      { cause: error, ...(hopeless !== undefined && { retryable: false }) },
    );
  }
}

function refuseNul(definition: ServerDefinition, texts: readonly string[]): void {
  if (!texts.some((text) => text.includes('\0'))) return;
  const { file, path } = definition.origin;
  throw new ConfigurationError(
    `${definition.name}: the command, its arguments and its environment must not hold a NUL character (${file}, ${path}).`,
    [],
    { server: definition.name, outcome: 'not_sent' },
  );
}

/** What the operating system meant. It says ENOENT for a missing folder, too. */
function spawnFault(error: unknown, command: string, cwd: string | undefined): string | undefined {
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  if (typeof syscall !== 'string' || !syscall.startsWith('spawn')) return undefined;
  if (code === 'ENOENT' && cwd !== undefined && !existsSync(cwd)) return `the folder ${cwd} does not exist`;
  if (code === 'ENOENT') return `the command "${command}" was not found (ENOENT); install it or write its full path`;
  if (code === 'EACCES') return `the command "${command}" may not be executed (EACCES)`;
  return undefined;
}

/** What may be better when other servers have ended. */
function shortage(error: unknown): string | undefined {
  const { code } = error as { code?: unknown };
  if (code !== 'EMFILE' && code !== 'ENFILE') return undefined;
  return `too many files are open (${code}); raise the limit, for example with "ulimit -n 4096"`;
}
