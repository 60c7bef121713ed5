/**
 * `anygpt mcp cache clear`: clears cached tool lists, or with --usage what search has learnt.
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

Clears the cached tool lists of one server, or of all. They are read again when
they are needed. A running gateway keeps its lists in memory. What search has
learnt from use is kept; --usage clears only that.

Options:
  --usage            Clear what search has learnt; keep the tool lists
${ENGINE_HELP}

Examples:
  anygpt mcp cache clear
  anygpt mcp cache clear github
  anygpt mcp cache clear --usage

Exit codes: 0 success, 1 invalid arguments, 2 server not found or configuration
error`,
  options: { ...ENGINE_OPTIONS, usage: { type: 'boolean' } },
  async run(values, [what, ...positionals], io) {
    if (what !== 'clear')
      throw new UsageError(
        what === undefined ? '<subcommand> is missing: clear' : `unknown subcommand "cache ${what}"; use "cache clear"`,
      );
    const [server] = positionals.length === 0 ? [] : exactly(positionals, '[server]');
    const usage = values.usage === true;
    if (usage && server !== undefined) throw new UsageError('--usage cannot be combined with a server');
    return withSession(values, io, async (session) => {
      if (usage) {
        await forgetUsage((await session.engine.getConfig()).home);
        if (session.json) session.printJson({ success: true, servers: [] });
        else session.print('Cleared what search has learnt');
        return EXIT.ok;
      }
      const cleared = await session.engine.forget(server);
      if (!cleared.success) return session.fail(cleared.error);
      if (session.json) session.printJson({ success: true, servers: cleared.data });
      else
        session.print(
          cleared.data.length === 0
            ? 'No tool lists were cached'
            : `Cleared the tool lists of ${cleared.data.join(', ')}`,
        );
      return EXIT.ok;
    });
  },
};
