/**
 * `anygpt mcp completion`: scripts for shells, and the words they ask for.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { oneLine } from '../../text/plain-text.ts';
import type { Command } from '../command.ts';
import { SCRIPTS, SHELLS } from '../completion-scripts.ts';
import { type Candidate, completionsOf, type Vocabulary } from '../completion-words.ts';
import { EXIT, type Io } from '../io.ts';
import { toJson } from '../json-document.ts';
import { exactly } from '../positionals.ts';
import { UsageError } from '../usage-error.ts';

/** A configuration written as code that takes longer is not worth waiting for between two keys. */
const LOAD_MS = 2000;

export const completion: Command = {
  usage: `Usage: anygpt mcp completion <bash|zsh|fish> [options]

Prints a script that completes commands, options, clients, servers, tools and the key= of their arguments. Names come
from the configuration and the cache: completing starts nothing.

  bash   anygpt mcp completion bash > ~/.local/share/bash-completion/completions/anygpt
         or in ~/.bashrc:  source <(anygpt mcp completion bash)
  zsh    anygpt mcp completion zsh > "\${fpath[1]}/_anygpt"
         or in ~/.zshrc, after compinit:  source <(anygpt mcp completion zsh)
  fish   anygpt mcp completion fish > ~/.config/fish/completions/anygpt.fish

Options:
  --words -- WORD..  What may stand in place of the last word of "anygpt WORD..."; for the scripts
  --json             One JSON document on stdout and nothing else

Examples:
  anygpt mcp completion bash
  anygpt mcp completion --words -- mcp execute git

Exit codes: 0 success, 1 invalid arguments`,
  options: { words: { type: 'boolean' }, json: { type: 'boolean' } },
  async run(values, positionals, io) {
    if (values.words) {
      const words = (await quietly(positionals, io)).slice(0, LIMITS.shown.completions);
      if (values.json) io.stdout.write(toJson({ words: words.filter((word) => word !== 'files') }));
      else io.stdout.write(words.map(lineOf).join(''));
      return EXIT.ok;
    }
    const [name = ''] = exactly(positionals, `<${SHELLS.join('|')}>`);
    const shell = SHELLS.find((known) => known === name);
    if (shell === undefined) throw new UsageError(`there are scripts for ${SHELLS.join(', ')}, not for "${name}"`);
    io.stdout.write(values.json ? toJson({ shell, script: SCRIPTS[shell] }) : SCRIPTS[shell]);
    return EXIT.ok;
  },
};

const lineOf = (candidate: Candidate): string => {
  if (candidate === 'files') return ':files\n';
  const about = oneLine(candidate.about ?? '', 80);
  return about === '' ? `${candidate.word}\n` : `${candidate.word}\t${about}\n`;
};

/** Somebody is in the middle of a line: whatever is wrong, it is not said now. */
async function quietly(words: readonly string[], io: Io): Promise<readonly Candidate[]> {
  try {
    return await withVocabulary(io, configIn(words), (vocabulary) => completionsOf(words, vocabulary));
  } catch {
    return [];
  }
}

/** The configuration that the unfinished line itself names. */
function configIn(words: readonly string[]): string | undefined {
  const at = words.indexOf('--config');
  const joined = words.find((word) => word.startsWith('--config='));
  return joined?.slice('--config='.length) ?? (at === -1 ? undefined : words[at + 1] || undefined);
}

async function withVocabulary<T>(
  io: Io,
  config: string | undefined,
  work: (vocabulary: Vocabulary) => Promise<T>,
): Promise<T> {
  const { COMMANDS } = await import('../main.ts');
  const open = async () => {
    const { DiscoveryEngine } = await import('../../engine/discovery-engine.ts');
    const { configFile } = await import('../../engine/engine-world.ts');
    const { env, cwd } = io;
    // Nobody has said yet that the file on the line is to be used.
    const runCode = config === undefined;
    const options = { env, cwd, runCode, offline: true, background: false, timeout: LOAD_MS };
    return new DiscoveryEngine(configFile(config), options);
  };
  // Most completions are of words that need no configuration.
  let engine: ReturnType<typeof open> | undefined;
  const opened = () => {
    engine ??= open();
    return engine;
  };
  try {
    return await work({
      commands: COMMANDS,
      clients: async () => {
        const { CLIENT_TYPES, clientOf } = await import('../../clients/importers/clients.ts');
        return CLIENT_TYPES.map((type) => ({ type, title: clientOf(type).title }));
      },
      servers: async () => (await opened()).listServers(),
      tools: async (server) => (await opened()).listTools(server),
      parameters: async (server, tool) => (await (await opened()).getToolDetails(server, tool))?.parameters ?? [],
    });
  } finally {
    await (await engine)?.close();
  }
}
