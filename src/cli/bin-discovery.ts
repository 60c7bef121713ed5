#!/usr/bin/env node
/**
 * Starts `discovery`: the same commands; without one, the gateway on stdio, so that `npx -y @anygpt/discovery` is a server.
 * @module
 */
import { runProcess } from './process-io.ts';

const argv = process.argv.slice(2);
runProcess(
  argv.length === 0 || (argv[0]?.startsWith('--') && !['--help', '--version'].includes(argv[0]))
    ? ['mcp', 'serve', ...argv]
    : argv,
);
