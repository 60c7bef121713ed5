/**
 * argv in, exit code out. Commands are loaded when they are called.
 * @module
 */
import { parseArgs } from 'node:util';
import { ConfigurationError, DiscoveryError } from '../errors.ts';
import { VERSION } from '../version.ts';
import { EXIT, type Io } from './io.ts';

export interface Command {
  readonly summary: string;
  readonly usage: string;
  readonly options: NonNullable<Parameters<typeof parseArgs>[0]>['options'];
  run(values: Readonly<Record<string, unknown>>, positionals: readonly string[], io: Io): Promise<number>;
}

const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./commands/serve.ts')).serve,
  trust: async () => (await import('./commands/trust.ts')).trust,
};

const HELP = `anygpt ${VERSION} - one MCP server in front of all MCP servers

Usage: anygpt mcp <command> [options]

Commands:
  serve    Run the gateway on stdio, or on HTTP with --http
  trust    Trust the configuration that came with this folder

Run "anygpt mcp <command> --help" for a command's options. --version prints the version.
`;

/** Runs one command line. Never throws: what goes wrong is said on stderr and shown in the exit code. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const [first, ...others] = argv;
  if (first === undefined || first === '--help' || first === '-h' || first === 'help') {
    io.stdout.write(HELP);
    return EXIT.ok;
  }
  if (first === '--version' || first === '-v') {
    io.stdout.write(`${VERSION}\n`);
    return EXIT.ok;
  }
  const [name, ...rest] = first === 'mcp' ? others : argv;
  if (name === undefined || name === '--help' || name === '-h') {
    io.stdout.write(HELP);
    return EXIT.ok;
  }
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!load) return complain(io, `There is no command "${name}". Run "anygpt --help" to see all of them.`, EXIT.usage);
  try {
    return await run(await load(), rest, io);
  } catch (error) {
    // Its message lists every problem.
    if (error instanceof ConfigurationError) return complain(io, error.message, EXIT.notFound);
    if (error instanceof DiscoveryError)
      return complain(io, error.message, error.code === 'SERVER_NOT_FOUND' ? EXIT.notFound : EXIT.failed);
    throw error;
  }
}

async function run(command: Command, argv: readonly string[], io: Io): Promise<number> {
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({
      args: [...argv],
      options: { ...command.options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
  } catch (error) {
    return complain(io, `${(error as Error).message}\n${command.usage}`, EXIT.usage);
  }
  if (parsed.values.help) {
    io.stdout.write(`${command.usage}\n`);
    return EXIT.ok;
  }
  return command.run(parsed.values, parsed.positionals, io);
}

export function complain(io: Io, message: string, code: number): number {
  io.stderr.write(`anygpt: ${message}\n`);
  return code;
}
