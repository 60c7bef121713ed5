// Puts load on an HTTP address: so many connections, each with one request at a time.
import { Agent, request as send } from 'node:http';

/** A request: its body by number, its headers, and whether an answer is right. */
const one = ({ url, agent, headers, body, isRight }) =>
  new Promise((resolve, reject) => {
    const { hostname, port, pathname } = url;
    const length = Buffer.byteLength(body);
    const request = send(
      {
        host: hostname,
        port,
        path: pathname,
        method: 'POST',
        agent,
        headers: { ...headers, 'content-length': length },
      },
      (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve(response.statusCode === 200 && isRight(text));
        });
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(body);
  });

/** Runs for `ms` and returns calls per second, the latency of each call in milliseconds, and how many went wrong. */
export const putLoad = async ({ address, connections, ms, headers = {}, bodyOf, isRight = () => true }) => {
  const url = new URL(address);
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const latencies = [];
  let wrong = 0;
  let number = 0;
  const began = performance.now();
  const end = began + ms;
  const client = async () => {
    while (performance.now() < end) {
      const start = performance.now();
      const own = ++number;
      const right = await one({
        ...{ url, agent, body: bodyOf(own), isRight: (text) => isRight(text, own) },
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      }).catch(() => false);
      if (right) latencies.push(performance.now() - start);
      else wrong += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  agent.destroy();
  return { perSecond: (latencies.length * 1000) / (performance.now() - began), latencies, wrong };
};
