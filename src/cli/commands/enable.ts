/**
 * `anygpt mcp enable` and `anygpt mcp disable`: switch a server on or off in the user's configuration, wherever it is
 * written.
 * @module
 */
import { ownConfigurationFile, whileEditing } from '../../clients/installers/own-configuration.ts';
import { ownServer, withSwitch } from '../../clients/installers/own-servers.ts';
import { isSwitchedOff, realWorld } from '../../config/world.ts';
import { serverVariable } from '../../text/server-variable.ts';
import { knownServer, whereIs } from '../add/known-server.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../io.ts';
import { exactly } from '../positionals.ts';
import { ENGINE_HELP, ENGINE_OPTIONS, withSession } from '../session.ts';
import { withTilde } from '../source-lines.ts';

const switching = (word: 'enable' | 'disable'): Command => ({
  usage: `Usage: anygpt mcp ${word} <server> [options]

Switches a server ${word === 'enable' ? 'on' : 'off'} in your configuration. For a server that comes from
a client, your configuration gets an entry with its name and \`enabled\`; the
client's own file is not changed. Starts no server.

Options:
  --dry-run          Say what would be written, and write nothing
${ENGINE_HELP}

Examples:
  anygpt mcp ${word} github
  anygpt mcp ${word} cursor/memory

Exit codes: 0 success, 1 invalid arguments, 2 server not found or configuration
error, 3 cannot write`,
  options: { ...ENGINE_OPTIONS, 'dry-run': { type: 'boolean' } },
  async run(values, positionals, io) {
    const [name = ''] = exactly(positionals, '<server>');
    const enabled = word === 'enable';
    return withSession(values, io, async (session) => {
      const world = realWorld({ env: io.env, cwd: io.cwd });
      const named = values.config as string | undefined;
      const server = await knownServer(session, name);
      const file = ownConfigurationFile(world, named);
      const variable = serverVariable(name, 'MCP_ENABLED');
      if (enabled && isSwitchedOff(io.env[variable]))
        session.note(`${variable} is set in the environment and switches "${name}" off. Unset it.`);
      const isThere = server.enabled === enabled;
      const switched = async () => {
        const own = await ownServer(world, named, name);
        // A complete entry is enabled by default. An entry that overrides another file's server must say so.
        const wanted = enabled && own?.connection !== undefined ? undefined : enabled;
        const isNeeded = !isThere || (own?.enabled === !enabled && own.connection !== undefined);
        const change = isNeeded ? await withSwitch(world, named, name, wanted) : undefined;
        if (!values['dry-run']) await change?.write();
        return { own, change };
      };
      const { own, change } = values['dry-run'] ? await switched() : await whileEditing(world, named, switched);
      const status = change === undefined ? 'unchanged' : values['dry-run'] ? 'dry-run' : `${word}d`;
      const { client } = server.origin;
      if (session.json)
        session.printJson({ name, file, status, writtenIn: server.origin.file, ...(client && { client }) });
      else {
        const where = withTilde(file, world.home);
        const done = { unchanged: `"${name}" is already ${word}d`, 'dry-run': `Would ${word} "${name}" in ${where}` };
        session.print(done[status as 'dry-run'] ?? `✓ ${enabled ? 'Enabled' : 'Disabled'} "${name}" in ${where}`);
        if (change !== undefined && own?.connection === undefined)
          session.note(`"${name}" is written in ${await whereIs(server, world.home)}, which was not changed.`);
      }
      return EXIT.ok;
    });
  },
});

export const enable = switching('enable');
export const disable = switching('disable');
