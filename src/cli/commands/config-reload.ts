/**
 * `anygpt mcp config reload`: validates the configuration, tells running gateways, and reads new tool lists.
 * @module
 */

import { LIMITS } from '../../core/limits.ts';
import { counted } from '../../text/counted.ts';
import type { Command, Values } from '../command.ts';
import { EXIT, type Io } from '../io.ts';
import { withSession } from '../session.ts';

export const reloadConfig: Command['run'] = (values, _positionals, io) => reload(values, io, LIMITS.time.probe);

/** Reloads with another default wait; --timeout overrides it. */
export const reload = (values: Values, io: Io, patienceMs: number): Promise<number> =>
  withSession(values, io, async (session) => {
    const { engine } = session;
    const { home } = await engine.getConfig();
    const { touchReloadStamp } = await import('../../engine/watch-config.ts');
    touchReloadStamp(home);
    // A server whose entry changed counts as new.
    const lists = await session.lists(undefined, undefined, patienceMs);
    const failed = [...lists].map(([server, { code, message }]) => ({ server, code, message }));
    const servers = (await engine.serverNames()).length;
    const warnings = (await engine.ruleWarnings()).map(({ message }) => message);
    if (session.json) session.printJson({ success: true, servers, failed, warnings });
    else {
      for (const { message } of failed) session.note(message);
      if (failed.length > 0)
        session.note(
          `${failed.map(({ server }) => server).join(', ')} will be tried again when needed; "anygpt mcp doctor" says what to do.`,
        );
      for (const warning of warnings) session.note(warning);
      const silent = failed.length === 0 ? '' : `, ${failed.length} of them without a tool list`;
      session.print(
        `${session.paint('green', '✓')} Configuration reloaded: ${counted(servers, 'server')}${silent}; running gateways will reload`,
      );
    }
    return EXIT.ok;
  });
