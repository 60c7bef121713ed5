// A bare reverse proxy: parses each request, writes its id anew, and forwards it. The fastest that a gateway could be.
// Usage: http-proxy.mjs TARGET; prints its address on the first line.
import { Agent, createServer, request as send } from 'node:http';

const target = new URL(process.argv[2]);
const agent = new Agent({ keepAlive: true, maxSockets: 256 });
let last = 0;

/** Reads a whole body as JSON. */
const read = (stream, done) => {
  const chunks = [];
  stream.on('data', (chunk) => chunks.push(chunk));
  stream.on('end', () => done(JSON.parse(Buffer.concat(chunks).toString())));
};

const http = createServer((request, response) => {
  read(request, (message) => {
    const { id } = message;
    const text = JSON.stringify({ ...message, id: ++last });
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const onward = send({
      host: target.hostname,
      port: target.port,
      path: target.pathname,
      method: 'POST',
      agent,
      headers,
    });
    onward.on('response', (answered) => {
      read(answered, (answer) => {
        const back = JSON.stringify({ ...answer, id });
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(back) });
        response.end(back);
      });
    });
    onward.on('error', () => response.destroy());
    onward.end(text);
  });
});
http.keepAliveTimeout = 60_000;
http.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${http.address().port}/mcp\n`));
process.stdin.on('end', () => process.exit()).resume();
