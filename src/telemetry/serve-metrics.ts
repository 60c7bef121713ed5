/**
 * Serves the metrics of a gateway at `/metrics`, on a port of its own. They name all servers, so they are for the operator
 * and not for users.
 * @module
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LIMITS } from '../core/limits.ts';
import { PROMETHEUS_TEXT } from './metric-families.ts';

/** Where numbers are served. */
interface ServedMetrics {
  readonly url: string;
  close(): Promise<void>;
}

const LOCAL = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;
const LOOPBACK = '127.0.0.1';
/** Whether an address to listen on is one of this machine alone. */
const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i.test(host);

/** Serves until `close`. Rejects if the port is taken. */
export async function serveMetrics(
  { host = LOOPBACK, port }: { readonly host?: string | undefined; readonly port: number },
  text: () => Promise<string>,
): Promise<ServedMetrics> {
  const isLocal = isLoopback(host);
  const server = createServer((request, response) => {
    const answer = (status: number, body: string) =>
      response.writeHead(status, { 'content-type': PROMETHEUS_TEXT, connection: 'close' }).end(body);
    // DNS rebinding: the name of a web page can be made to resolve to this machine.
    if (isLocal && !LOCAL.test(request.headers.host ?? '')) return answer(403, 'Host must be this machine\n');
    if (request.method !== 'GET' || request.url?.split('?')[0] !== '/metrics') return answer(404, 'GET /metrics\n');
    text().then(
      (numbers) => answer(200, numbers),
      () => answer(503, 'There is no valid configuration\n'),
    );
  });
  server.maxConnections = LIMITS.telemetry.connections;
  server.headersTimeout = LIMITS.time.httpHead;
  server.requestTimeout = LIMITS.time.httpRequest;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    url: `http://${host === '0.0.0.0' ? LOOPBACK : host}:${(server.address() as AddressInfo).port}/metrics`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
