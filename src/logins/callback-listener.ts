/**
 * Waits on this machine for the answer of an authorization server.
 * @module
 */
import { createHash } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';

export interface CallbackListener {
  /** The redirect address. */
  readonly redirectUri: string;
  /** The address that the browser was sent to with the answer to this login. */
  readonly arrived: Promise<URL>;
  /** Ends the page that waits in the browser. */
  answer(isLoggedIn: boolean): void;
  close(): Promise<void>;
}

const PATH = '/callback';
/** The range of a server's usual port: above the ports of services, below those of outgoing sockets. */
const PORTS = { from: 20_000, count: 10_000 };

/** Returns the usual port of a server: the same each time, because some authorization servers compare it. */
export const callbackPort = (url: string): number =>
  PORTS.from + (createHash('sha256').update(url).digest().readUInt32BE(0) % PORTS.count);

/**
 * Listens on the usual port, or on any free one if another program has it. The port of a fixed redirect address stays.
 * Any web page can send requests to this machine: only those with the state of this login count.
 */
export async function listenForCallback(
  redirectUri: string | undefined,
  port: number,
  state: string,
): Promise<CallbackListener> {
  const fixed = redirectUri === undefined ? undefined : new URL(redirectUri);
  const path = fixed?.pathname ?? PATH;
  const hostname = fixed?.hostname ?? '127.0.0.1';
  let arrive = (_address: URL) => {};
  const arrived = new Promise<URL>((resolve) => {
    arrive = resolve;
  });
  const pages = new Set<ServerResponse>();
  const server = createServer(({ method, headers, url = '' }, response) => {
    const address = URL.canParse(url, used) ? new URL(url, used) : undefined;
    const isAnswer = address?.searchParams.has('code') || address?.searchParams.has('error');
    if (method !== 'GET' || headers.host !== new URL(used).host || address?.pathname !== path || !isAnswer)
      return void response.writeHead(404, { 'content-type': 'text/plain' }).end('Nothing here.\n');
    if (address.searchParams.get('state') !== state) return show(response, 400, STRANGE);
    pages.add(response);
    response.once('close', () => pages.delete(response));
    arrive(address);
  });
  server.requestTimeout = LIMITS.time.httpRequest;
  await listen(server, fixed?.port ? Number(fixed.port) : port, hostname).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE' && !fixed?.port) return listen(server, 0, hostname);
    throw new DiscoveryError(
      'STORAGE_ERROR',
      `The address ${redirectUri} of the login is in use (${error.code}). End the program that uses it, or change connection.oauth.redirectUri.`,
    );
  });
  const { port: actual } = server.address() as AddressInfo;
  const used = fixed?.port ? String(redirectUri) : `http://${hostname}:${actual}${path}`;
  return {
    redirectUri: used,
    arrived,
    answer: (isLoggedIn) => {
      for (const page of pages) show(page, isLoggedIn ? 200 : 400, isLoggedIn ? SUCCESS : FAILURE);
    },
    close: async () => {
      for (const page of pages) page.end();
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeIdleConnections();
      });
    },
  };
}

function show(response: ServerResponse, status: number, page: string): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', connection: 'close' }).end(page);
}

const pageOf = (title: string, text: string): string =>
  `<!doctype html><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${text}</p>\n`;
const SUCCESS = pageOf('You are logged in', 'You may close this page and go back to the terminal.');
const FAILURE = pageOf('The login failed', 'The terminal says why. You may close this page.');
const STRANGE = pageOf('This is another login', 'The terminal waits for a newer one. You may close this page.');

function listen(server: Server, port: number, hostname: string): Promise<void> {
  const host = hostname === 'localhost' ? '127.0.0.1' : hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
