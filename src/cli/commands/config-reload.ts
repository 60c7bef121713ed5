/**
 * `anygpt mcp config reload`: checks everything, reads what is new, and tells running gateways.
 * @module
 */
import type { Command } from '../command.ts';
import { EXIT } from '../io.ts';
import { withSession } from '../session.ts';

export const reloadConfig: Command['run'] = (values, _positionals, io) =>
  withSession(values, io, async (session) => {
    const { engine } = session;
    const { home } = await engine.getConfig();
    const { touchReloadStamp } = await import('../../watch-config.ts');
    touchReloadStamp(home);
    // A server whose entry changed is one nobody has seen.
    const failed = [...(await session.lists())].map(([server, { code, message }]) => ({ server, code, message }));
    const servers = (await engine.serverNames()).length;
    const warnings = (await engine.ruleWarnings()).map(({ message }) => message);
    if (session.json) session.printJson({ success: true, servers, failed, warnings });
    else {
      for (const { message } of failed) session.note(message);
      for (const warning of warnings) session.note(warning);
      session.print(
        `${session.paint('green', '✓')} Configuration reloaded: ${servers} server${servers === 1 ? '' : 's'}; running gateways were told`,
      );
    }
    return EXIT.ok;
  });
