/**
 * Runs one command line and returns its exit code. A command is loaded when it is called.
 * @module
 */
import { parseArgs } from 'node:util';
import { DiscoveryError } from '../core/errors.ts';
import { VERSION } from '../core/version.ts';
import { didYouMean, nearestName, nearestNames } from '../text/nearest-names.ts';
import type { Command } from './command.ts';
import { reportFailure } from './failure.ts';
import { ALIASES, HINTS } from './habits.ts';
import { EXIT, type Io } from './io.ts';
import { UsageError } from './usage-error.ts';

interface Entry {
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

/** Every command by its name. */
export const COMMANDS: Readonly<Record<string, Entry>> = {
  init: {
    summary: 'Find the servers of your clients and write a configuration',
    load: async () => (await import('./commands/init.ts')).init,
  },
  install: {
    summary: 'Add this gateway to a client: cursor, claude-code, vscode, …',
    load: async () => (await import('./commands/install.ts')).install,
  },
  uninstall: {
    summary: 'Remove this gateway from a client and restore what was moved',
    load: async () => (await import('./commands/uninstall.ts')).uninstall,
  },
  add: {
    summary: 'Add a server: from a registry, npm, an address or a command',
    load: async () => (await import('./commands/add.ts')).add,
  },
  remove: {
    summary: 'Remove a server from your configuration',
    load: async () => (await import('./commands/remove.ts')).remove,
  },
  update: {
    summary: 'Compare pinned versions with the latest ones: --check',
    load: async () => (await import('./commands/update.ts')).update,
  },
  enable: { summary: 'Switch a server on', load: async () => (await import('./commands/enable.ts')).enable },
  disable: { summary: 'Switch a server off', load: async () => (await import('./commands/enable.ts')).disable },
  get: {
    summary: 'Show one server: what it runs, and where it is written',
    load: async () => (await import('./commands/get.ts')).get,
  },
  list: { summary: 'List all configured MCP servers', load: async () => (await import('./commands/list.ts')).list },
  search: {
    summary: 'Search for tools across all servers',
    load: async () => (await import('./commands/search.ts')).search,
  },
  tools: { summary: 'List the tools of one server', load: async () => (await import('./commands/tools.ts')).tools },
  resources: {
    summary: 'List the resources of all servers, or of one',
    load: async () => (await import('./commands/items.ts')).resources,
  },
  prompts: {
    summary: 'List the prompts of all servers, or of one',
    load: async () => (await import('./commands/items.ts')).prompts,
  },
  inspect: {
    summary: 'Show one tool with its parameters',
    load: async () => (await import('./commands/inspect.ts')).inspect,
  },
  execute: { summary: 'Call a tool', load: async () => (await import('./commands/execute.ts')).execute },
  read: { summary: 'Read a resource', load: async () => (await import('./commands/read.ts')).read },
  pending: {
    summary: 'List the tools that wait for approval',
    load: async () => (await import('./commands/pending.ts')).pending,
  },
  approve: {
    summary: 'Look at new and changed tools, and let agents use them',
    load: async () => (await import('./commands/approve.ts')).approve,
  },
  lock: {
    summary: 'Write versions and pins of all tools to mcp-discovery.lock',
    load: async () => (await import('./commands/lock.ts')).lock,
  },
  verify: {
    summary: 'Compare servers and tools with mcp-discovery.lock, for CI',
    load: async () => (await import('./commands/verify.ts')).verify,
  },
  login: {
    summary: 'Log in to a remote server in the browser',
    load: async () => (await import('./commands/login.ts')).login,
  },
  logout: {
    summary: 'Log out of a remote server',
    load: async () => (await import('./commands/login.ts')).logout,
  },
  config: {
    summary: 'Show, validate or reload the configuration',
    load: async () => (await import('./commands/config.ts')).config,
  },
  serve: {
    summary: 'Run the gateway on stdio, or on HTTP with --http',
    load: async () => (await import('./commands/serve.ts')).serve,
  },
  token: {
    summary: 'Create, list and revoke the tokens that let clients in over HTTP',
    load: async () => (await import('./commands/token.ts')).token,
  },
  trust: {
    summary: 'Review and trust the configurations that came with this folder',
    load: async () => (await import('./commands/trust.ts')).trust,
  },
  cache: { summary: 'Clear cached tool lists', load: async () => (await import('./commands/cache.ts')).cache },
  doctor: {
    summary: 'Check configuration, sources and servers; say what to fix',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  stats: {
    summary: 'Show token costs of tool definitions, calls, errors and times',
    load: async () => (await import('./commands/stats.ts')).stats,
  },
  lint: {
    summary: 'Find tool definitions that agents or APIs have trouble with',
    load: async () => (await import('./commands/lint.ts')).lint,
  },
  eval: {
    summary: 'Measure search quality with your own tools and queries',
    load: async () => (await import('./commands/eval.ts')).evaluation,
  },
  logs: {
    summary: 'Show what a server wrote to stderr',
    load: async () => (await import('./commands/logs.ts')).logs,
  },
  registry: {
    summary: 'Find servers in MCP registries: search, show, sync',
    load: async () => (await import('./commands/mcp-registry.ts')).registry,
  },
  export: {
    summary: 'Write tools as RTFS, TypeScript, zod, JSON, Markdown or API tools',
    load: async () => (await import('./commands/export.ts')).exportTools,
  },
  completion: {
    summary: 'Print a completion script for bash, zsh or fish',
    load: async () => (await import('./commands/completion.ts')).completion,
  },
};

const help = (): string => `anygpt ${VERSION} - one MCP server in front of all MCP servers

Usage: anygpt mcp <command> [options]

Commands:
${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(12)}${summary}`)
  .join('\n')}

Examples:
  anygpt mcp init
  anygpt mcp list --status
  anygpt mcp search "create an issue"
  anygpt mcp execute github create_issue repo=owner/repo title="A bug"

Run "anygpt mcp <command> --help" for the options of a command.
Run "anygpt --version" for the version.
`;

const HELP_WORDS: ReadonlySet<string | undefined> = new Set([undefined, '--help', '-h', 'help']);
const VERSION_WORDS: ReadonlySet<string | undefined> = new Set(['--version', '-v', '-V', 'version']);

/** Runs one command line. Expected failures are reported on stderr and in the exit code, never thrown. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const words = argv[0] === 'mcp' ? argv.slice(1) : argv;
  const [first, second] = words;
  if (VERSION_WORDS.has(first)) {
    io.stdout.write(`${VERSION}\n`);
    return EXIT.ok;
  }
  const asksForOne = first === 'help' && second !== undefined;
  if (HELP_WORDS.has(first) && !asksForOne) {
    io.stdout.write(help());
    return EXIT.ok;
  }
  const [named = '', ...others] = asksForOne ? [second, '--help'] : words;
  const [name = '', ...before] = ALIASES.get(named) ?? [named];
  const rest = [...before, ...others];
  const json = rest.slice(0, indexOfEnd(rest)).includes('--json');
  // A configuration written as code, or a dependency, may print to stdout, which is kept for the result.
  let own = io;
  try {
    const command = await commandNamed(name);
    const { values, positionals } = parsed(command, rest);
    if (values.help) {
      io.stdout.write(`${command.usage}\n`);
      return EXIT.ok;
    }
    // A copy would open stdin.
    own = Object.create(io, { stdout: { value: io.reserveStdout?.() ?? io.stdout } }) as Io;
    return await command.run(values, positionals, own);
  } catch (error) {
    if (error instanceof UsageError && !json) {
      const hint = Object.hasOwn(COMMANDS, name) ? `\nRun "anygpt mcp ${name} --help" for its options.` : '';
      return reportFailure(own, { ...error.toInfo(), message: error.message + hint }, false);
    }
    // The message of a configuration error lists every problem.
    if (error instanceof DiscoveryError) return reportFailure(own, error.toInfo(), json);
    throw error;
  }
}

async function commandNamed(name: string): Promise<Command> {
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (entry) return entry.load();
  const habits = HINTS.get(name);
  if (habits !== undefined) {
    const lines = habits.map((line) => `  anygpt mcp ${line}`);
    throw new UsageError([`There is no command "${name}". Use one of these:`, ...lines].join('\n'));
  }
  const near = nearestNames(name, Object.keys(COMMANDS));
  throw new UsageError(
    [`There is no command "${name}".`, didYouMean(near), 'Run "anygpt --help" to see all of them.']
      .filter(Boolean)
      .join(' '),
    near,
  );
}

/** Where `--` ends the options. */
const indexOfEnd = (args: readonly string[]): number => (args.includes('--') ? args.indexOf('--') : args.length);

/** Gives options that stand without their value the one that they mean then. */
const withValues = (args: readonly string[], bare: Readonly<Record<string, string>> = {}): string[] =>
  args.map((arg, at) => {
    const meant = bare[arg.slice(2)];
    const next = args[at + 1];
    const isBare = arg.startsWith('--') && meant !== undefined && (next === undefined || next.startsWith('-'));
    return isBare ? `${arg}=${meant}` : arg;
  });

function parsed(command: Command, given: readonly string[]) {
  const args = withValues(given, command.bare);
  const options = { ...command.options, help: { type: 'boolean', short: 'h' } } as const;
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const end = indexOfEnd(args);
    return { values: end === args.length ? values : { ...values, '--': args.slice(end + 1) }, positionals };
  } catch (error) {
    const [, dashes, unknown] = /^Unknown option '(--?)([^']+)'/.exec((error as Error).message) ?? [];
    if (unknown === undefined) throw new UsageError((error as Error).message);
    const near = dashes === '--' ? nearestName(unknown, Object.keys(options)) : undefined;
    const meant = near === undefined ? undefined : `Did you mean --${near}?`;
    throw new UsageError(
      [`There is no option ${dashes}${unknown}.`, meant, command.unknownOption].filter(Boolean).join(' '),
      near === undefined ? [] : [`--${near}`],
    );
  }
}
