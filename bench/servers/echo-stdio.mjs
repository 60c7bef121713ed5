// Serves the echo tool on stdio.
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { buildEchoServer } from './echo-tools.mjs';

serveStdio(buildEchoServer);
