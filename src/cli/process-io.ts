/**
 * Connects the command line to the process; no other file touches it.
 * @module
 */
import { Writable } from 'node:stream';
import { realWorld } from '../config/world.ts';
import { ConfigurationError } from '../core/errors.ts';
import { maskSecrets } from '../secrets/credential-patterns.ts';
import { EXIT, type Io } from './io.ts';
import { main } from './main.ts';

/** The parts of a process that are used; tests pass a substitute. */
export type Host = Pick<
  NodeJS.Process,
  'stdin' | 'stdout' | 'stderr' | 'env' | 'cwd' | 'chdir' | 'on' | 'off' | 'exit' | 'exitCode'
>;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function ioOf(host: Host): Io {
  return {
    // Opening stdin takes time, and few commands read it.
    get stdin() {
      return host.stdin;
    },
    stdout: host.stdout,
    stderr: host.stderr,
    env: host.env,
    get cwd() {
      return folderOf(host);
    },
    onSignal: (listener) => {
      for (const signal of SIGNALS) host.on(signal, listener);
      return () => {
        for (const signal of SIGNALS) host.off(signal, listener);
      };
    },
    reserveStdout: () => {
      const { stdout, stderr } = host;
      const write = stdout.write.bind(stdout) as (chunk: unknown, encoding: string, done: () => void) => boolean;
      stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
      const reserved = new Writable({
        decodeStrings: false,
        write: (chunk, encoding, done) => void write(chunk, encoding, done),
      });
      stdout.on('error', (error) => reserved.destroy(error));
      // Errors of stdout are reported once, below.
      reserved.on('error', () => {});
      return Object.assign(reserved, { isTTY: stdout.isTTY, columns: stdout.columns });
    },
    exit: (code) => host.exit(code),
  };
}

/** The working folder. Throws if it was removed, because relative paths then have no meaning. */
function folderOf(host: Host): string {
  try {
    return host.cwd();
  } catch (error) {
    if (!isGone(error)) throw error;
    throw new ConfigurationError('The working folder no longer exists. Change to an existing folder and try again.');
  }
}

const isGone = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Lets a gateway start although its working folder was removed, for example with a branch: it uses the home folder. */
function leaveGoneFolder(argv: readonly string[], host: Host): void {
  if ((argv[0] === 'mcp' ? argv[1] : argv[0]) !== 'serve') return;
  try {
    host.cwd();
  } catch (error) {
    if (!isGone(error)) throw error;
    host.chdir(realWorld({ env: host.env, cwd: '' }).home);
    host.stderr.write('anygpt: the working folder no longer exists; using your home folder.\n');
  }
}

/** Runs the command line of this process. An uncaught error is reported once and ends the process with its children. */
export function runProcess(argv: readonly string[], host: Host = process): void {
  const crash = (error: unknown) => {
    if (isOutOfFiles(error)) {
      host.stderr.write(OUT_OF_FILES);
      host.exit(EXIT.failed);
      return;
    }
    host.stderr.write(`anygpt: internal error: ${crashReport(error, host.env)}\n`);
    host.exit(70);
  };
  host.on('uncaughtException', crash);
  host.on('unhandledRejection', crash);
  let unwritten = false;
  host.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // The reader of a pipe may close it early.
    if (error.code === 'EPIPE' || unwritten) return;
    unwritten = true;
    host.exitCode = EXIT.failed;
    host.stderr.write(`anygpt: cannot write to stdout: ${error.message}\n`);
  });
  leaveGoneFolder(argv, host);
  main(argv, ioOf(host)).then((code) => {
    host.exitCode = unwritten ? EXIT.failed : code;
  }, crash);
}

/** Tells whether the process or the machine ran out of file handles, which is not a bug of ours. */
const isOutOfFiles = (error: unknown): boolean =>
  ['EMFILE', 'ENFILE'].includes((error as NodeJS.ErrnoException | undefined)?.code ?? '');

const OUT_OF_FILES =
  'anygpt: too many files are open: the limit for this process or machine is reached. Raise it, for example with `ulimit -n 1024`, or end programs that you do not need.\n';

/** Name, message and stack frames, with secrets masked: messages may quote anything. */
function crashReport(error: unknown, env: Host['env']): string {
  if (!(error instanceof Error)) return maskSecrets(String(error), env);
  const places = (error.stack ?? '').split('\n').filter((line) => /^ {4}at /.test(line));
  return [maskSecrets(`${error.name}: ${error.message}`, env), ...places].join('\n');
}
