/**
 * Reads the options of `serve --http`: where to listen, and under which names and behind which proxies.
 * @module
 */
import { openSync, readFileSync, writeSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import type { ServeHttpOptions } from '../gateway/serve-http.ts';
import type { Values } from './command.ts';
import type { Io } from './io.ts';
import { UsageError } from './usage-error.ts';

/** The options that only `--http` understands, for `parseArgs`. */
export const HTTP_OPTIONS = {
  host: { type: 'string' },
  port: { type: 'string' },
  'tls-cert': { type: 'string' },
  'tls-key': { type: 'string' },
  'allowed-host': { type: 'string', multiple: true },
  'allowed-origin': { type: 'string', multiple: true },
  'trusted-proxy': { type: 'string', multiple: true },
  'access-log': { type: 'string' },
} as const;

const DEFAULT_PORT = 8080;

/** How to serve over HTTP, or undefined without `--http`. */
export function httpOptions(values: Values, io: Io): Omit<ServeHttpOptions, 'surface'> | undefined {
  if (values.http === undefined) {
    const given = Object.keys(HTTP_OPTIONS).find((name) => values[name] !== undefined);
    if (given !== undefined) throw new UsageError(`--${given} needs --http`);
    return undefined;
  }
  if (values.http !== '' && values.port !== undefined && values.port !== values.http)
    throw new UsageError('--http and --port name different ports; leave the number behind --http out');
  const port = portIn(values.http || values.port || String(DEFAULT_PORT));
  const listed = (name: string) => ((values[name] as string[] | undefined) ?? []).flatMap((one) => one.split(','));
  const host = values.host as string | undefined;
  if (host !== undefined && !/^[\w.:-]{1,253}$/.test(host)) throw new UsageError('--host needs an address or a name');
  return {
    port,
    ...(host !== undefined && { host }),
    ...tlsFiles(values, io),
    allowedHosts: listed('allowed-host').map(hostIn),
    allowedOrigins: listed('allowed-origin').map(originIn),
    trustedProxies: listed('trusted-proxy').map(networkIn),
    ...accessLog(values['access-log'] as string | undefined, io),
  };
}

function portIn(text: unknown): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(String(text)) && port < 65536) return port;
  throw new UsageError('--http and --port need a port number');
}

function hostIn(text: string): string {
  const host = text.trim().toLowerCase();
  if (/^(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/.test(host)) return host;
  throw new UsageError(`--allowed-host needs a name such as tools.example.com, with or without a port, not "${text}"`);
}

function originIn(text: string): string {
  const origin = text.trim();
  if (URL.canParse(origin) && /^https?:$/.test(new URL(origin).protocol) && new URL(origin).origin === origin)
    return origin;
  throw new UsageError(`--allowed-origin needs an origin such as https://app.example.com, not "${text}"`);
}

function networkIn(text: string): string {
  const network = text.trim();
  const [address = '', bits, ...more] = network.split('/');
  const most = isIP(address) === 6 ? 128 : 32;
  const isNetwork = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
  if (isIP(address) !== 0 && isNetwork && more.length === 0) return network;
  throw new UsageError(`--trusted-proxy needs an address or a network such as 10.0.0.0/8, not "${text}"`);
}

function tlsFiles(values: Values, io: Io): Pick<ServeHttpOptions, 'tls'> {
  const [cert, key] = [values['tls-cert'], values['tls-key']] as (string | undefined)[];
  if (cert === undefined && key === undefined) return {};
  if (cert === undefined || key === undefined) throw new UsageError('--tls-cert and --tls-key belong together');
  return { tls: { cert: contentOf(cert, '--tls-cert', io), key: contentOf(key, '--tls-key', io) } };
}

function contentOf(path: string, option: string, io: Io): string {
  try {
    return readFileSync(resolve(io.cwd, path), 'utf8');
  } catch (error) {
    throw new UsageError(`${option}: ${(error as Error).message}`);
  }
}

function accessLog(path: string | undefined, io: Io): Pick<ServeHttpOptions, 'accessLog'> {
  if (path === undefined) return {};
  if (path === '-') return { accessLog: (line) => void io.stderr.write(`${line}\n`) };
  let file: number;
  try {
    file = openSync(resolve(io.cwd, path), 'a', 0o600);
  } catch (error) {
    throw new UsageError(`--access-log: ${(error as Error).message}`);
  }
  let isFailing = false;
  const accessLog = (line: string): void => {
    try {
      writeSync(file, `${line}\n`);
      isFailing = false;
    } catch (error) {
      // A full disk must not end the gateway.
      if (!isFailing) io.stderr.write(`anygpt: the access log cannot be written: ${(error as Error).message}\n`);
      isFailing = true;
    }
  };
  return { accessLog };
}
