/**
 * `anygpt mcp config sources`: lists the files that were read and the clients that servers are imported from.
 * @module
 */
import type { Command } from '../command.ts';
import { EXIT } from '../io.ts';
import { heading } from '../layout.ts';
import { withSession } from '../session.ts';
import { sourceLines, sourcesDocument, withTilde } from '../source-lines.ts';

export const showSources: Command['run'] = (values, _positionals, io) =>
  withSession(
    values,
    io,
    async (session) => {
      const config = await session.engine.getConfig();
      if (session.json) {
        session.printJson(sourcesDocument(config));
        return EXIT.ok;
      }
      const { HOME } = io.env;
      const files = config.files.map((file) => session.block(withTilde(file, HOME), '  '));
      session.print(
        [
          [heading('Files', files.length), ...files].join('\n'),
          [heading('Sources', config.sources.length), ...sourceLines(config, session, HOME)].join('\n'),
        ].join('\n\n'),
      );
      return EXIT.ok;
    },
    'configuration',
  );
