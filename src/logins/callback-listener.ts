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
  /** The address that the browser was sent to, with the code. Each call takes the next one. */
  next(): Promise<URL>;
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
 */
export async function listenForCallback(redirectUri: string | undefined, port: number): Promise<CallbackListener> {
  const fixed = redirectUri === undefined ? undefined : new URL(redirectUri);
  const path = fixed?.pathname ?? PATH;
  const hostname = fixed?.hostname ?? '127.0.0.1';
  const arrived: URL[] = [];
  let wake = () => {};
  let page: ServerResponse | undefined;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', `http://${hostname}`);
    if (
      request.method !== 'GET' ||
      url.pathname !== path ||
      !(url.searchParams.has('code') || url.searchParams.has('error'))
    )
      return void response.writeHead(404, { 'content-type': 'text/plain' }).end('Nothing here.\n');
    page?.end();
    page = response;
    arrived.push(url);
    wake();
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
  return {
    redirectUri: fixed?.port ? String(redirectUri) : `http://${hostname}:${actual}${path}`,
    next: async () => {
      while (arrived.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      return arrived.shift() as URL;
    },
    answer: (isLoggedIn) => {
      page?.writeHead(isLoggedIn ? 200 : 400, { 'content-type': 'text/html; charset=utf-8', connection: 'close' });
      page?.end(isLoggedIn ? SUCCESS : FAILURE);
      page = undefined;
    },
    close: async () => {
      page?.end();
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeIdleConnections();
      });
    },
  };
}

const pageOf = (title: string, text: string): string =>
  `<!doctype html><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${text}</p>\n`;
const SUCCESS = pageOf('You are logged in', 'You may close this page and go back to the terminal.');
const FAILURE = pageOf('The login failed', 'The terminal says why. You may close this page.');

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
