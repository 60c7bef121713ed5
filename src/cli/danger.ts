/**
 * Sorts servers by how dangerous their entries look: shells and programs of the project before well-known launchers,
 * servers that get secrets before others, rare programs before frequent ones.
 * @module
 */
import { basename } from 'node:path';
import { readBy } from '../config/references.ts';
import { CHANGES_PROGRAM } from '../core/program-variables.ts';
import { addressWords, isLocal, textsOf } from '../core/transport-parts.ts';
import type { ServerDefinition } from '../core/types.ts';

const SHELLS =
  /^(?:sh|bash|dash|zsh|fish|ksh|cmd|powershell|pwsh|env|sudo|osascript|curl|wget|nc|ssh|eval|xargs)(?:\.exe)?$/i;
const LAUNCHERS = /^(?:npx|uvx|uv|bunx|docker|node|python3?|deno|pnpm|yarn|bun|pipx)(?:\.(?:exe|cmd))?$/i;
const INLINE =
  /^(?:-[cepmr]|--(?:eval|print|require|import|loader|experimental-loader)(?:=.*)?|-command|-encodedcommand|\/[ck])$/is;

/** Tells whether an option runs or loads its value, which may be the next argument. */
export const runsNext = (word: string): boolean => INLINE.test(word);

/** A command line longer than this hides its end. */
const LONG = 1_000;

/** The most dangerous first; the order is stable. */
export function byDanger(servers: readonly ServerDefinition[]): readonly ServerDefinition[] {
  const counts = new Map<string, number>();
  for (const server of servers) counts.set(programOrHost(server), (counts.get(programOrHost(server)) ?? 0) + 1);
  const ranked = servers.map((server) => ({
    server,
    rank: rankOf(server) + 15 / (counts.get(programOrHost(server)) ?? 1),
  }));
  return ranked.toSorted((a, b) => b.rank - a.rank).map(({ server }) => server);
}

const programOrHost = ({ connection }: ServerDefinition): string =>
  isLocal(connection) ? connection.command : URL.canParse(connection.url) ? new URL(connection.url).host : '';

function rankOf({ enabled, connection, trusted }: ServerDefinition): number {
  const off = (enabled ? 0 : -1_000) + (trusted ? 5 : 0);
  if (!isLocal(connection)) {
    const reads = textsOf(connection).flatMap(readBy).length > 0;
    return off + (reads || connection.auth === 'env' ? 60 : 0);
  }
  const { command, args, env, inheritEnv } = connection;
  const name = basename(command.replaceAll('\\', '/'));
  return (
    off +
    50 +
    (SHELLS.test(name) ? 40 : 0) +
    (addressWords(connection).join(' ').length > LONG ? 40 : 0) +
    (args.some(runsNext) ? 30 : 0) +
    (Object.keys(env).some((variable) => CHANGES_PROGRAM.test(variable)) ? 25 : 0) +
    (/[/\\]/.test(command) ? 20 : 0) +
    (LAUNCHERS.test(name) ? 0 : 10) +
    (textsOf(connection).flatMap(readBy).length + inheritEnv.length > 0 ? 5 : 0)
  );
}
