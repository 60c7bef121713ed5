/**
 * `anygpt mcp trust`: a person's word that the configuration in this folder may be used, remembered by path and content.
 * @module
 */
import type { Command } from '../command.ts';
import { complain } from '../failure.ts';
import { EXIT } from '../io.ts';

export const trust: Command = {
  usage: `Usage: anygpt mcp trust [FILE]

Trusts this folder's configuration, or FILE, as it is now. It counts as untrusted again once its content changes.

Examples:
  anygpt mcp trust
  anygpt mcp trust .anygpt/mcp-discovery.config.ts`,
  options: {},
  async run(_values, [file], io) {
    const { ConfigurationLoader } = await import('../../config/configuration-loader.ts');
    const loader = new ConfigurationLoader({ env: io.env, cwd: io.cwd });
    const path = file ?? (await loader.findProjectFiles())[0]?.path;
    if (path === undefined) return complain(io, 'there is no configuration in this folder to trust', EXIT.notFound);
    const { files, hash } = await loader.trust(path);
    io.stdout.write(`Trusted ${path} (sha256 ${hash.slice(0, 12)}…)\n`);
    for (const other of files.slice(1)) io.stdout.write(`  with ${other}\n`);
    return EXIT.ok;
  },
};
