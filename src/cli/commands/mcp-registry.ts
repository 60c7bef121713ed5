/**
 * `anygpt mcp registry`: looks servers up in MCP registries.
 * @module
 */
import type { Command } from '../command.ts';
import { REGISTRY_HELP, REGISTRY_OPTIONS } from '../open-registries.ts';
import { subcommandNamed } from '../subcommand.ts';

const SUBCOMMANDS: Readonly<Record<string, () => Promise<Command['run']>>> = {
  search: async () => (await import('./registry-search.ts')).searchRegistries,
  show: async () => (await import('./registry-show.ts')).showServer,
  sync: async () => (await import('./registry-sync.ts')).syncRegistries,
};

export const registry: Command = {
  usage: `Usage: anygpt mcp registry <subcommand> [options]

Looks up servers in the configured registries (by default the official MCP
Registry). Anyone can publish there, so nothing is started, and nothing is added
to the configuration.

Subcommands:
  search   Find servers by what they do
  show     Show a server: every way to use it, with the command line or address
           and what it asks for
  sync     Copy the registries to disk, so that they are searched by meaning and
           offline; later syncs read only what has changed

Options:
  --limit N          With search: max results (default: 10)
  --at-version V     With show: this version instead of the latest
  --local            With show: packages before remote addresses
  --full             With sync: read everything again
${REGISTRY_HELP}

Examples:
  anygpt mcp registry sync
  anygpt mcp registry search "read airtable records"
  anygpt mcp registry search "tag:npm calendar" --limit 5
  anygpt mcp registry show io.github.domdomegg/airtable-mcp-server

Exit codes: 0 success, 1 invalid arguments, 2 nothing found or configuration
error, 3 a registry could not be asked`,
  options: {
    ...REGISTRY_OPTIONS,
    limit: { type: 'string' },
    'at-version': { type: 'string' },
    local: { type: 'boolean' },
    full: { type: 'boolean' },
  },
  async run(values, [name, ...positionals], io) {
    const load = subcommandNamed('registry', SUBCOMMANDS, name);
    return (await load())(values, positionals, io);
  },
};
