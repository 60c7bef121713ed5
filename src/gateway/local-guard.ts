/**
 * The guard in front of every route of the gateway on HTTP: requests that a page elsewhere could have made are refused.
 * @module
 */
import type { IncomingMessage } from 'node:http';

const HOSTS = ['localhost', '127.0.0.1', '[::1]'];

/** Why a request must not be served, or undefined. Host and Origin must be this machine and this port, to the letter. */
export function foreignness({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, port: number): string | undefined {
  const values = (name: string) =>
    rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
  const hosts = values('host');
  const [host = ''] = hosts;
  if (hosts.length !== 1 || !HOSTS.some((name) => host === name || host === `${name}:${port}`))
    return `Invalid Host: ${host.slice(0, 100)}`;
  const origin = values('origin').find((given) => !HOSTS.some((name) => given === `http://${name}:${port}`));
  return origin === undefined ? undefined : `Invalid Origin: ${origin.slice(0, 100)}`;
}
