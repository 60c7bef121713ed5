/**
 * The one place that touches the process.
 * @module
 */
import type { Io } from './io.ts';
import { main } from './main.ts';

const processIo: Io = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  onSignal: (listener) => {
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    for (const signal of signals) process.on(signal, listener);
    return () => {
      for (const signal of signals) process.off(signal, listener);
    };
  },
  exit: (code) => process.exit(code),
};

/** Runs the command line of this process. What nobody caught ends it, said once; children go with it. */
export function runProcess(argv: readonly string[]): void {
  const crash = (error: unknown) => {
    process.stderr.write(
      `anygpt: internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exit(70);
  };
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);
  main(argv, processIo).then((code) => {
    process.exitCode = code;
  }, crash);
}
