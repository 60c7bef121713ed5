/**
 * `anygpt mcp config`: shows, validates and reloads the configuration.
 * @module
 */
import type { Command } from '../command.ts';
import { exactly } from '../positionals.ts';
import { SESSION_HELP, SESSION_OPTIONS } from '../session.ts';
import { subcommandNamed } from '../subcommand.ts';
import { UsageError } from '../usage-error.ts';

const SUBCOMMANDS: Readonly<Record<string, () => Promise<Command['run']>>> = {
  show: async () => (await import('./config-show.ts')).showConfig,
  validate: async () => (await import('./config-validate.ts')).validateConfig,
  sources: async () => (await import('./config-sources.ts')).showSources,
  reload: async () => (await import('./config-reload.ts')).reloadConfig,
};

export const config: Command = {
  usage: `Usage: anygpt mcp config <subcommand> [options]

Manages the configuration.

Subcommands:
  show       Display current configuration, with rules that have no effect
  validate   Validate configuration: list every problem, and every rule that is
             shadowed or matches nothing
  sources    List configuration sources: the files, and the clients that servers
             are imported from
  reload     Validate, tell running gateways to reload, and read the tool lists
             of new servers (for 5 s, or --timeout)

Options:
  --status           With show: connect to every server and count the connected
${SESSION_HELP}

Examples:
  anygpt mcp config show
  anygpt mcp config validate --config ./mcp-discovery.config.json
  anygpt mcp config sources
  anygpt mcp config reload

Exit codes: 0 success (warnings included), 1 invalid arguments, 2 configuration
error`,
  options: { ...SESSION_OPTIONS, status: { type: 'boolean' } },
  async run(values, [name, ...positionals], io) {
    const load = subcommandNamed('config', SUBCOMMANDS, name);
    exactly(positionals);
    if (values.status && name !== 'show') throw new UsageError('--status needs config show');
    return (await load())(values, [], io);
  },
};
