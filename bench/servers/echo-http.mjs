// Serves the echo tool on Streamable HTTP; prints its address on the first line.
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { buildEchoServer } from './echo-tools.mjs';

const http = createServer(toNodeHandler(createMcpHandler(buildEchoServer)));
http.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${http.address().port}/mcp\n`));
process.stdin.on('end', () => process.exit()).resume();
