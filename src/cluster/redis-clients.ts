/**
 * Opens the connections to one Redis, to the master that Sentinel names, or to a Redis Cluster, from an address:
 * `redis://`, `rediss://` (with TLS), `redis+sentinel://host,host/name` or `redis+cluster://host,host`.
 * @module
 */
import { Cluster, Redis } from 'ioredis';
import { pauseAfter } from '../async/back-off.ts';
import { waitAtMost } from '../async/time-limit.ts';
import { ConfigurationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';

export interface RedisClients {
  readonly commands: Redis | Cluster;
  /** Keeps messages in order. */
  readonly publisher: Redis | Cluster;
  readonly subscriber: Redis;
  readonly all: readonly (Redis | Cluster)[];
  readonly isCluster: boolean;
  close(): void;
}

interface Place {
  readonly host: string;
  readonly port: number;
}

const SHARED = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 1,
  // A command whose answer was lost may have been executed.
  autoResendUnfulfilledCommands: false,
  connectTimeout: LIMITS.cluster.connect,
  retryStrategy: (failures: number) => pauseAfter(failures, LIMITS.cluster.reconnect),
  // This master was replaced: behind the address there is another one now.
  reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
};
type Shared = typeof SHARED & { readonly tls?: object; readonly username?: string; readonly password?: string };

export function redisClients(url: string): RedisClients {
  const [scheme = '', rest = ''] = url.split('://');
  if (!/^rediss?(?:\+sentinel|\+cluster)?$/.test(scheme)) throw wrongUrl();
  const shared: Shared = { ...SHARED, ...(scheme.startsWith('rediss') && { tls: {} }) };
  if (scheme.endsWith('+cluster')) return clusterClients(rest, shared);
  const open = scheme.endsWith('+sentinel') ? () => sentinelClient(rest, shared) : () => client(url, shared);
  const [commands, subscriber] = [open(), open()];
  return together({ commands, publisher: commands, subscriber, isCluster: false });
}

function client(url: string, shared: Shared): Redis {
  if (!URL.canParse(url)) throw wrongUrl();
  return watched(new Redis(url, shared));
}

function sentinelClient(rest: string, { tls, ...shared }: Shared): Redis {
  const { hosts, login, path, settings } = partsOf(rest);
  const [name = 'mymaster', db = '0'] = path.split('/');
  if (!/^\d*$/.test(db)) throw wrongUrl();
  const [user, password] = [settings.get('sentinelUser'), settings.get('sentinelPassword')];
  const master = new Redis({
    ...shared,
    ...login,
    ...(tls && { tls, sentinelTLS: tls, enableTLSForSentinelMode: true }),
    ...(user && { sentinelUsername: user }),
    ...(password && { sentinelPassword: password }),
    name: name || 'mymaster',
    db: Number(db),
    sentinels: hosts.map((host) => at(host, 26_379)),
    sentinelRetryStrategy: SHARED.retryStrategy,
    // A frozen Sentinel is not waited for: the next one is asked.
    sentinelCommandTimeout: LIMITS.cluster.connect,
  });
  return watched(master);
}

/** Leaves a frozen Redis, also one that never greets: another one may have taken its place. */
function watched(client: Redis): Redis {
  let greetedFor = 0;
  const watch = setInterval(async () => {
    if (client.status === 'end') return clearInterval(watch);
    greetedFor = client.status === 'connect' ? greetedFor + LIMITS.cluster.beat : 0;
    const pinged = client.status === 'ready' ? client.ping().catch(() => {}) : undefined;
    const isFrozen = pinged ? !(await waitAtMost(pinged, LIMITS.cluster.gone)) : greetedFor > LIMITS.cluster.gone;
    if (isFrozen) client.disconnect(true);
  }, LIMITS.cluster.beat).unref();
  return client;
}

/**
 * Messages take one way: through one node that they are sent to, and one that they come from. Over changing nodes some
 * would overtake others.
 */
function clusterClients(rest: string, shared: Shared): RedisClients {
  const { hosts, login } = partsOf(rest);
  const places = hosts.map((host) => at(host, 6_379));
  const { retryStrategy, enableOfflineQueue, ...redisOptions } = { ...shared, ...login };
  const commands = new Cluster(places, {
    enableOfflineQueue: false,
    redisOptions,
    clusterRetryStrategy: SHARED.retryStrategy,
    slotsRefreshInterval: LIMITS.cluster.slots,
    // Certificates are for names.
    ...(shared.tls && {
      dnsLookup: (address: string, found: (error: null, address: string) => void) => found(null, address),
    }),
  });
  const [publisher, subscriber] = [
    nodeClient(places, { ...shared, ...login }),
    nodeClient(places, { ...shared, ...login }),
  ];
  return together({ commands, publisher, subscriber, isCluster: true });
}

/** A connection to one of several nodes, and after each failure to the next one. */
function nodeClient(places: readonly Place[], options: Shared): Redis {
  let turn = Math.floor(Math.random() * places.length);
  const next = () => places[turn++ % places.length];
  const node = new Redis({
    ...options,
    ...next(),
    retryStrategy: (failures: number) => {
      Object.assign(node.options, next());
      return SHARED.retryStrategy(failures);
    },
  });
  return watched(node);
}

const together = (clients: Omit<RedisClients, 'all' | 'close'>): RedisClients => {
  const all = [...new Set([clients.commands, clients.publisher, clients.subscriber])];
  return {
    ...clients,
    all,
    close: () => {
      for (const one of all) one.disconnect();
    },
  };
};

function partsOf(rest: string) {
  const [, user = '', hosts = '', path = '', query = ''] =
    /^(?:([^/?]*)@)?([^@/?]+)\/?([^?]*)(?:\?(.*))?$/.exec(rest) ?? [];
  const colon = user.includes(':') ? user.indexOf(':') : user.length;
  const [username, password] = [decoded(user.slice(0, colon)), decoded(user.slice(colon + 1))];
  const login = { ...(username && { username }), ...(password && { password }) };
  return { hosts: hosts.split(','), login, path, settings: new URLSearchParams(query) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrongUrl();
  }
}

/** Splits `host:port`; an IPv6 address is in brackets. */
function at(text: string, defaultPort: number): Place {
  const [, host = '', port = ''] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(text) ?? [];
  if (host === '') throw wrongUrl();
  return { host: host.replace(/^\[|\]$/g, ''), port: port === '' ? defaultPort : Number(port) };
}

/** Says nothing of the URL, which may hold a password. */
const wrongUrl = (): ConfigurationError =>
  new ConfigurationError(
    'cluster.redis is no address of Redis. Examples: redis://localhost:6379, rediss://user:password@redis.example.com, redis+sentinel://one,two/mymaster.',
  );
