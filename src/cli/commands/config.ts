/**
 * `anygpt mcp config`: show, validate, sources, reload.
 * @module
 */
import { nearestName } from '../../text/nearest-names.ts';
import type { Command } from '../command.ts';
import { exactly } from '../positionals.ts';
import { SESSION_HELP, SESSION_OPTIONS } from '../session.ts';
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
  show       Display current configuration, with rules that do not do what they seem to
  validate   Validate configuration: every problem, every rule that is shadowed or matches nothing
  sources    List configuration sources: files that were read and clients that servers come from
  reload     Validate, tell running gateways to reload, and read the lists of servers that are new (for 5 s, or --timeout)

Options:
  --status           With show: connect to every server and count those that answer
${SESSION_HELP}

Examples:
  anygpt mcp config show
  anygpt mcp config validate --config ./mcp-discovery.config.json
  anygpt mcp config sources
  anygpt mcp config reload

Exit codes: 0 success (warnings included), 1 invalid arguments, 2 configuration error`,
  options: { ...SESSION_OPTIONS, status: { type: 'boolean' } },
  async run(values, [name, ...positionals], io) {
    const names = Object.keys(SUBCOMMANDS);
    if (name === undefined) throw new UsageError(`<subcommand> is missing: ${names.join(', ')}`);
    const load = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
    if (load === undefined) {
      const near = nearestName(name, names);
      const hint = near === undefined ? `There are ${names.join(', ')}` : `Did you mean "${near}"?`;
      throw new UsageError(`There is no "config ${name}". ${hint}`, near === undefined ? [] : [near]);
    }
    exactly(positionals);
    if (values.status && name !== 'show') throw new UsageError('--status belongs to config show');
    return (await load())(values, [], io);
  },
};
