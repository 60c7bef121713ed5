// Runs a hostile client of an HTTP gateway in its own process: parent → { id, url, kind, ms }; ← { to: id } when it is
// done. Without `ms` it only gets ready.
import { connect } from 'node:net';

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'hostile', version: '1.0.0' },
};
const bodyOf = (params) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, _meta: META } });
const execute = (server, tool, args) => ({ name: 'execute_tool', arguments: { server, tool, arguments: args } });
const namesOf = (count) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`key${at}`, at]));

/** How many at once, what each sends, and whether it reads the answer. */
const KINDS = {
  'arguments of 350,000 names': { width: 2, params: () => execute('echo', 'echo', { text: 'x', ...namesOf(350_000) }) },
  'arguments of 9,000 names': { width: 2, params: () => execute('echo', 'echo', { text: 'x', ...namesOf(9_000) }) },
  'arguments of 3.9 MB': { width: 4, params: () => execute('echo', 'echo', { text: 'x'.repeat(3.9e6) }) },
  // The gateway waits for the end of each body.
  'unfinished bodies of 3.9 MB': {
    width: 64,
    params: () => execute('echo', 'echo', { text: 'x'.repeat(3.9e6) }),
    isUnfinished: true,
  },
  'pipelined requests': { width: 4, params: () => execute('echo', 'echo', { text: 'x' }), pipelined: 200 },
  'short requests': { width: 16, params: () => execute('echo', 'echo', { text: 'x' }) },
};
const answered = (kind, width) => ({ width, params: () => execute('evil', 'answer', { kind }) });
const kindOf = (kind) => {
  if (kind in KINDS) return KINDS[kind];
  if (kind.startsWith('unread ')) return { ...answered('text 4 MB', 1), isUnread: true };
  return answered(kind.replace(/^result: /, ''), 12);
};

/** Sends one request on its own socket. Resolves when the answer has ended. */
const exchange = ({ hostname, port }, body, sockets, { isUnread, isUnfinished, pipelined = 1 }) =>
  new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    const head = [
      'POST /mcp HTTP/1.1',
      `Host: ${hostname}:${port}`,
      'Content-Type: application/json',
      'Accept: application/json, text/event-stream',
      'MCP-Protocol-Version: 2026-07-28',
      'Mcp-Method: tools/call',
      'Mcp-Name: execute_tool',
      `Content-Length: ${body.length}`,
    ];
    const closing = [...head, 'Connection: close'];
    const request = (lines) => `${lines.join('\r\n')}\r\n\r\n`;
    if (pipelined > 1) socket.write(`${request(head)}${body}`.repeat(pipelined - 1));
    socket.write(request(closing));
    socket.write(isUnfinished ? body.subarray(0, -1) : body);
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      resolve();
    });
    if (isUnread) {
      socket.pause();
      setTimeout(resolve, 50);
    } else socket.resume();
  });

let body;
process.on('message', async ({ id, url, kind, ms = 0 }) => {
  const address = new URL(url);
  const { width, params, ...how } = kindOf(kind);
  body ??= Buffer.from(bodyOf(params()));
  const end = Date.now() + ms;
  const sockets = new Set();
  const over = setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, ms);
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (Date.now() < end) await exchange(address, body, sockets, how);
    }),
  );
  clearTimeout(over);
  for (const socket of sockets) socket.destroy();
  process.send({ to: id });
});
