// The echo server on stdio.
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { buildEchoServer } from './echo-tools.mjs';

serveStdio(buildEchoServer);
