/**
 * `anygpt mcp uninstall`: removes this gateway from a client's configuration and restores what was moved.
 * @module
 */
import type { World } from '../../config/world.ts';
import type { Command } from '../command.ts';
import { CLIENT_HELP, INSTALL_HELP, INSTALL_OPTIONS, runPlans, type Target } from '../install-report.ts';

export const uninstall: Command = {
  usage: `Usage: anygpt mcp uninstall <client> [options]
       anygpt mcp uninstall --all [options]

Removes the entry that "anygpt mcp install" wrote, and nothing else. A file that
was not changed since is restored byte for byte; later changes stay. Servers
that were taken over are restored.

Options:
${INSTALL_HELP}
  --config FILE      The configuration file the servers were moved to, if it is
                     not the usual one

${CLIENT_HELP}

Examples:
  anygpt mcp uninstall cursor
  anygpt mcp uninstall --all --dry-run

Exit codes: 0 success, also with nothing to remove, 1 invalid arguments,
2 client not found or a file that cannot be edited, 3 a file could not be
written, or with --all some failed`,
  options: INSTALL_OPTIONS,
  async run(values, positionals, io) {
    const config = values.config as string | undefined;
    const { planUninstall } = await import('../../clients/installers/plan-install.ts');
    const { possibleFiles } = await import('../../clients/installers/target-files.ts');
    const plan = ({ type, file }: Target, world: World) => planUninstall(type, file, { config }, world);
    return runPlans(values, positionals, io, plan, possibleFiles);
  },
};
