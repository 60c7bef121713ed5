/**
 * `anygpt mcp lock`: writes the versions, pins and domains of all tools to a file that can be committed.
 * @module
 */

import { resolve } from 'node:path';
import { printLock } from '../../approvals/lock-file.ts';
import { writeAtomically } from '../../disk/write-atomically.ts';
import { counted } from '../../text/counted.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../io.ts';
import { lockNow, lockPath } from '../lockable-servers.ts';
import { SESSION_HELP, SESSION_OPTIONS, withSession } from '../session.ts';

export const lock: Command = {
  usage: `Usage: anygpt mcp lock [server ...] [options]

Asks all servers, or the named ones, for their tools and writes what they are
now to mcp-discovery.lock in this folder: versions, domains, and a pin of every
tool, resource and prompt. Commit the file: a pull request then shows what has
changed, and "anygpt mcp verify" checks in CI that nothing has. If a server
cannot be asked, nothing is written.

Options:
  --file FILE        Another name or place
${SESSION_HELP}

Examples:
  anygpt mcp lock
  anygpt mcp lock github --file github.lock

Exit codes: 0 success, 1 invalid arguments, 2 server not found or configuration
error, 3 connection failed or cannot write`,
  options: { ...SESSION_OPTIONS, file: { type: 'string' } },
  run: (values, positionals, io) =>
    withSession(values, io, async (session) => {
      const file = resolve(io.cwd, lockPath(values));
      const now = await lockNow(session, positionals);
      if ('code' in now) {
        const code = session.fail(now);
        session.note(`${file} was not written.`);
        return code;
      }
      await writeAtomically(file, printLock(now), 0o644);
      const tools = [...now.values()].reduce((sum, server) => sum + server.tools.size, 0);
      if (session.json) session.printJson({ file, servers: now.size, tools });
      else {
        const what = `${counted(tools, 'tool')} of ${counted(now.size, 'server')}`;
        session.print(`${session.paint('green', '✓')} Wrote ${what} to ${file}`);
      }
      return EXIT.ok;
    }),
};
