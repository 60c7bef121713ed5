/**
 * `anygpt mcp completion`: prints completion scripts, and answers them with the words that may come next.
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

export const completion: Command = {
  usage: `Usage: anygpt mcp completion <bash|zsh|fish> [options]

Prints a script that completes commands, options, clients, servers, tools, their
arguments (key=) and files. Names come from the configuration and the cache;
completing starts no server.

  bash   d=~/.local/share/bash-completion/completions
         mkdir -p $d && anygpt mcp completion bash > $d/anygpt
         or in ~/.bashrc:  source <(anygpt mcp completion bash)
  zsh    anygpt mcp completion zsh > "\${fpath[1]}/_anygpt"
         or in ~/.zshrc, after compinit:  source <(anygpt mcp completion zsh)
  fish   anygpt mcp completion fish > ~/.config/fish/completions/anygpt.fish

Options:
  --words -- WORD..  Print what may replace the last word of "anygpt WORD...";
                     used by the scripts
  --json             One JSON document on stdout and nothing else

Examples:
  anygpt mcp completion bash
  anygpt mcp completion --words -- mcp execute git

Exit codes: 0 success, 1 invalid arguments`,
  options: { words: { type: 'boolean' }, json: { type: 'boolean' } },
  async run(values, positionals, io) {
    if (values.words) {
      const words = (await quietly(positionals, io)).slice(0, LIMITS.shown.completions);
      if (values.json) io.stdout.write(toJson({ words: words.filter((word) => !('filesAfter' in word)) }));
      else io.stdout.write(words.map(lineOf).join(''));
      return EXIT.ok;
    }
    const [name = ''] = exactly(positionals, `<${SHELLS.join('|')}>`);
    const shell = SHELLS.find((known) => known === name);
    if (shell === undefined)
      throw new UsageError(`unknown shell "${name}"; there are scripts for ${SHELLS.join(', ')}`);
    io.stdout.write(values.json ? toJson({ shell, script: SCRIPTS[shell] }) : SCRIPTS[shell]);
    return EXIT.ok;
  },
};

const lineOf = (candidate: Candidate): string => {
  if ('filesAfter' in candidate) return `:files\t${candidate.filesAfter}\n`;
  const about = oneLine(candidate.about ?? '', 80);
  return about === '' ? `${candidate.word}\n` : `${candidate.word}\t${about}\n`;
};

/** Completes without a message: an error now would spoil the line that is being typed. */
async function quietly(words: readonly string[], io: Io): Promise<readonly Candidate[]> {
  try {
    return await withVocabulary(io, configIn(words), (vocabulary) => completionsOf(words, vocabulary));
  } catch {
    return [];
  }
}

/** The configuration file that the unfinished line names. */
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
    const { EngineCore } = await import('../../engine/engine-core.ts');
    const { configFile } = await import('../../engine/engine-world.ts');
    const { env, cwd } = io;
    // The line is not finished, so code in the file it names must not run.
    const runCode = config === undefined;
    const options = { env, cwd, runCode, offline: true, background: false, timeout: LIMITS.time.completion };
    return new EngineCore(configFile(config), options);
  };
  // Most completions need no configuration.
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
      resources: async (server) => {
        const items = await (await opened()).items.list(server);
        return items.success ? items.data.resources : [];
      },
      parameters: async (server, tool) => (await (await opened()).getToolDetails(server, tool))?.parameters ?? [],
    });
  } finally {
    await (await engine)?.close();
  }
}
