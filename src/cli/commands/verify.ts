/**
 * `anygpt mcp verify`: tells whether servers and tools still are what the lock file says.
 * @module
 */
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { compareLocks, type LockDifference, parseLock } from '../../approvals/lock-file.ts';
import { ConfigurationError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { shorten, visible } from '../../text/plain-text.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../io.ts';
import { lockNow, lockPath } from '../lockable-servers.ts';
import { SESSION_HELP, SESSION_OPTIONS, withSession } from '../session.ts';

export const verify: Command = {
  usage: `Usage: anygpt mcp verify [server ...] [options]

Asks all servers, or the named ones, for their tools and compares them with
mcp-discovery.lock in this folder: added and removed servers, tools, resources
and prompts; changed versions, definitions and domains. For CI. The file is
written by "anygpt mcp lock".

Options:
  --file FILE        Another name or place
${SESSION_HELP}

Examples:
  anygpt mcp verify
  anygpt mcp verify --json
  anygpt mcp verify github --file github.lock

Exit codes: 0 nothing differs, 1 invalid arguments, 2 no lock file, server not
found or configuration error, 3 connection failed, 4 something differs`,
  options: { ...SESSION_OPTIONS, file: { type: 'string' } },
  run: (values, positionals, io) =>
    withSession(values, io, async (session) => {
      const file = resolve(io.cwd, lockPath(values));
      const locked = parseLock(await read(file), file);
      const now = await lockNow(session, positionals);
      if ('code' in now) return session.fail(now);
      const isMeant = ([name]: readonly [string, unknown]) => positionals.length === 0 || positionals.includes(name);
      const differences = compareLocks(new Map([...locked].filter(isMeant)), now);
      if (session.json) session.printJson({ file, same: differences.length === 0, differences });
      else {
        for (const difference of differences) session.print(textOf(difference));
        session.print(
          differences.length === 0
            ? `${session.paint('green', '✓')} Nothing differs from ${file}`
            : `\n${differences.length === 1 ? '1 difference' : `${differences.length} differences`} from ${file}. If they are wanted, write it again with: anygpt mcp lock`,
        );
      }
      return differences.length === 0 ? EXIT.ok : EXIT.refused;
    }),
};

async function read(file: string): Promise<string> {
  const { size } = await stat(file).catch(() => {
    throw new ConfigurationError(`${file} was not found. Write it with \`anygpt mcp lock\`.`);
  });
  if (size > LIMITS.approvals.fileBytes)
    throw new ConfigurationError(`${file} has ${size} bytes, more than a lock file can have.`);
  return readFile(file, 'utf8');
}

const WORDS: Readonly<Record<LockDifference['kind'], string>> = {
  'server-added': 'is not in the lock file',
  'server-removed': 'is in the lock file and not configured',
  'version-changed': 'has another version',
  'tool-added': 'is not in the lock file',
  'tool-removed': 'is gone',
  'tool-changed': 'has another definition',
  'item-added': 'is not in the lock file',
  'item-removed': 'is gone',
  'item-changed': 'has another definition',
  'domains-changed': 'has other domains',
};

/** `mail:send has another definition: 6bf1a0c2 → 09e1d3f4` */
function textOf({ kind, server, tool, was, now }: LockDifference): string {
  const name = (text: string) => shorten(visible(text), LIMITS.names.shown);
  const value = (text: string) =>
    kind === 'tool-changed' || kind === 'item-changed' ? text.slice(0, PIN_SHOWN) : name(text);
  const change = was === undefined || now === undefined ? '' : `: ${value(was)} → ${value(now)}`;
  return `${name(server)}${tool === undefined ? '' : `:${name(tool)}`} ${WORDS[kind]}${change}`;
}

/** Enough of a pin to tell two apart. */
const PIN_SHOWN = 12;
