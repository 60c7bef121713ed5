/**
 * `anygpt mcp cache clear`: forgets tool lists that were kept, or with --usage what search has learnt.
 * @module
 */
import { forgetUsage } from '../../usage/usage-learning.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../io.ts';
import { exactly } from '../positionals.ts';
import { ENGINE_HELP, ENGINE_OPTIONS, withSession } from '../session.ts';
import { UsageError } from '../usage-error.ts';

export const cache: Command = {
  usage: `Usage: anygpt mcp cache clear [server] [options]

Forgets the tool lists that were kept of one server, or of all. They are read again when somebody needs them. A gateway
that is running keeps what it has in memory. What search has learnt from use stays, unless --usage says to forget just that.

Options:
  --usage            Forget what was used after which query; keep the tool lists
${ENGINE_HELP}

Examples:
  anygpt mcp cache clear
  anygpt mcp cache clear github
  anygpt mcp cache clear --usage

Exit codes: 0 success, 1 invalid arguments, 2 server not found or configuration error`,
  options: { ...ENGINE_OPTIONS, usage: { type: 'boolean' } },
  async run(values, [what, ...positionals], io) {
    if (what !== 'clear')
      throw new UsageError(what === undefined ? 'clear is missing' : `cache can only clear, not "${what}"`);
    const [server] = positionals.length === 0 ? [] : exactly(positionals, '[server]');
    const usage = values.usage === true;
    if (usage && server !== undefined) throw new UsageError('--usage forgets what was learnt of all servers');
    return withSession(values, io, async (session) => {
      if (usage) {
        await forgetUsage((await session.engine.getConfig()).home);
        if (session.json) session.printJson({ success: true, servers: [] });
        else session.print('Forgot what was learnt from use');
        return EXIT.ok;
      }
      const cleared = await session.engine.forget(server);
      if (!cleared.success) return session.fail(cleared.error);
      if (session.json) session.printJson({ success: true, servers: cleared.data });
      else session.print(`Cleared the tool lists of ${cleared.data.join(', ') || 'no servers'}`);
      return EXIT.ok;
    });
  },
};
