/**
 * `anygpt mcp remove`: removes a server from the user's configuration. A server of a client stays where it is, and the
 * message says how to switch it off.
 * @module
 */
import { ownConfigurationFile, whileEditing } from '../../clients/installers/own-configuration.ts';
import { ownServer, withoutServer } from '../../clients/installers/own-servers.ts';
import { realWorld } from '../../config/world.ts';
import { DiscoveryError } from '../../core/errors.ts';
import { shellWord } from '../../text/shell-word.ts';
import { knownServer, whereIs } from '../add/known-server.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../io.ts';
import { exactly } from '../positionals.ts';
import { ENGINE_HELP, ENGINE_OPTIONS, withSession } from '../session.ts';
import { withTilde } from '../source-lines.ts';

export const remove: Command = {
  usage: `Usage: anygpt mcp remove <server> [options]

Removes a server from your configuration; the rest of the file stays as it is. A
server that comes from a client or from another file is not touched: the message
says where it is, and "anygpt mcp disable" switches it off here.

Options:
  --dry-run          Say what would be removed, and write nothing
${ENGINE_HELP}

Examples:
  anygpt mcp remove github
  anygpt mcp remove github --dry-run

Exit codes: 0 success, 1 invalid arguments, 2 server not found, in another file
or configuration error, 3 cannot write`,
  options: { ...ENGINE_OPTIONS, 'dry-run': { type: 'boolean' }, scope: { type: 'string', short: 's' } },
  async run(values, positionals, io) {
    const [name = ''] = exactly(positionals, '<server>');
    return withSession(values, io, async (session) => {
      const world = realWorld({ env: io.env, cwd: io.cwd });
      const named = values.config as string | undefined;
      const file = ownConfigurationFile(world, named);
      const removed = async () => {
        const own = await ownServer(world, named, name);
        if (own?.connection === undefined) {
          const server = await knownServer(session, name);
          const place = await whereIs(server, world.home);
          throw new DiscoveryError(
            'CONFIGURATION_ERROR',
            `"${name}" is not in ${withTilde(file, world.home)} and was not removed. It is written in ${place}: remove it there, or switch it off here with: anygpt mcp disable ${shellWord(name)}`,
          );
        }
        const change = await withoutServer(world, named, name);
        if (!values['dry-run']) await change.write();
        return own;
      };
      const own = values['dry-run'] ? await removed() : await whileEditing(world, named, removed);
      const status = values['dry-run'] ? 'dry-run' : 'removed';
      const secrets = [...JSON.stringify(own).matchAll(/\$\{file:([^{}"]+)\}/g)].map(([, path]) => String(path));
      if (session.json) session.printJson({ name, file, status, ...(secrets.length > 0 && { secrets }) });
      else {
        const where = withTilde(file, world.home);
        session.print(values['dry-run'] ? `Would remove "${name}" from ${where}` : `✓ Removed "${name}" from ${where}`);
        for (const path of secrets)
          session.note(`Its secret stays in ${path}. Delete the file if nothing else uses it.`);
      }
      return EXIT.ok;
    });
  },
};
