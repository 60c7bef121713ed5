/**
 * `anygpt mcp install`: adds this gateway to a client's configuration.
 * @module
 */

import { existsSync } from 'node:fs';
import { realWorld, stateFolder } from '../../config/world.ts';
import { askTrust } from '../ask-trust.ts';
import type { Command } from '../command.ts';
import { complain } from '../failure.ts';
import { CLIENT_HELP, INSTALL_HELP, INSTALL_OPTIONS, runPlans } from '../install-report.ts';
import type { Io } from '../io.ts';
import { block, widthOf } from '../layout.ts';
import { localProgram } from '../local-program.ts';
import { withTilde } from '../source-lines.ts';
import { UsageError } from '../usage-error.ts';

export const install: Command = {
  usage: `Usage: anygpt mcp install <client> [options]
       anygpt mcp install --all [options]

Adds one entry, "anygpt", to the configuration of a client. Comments, order and
formatting stay, and a backup is kept beside the file; "anygpt mcp uninstall"
restores it. Starts no server.

The entry has the full paths of Node.js and of this program, which no folder can
redirect. With npx, the program is first copied to ~/.anygpt/program.

--take-over asks every remote server once whether it needs a login, and says
which ones to log in to ("anygpt mcp login"). Servers of a project's file are
taken over only if the file is trusted ("anygpt mcp trust FILE").

Options:
${INSTALL_HELP}
  --take-over        Move the client's own servers behind the gateway;
                     uninstall restores them
  --config FILE      The configuration file of the gateway
  --local            Start this copy of the program (the default)
  --command LINE     Start the gateway with this command line
  --url URL          Connect to a running gateway (anygpt mcp serve --http)

${CLIENT_HELP}

Examples:
  anygpt mcp install cursor
  anygpt mcp install claude-code --dry-run
  anygpt mcp install vscode --take-over
  anygpt mcp install --all
  anygpt mcp install cursor --file .cursor/mcp.json

Exit codes: 0 success, 1 invalid arguments, 2 client not found or a file that
cannot be edited, 3 a file could not be written, or with --all some failed`,
  options: {
    ...INSTALL_OPTIONS,
    'take-over': { type: 'boolean' },
    local: { type: 'boolean' },
    command: { type: 'string' },
    url: { type: 'string' },
  },
  async run(values, positionals, io) {
    const ways = ['local', 'command', 'url'].filter((name) => values[name] !== undefined);
    if (ways.length > 1) throw new UsageError(`${ways.map((name) => `--${name}`).join(' and ')} cannot be combined`);
    const url = values.url as string | undefined;
    if (url !== undefined && !(/^https?:/i.test(url) && URL.canParse(url)))
      throw new UsageError('--url must be an http or https address');
    const command = values.command as string | undefined;
    if (command?.trim() === '') throw new UsageError('--command is empty');
    const program = localProgram(stateFolder(realWorld({ env: io.env, cwd: io.cwd })));
    if (values.local === true && program === undefined)
      throw new UsageError('--local: this copy has not been built; run "npm run build"');
    const own = { local: program?.command, prepare: command === undefined ? program?.prepare : undefined };
    const config = values.config as string | undefined;
    const takeOver = values['take-over'] === true;
    const ask = values['dry-run'] === true || values.json === true ? undefined : askTrust(io, true);
    const { planInstall } = await import('../../clients/installers/plan-install.ts');
    const code = await runPlans(values, positionals, io, ({ type, file }, world) =>
      planInstall(type, file, { takeOver, ...own, command, url, config, ask }, world),
    );
    if (url === undefined && values.json !== true && values['dry-run'] !== true) {
      await warnOfEmptiness(io, config);
      if (takeOver) await sayNewNames(io, config);
    }
    return code;
  },
};

/** Names servers of clients that have another name behind the gateway, because their own was taken. */
async function sayNewNames(io: Io, config: string | undefined): Promise<void> {
  const { ConfigurationLoader } = await import('../../config/configuration-loader.ts');
  const { ownConfigurationFile } = await import('../../clients/installers/own-configuration.ts');
  const world = realWorld({ env: io.env, cwd: io.cwd });
  const file = ownConfigurationFile(world, config);
  // Commands that use the configuration report its problems.
  const used = await new ConfigurationLoader({ ...world, runCode: false }).load(file).catch(() => undefined);
  for (const { name, origin } of used?.servers ?? []) {
    if (origin.name === undefined) continue;
    const note = `Note: ${JSON.stringify(origin.name)} of ${withTilde(origin.file, world.home)} is called ${name} behind the gateway, because another server has that name.`;
    io.stdout.write(`${block(note, widthOf(io), '  ')}\n`);
  }
}

/** Warns that a gateway without a configuration has no servers. */
async function warnOfEmptiness(io: Io, config: string | undefined): Promise<void> {
  const { ownConfigurationFile } = await import('../../clients/installers/own-configuration.ts');
  const file = ownConfigurationFile(realWorld({ env: io.env, cwd: io.cwd }), config);
  if (existsSync(file)) return;
  complain(io, `${file} does not exist yet, so the gateway has no servers. Run "anygpt mcp init".`, 0);
}
