// Serves tools whose list changes, on stdio; over HTTP with --http. It does as it is told by the tool `misbehave`.
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const text = { type: 'object', properties: { text: { type: 'string' }, how: { type: 'string' } } };
let version = 1;
const announcers = new Set();

const build = () => {
  const server = new Server({ name: 'soak', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } });
  announcers.add(server);
  server.onclose = () => announcers.delete(server);
  server.setRequestHandler('tools/list', () => ({
    tools: ['echo', 'slow', 'large', 'change', 'misbehave', `version_${version}`].map((name) => ({
      name,
      description: `The tool ${name} of the soak, version ${version}.`,
      inputSchema: text,
    })),
  }));
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: args = {} } }, { mcpReq }) => {
    if (name === 'slow') await new Promise((resolve) => setTimeout(resolve, 300));
    if (name === 'change') {
      version += 1;
      for (const one of announcers) void one.sendToolListChanged().catch(() => {});
    }
    if (name === 'misbehave') await FAULTS[args.how]?.(mcpReq);
    const answer = name === 'large' ? 'x'.repeat(300_000) : String(args.text);
    return { content: [{ type: 'text', text: answer }] };
  });
  return server;
};

/** What can break. */
const FAULTS = {
  die: () => process.kill(process.pid, 'SIGKILL'),
  exit: () => process.exit(3),
  close: () => process.stdout.destroy(),
  noise: () => process.stdout.write('this is no JSON\n{"half":\n'),
  flood: () => {
    for (let at = 0; at < 2_000; at++)
      process.stdout.write(
        `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"${at}"}}\n`,
      );
  },
  stderr: () => process.stderr.write(`${'e'.repeat(200)}\n`.repeat(2_000)),
  hang: () => new Promise(() => {}),
  fail: () => {
    throw new Error('it failed, as it was told');
  },
};

if (process.argv.includes('--http')) {
  const http = createServer(toNodeHandler(createMcpHandler(build)));
  http.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${http.address().port}/mcp\n`));
  process.stdin.on('end', () => process.exit()).resume();
} else serveStdio(build);
