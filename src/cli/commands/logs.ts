/**
 * `anygpt mcp logs`: starts a server and shows what it writes to stderr.
 * @module
 */
import { plainText } from '../../plain-text.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../io.ts';
import { exactly } from '../positionals.ts';
import { ENGINE_HELP, ENGINE_OPTIONS, withSession } from '../session.ts';

export const logs: Command = {
  usage: `Usage: anygpt mcp logs <server> [options]

Starts a local server, asks for its tools and shows what it wrote to stderr meanwhile, without the secrets it was given.

Options:
  --timeout TIME     Longest wait: 30 (seconds), 500ms, 2m
${ENGINE_HELP}

Examples:
  anygpt mcp logs github
  anygpt mcp logs github --timeout 10

Exit codes: 0 success, 1 invalid arguments, 2 server not found or configuration error, 3 connection failed`,
  options: { ...ENGINE_OPTIONS, timeout: { type: 'string' } },
  async run(values, positionals, io) {
    const [server = ''] = exactly(positionals, '<server>');
    return withSession(values, io, async (session) => {
      const { engine } = session;
      const failure = (await session.lists([server], true)).get(server);
      if (!failure && !(await engine.serverNames()).includes(server)) {
        const known = await engine.toolsOf(server);
        if (!known.success) return session.fail(known.error);
      }
      const log = engine.serverLog(server);
      if (session.json && !failure) session.printJson({ server, log });
      else if (!session.json && log !== '') session.print(plainText(log).trimEnd());
      if (failure) return session.fail(failure);
      if (log === '' && !session.json) session.note(`${server} wrote nothing to stderr.`);
      return EXIT.ok;
    });
  },
};
