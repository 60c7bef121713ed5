#!/usr/bin/env node
/**
 * Starts `anygpt`: all commands; without a command, help.
 * @module
 */
import { runProcess } from './process-io.ts';

runProcess(process.argv.slice(2));
