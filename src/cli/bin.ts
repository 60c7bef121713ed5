#!/usr/bin/env node
/**
 * `anygpt`: all commands; help without any.
 * @module
 */
import { runProcess } from './process-io.ts';

runProcess(process.argv.slice(2));
