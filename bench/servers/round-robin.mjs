// A load balancer without memory: sends each request to the next port, and to the one after that if nothing listens.
// Usage: round-robin.mjs PORT TARGET…
import { Agent, createServer, request as send } from 'node:http';

const [port, ...targets] = process.argv.slice(2).map(Number);
const agent = new Agent({ keepAlive: true, maxSockets: 512 });
let turn = 0;

const forward = (request, response, index, left, chunks) => {
  const target = targets[index % targets.length];
  const { method, url } = request;
  const headers = { ...request.headers, host: `127.0.0.1:${target}` };
  // Bodies are read first: a request is sent again only if it reached nobody.
  const onward = send({ host: '127.0.0.1', port: target, path: url, method, headers, agent }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
    answer.once('error', () => response.destroy());
    answer.once('aborted', () => response.destroy());
  });
  onward.once('error', (error) => {
    if (error.code === 'ECONNREFUSED' && left > 1) forward(request, response, index + 1, left - 1, chunks);
    else if (response.headersSent) response.destroy();
    else response.writeHead(502).end();
  });
  response.once('close', () => onward.destroy());
  onward.end(Buffer.concat(chunks));
};

const http = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => forward(request, response, turn++, targets.length, chunks));
});
http.keepAliveTimeout = 60_000;
http.listen(port, '127.0.0.1');
