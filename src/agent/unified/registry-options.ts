/**
 * Checks the options of a unified registry and fills in the defaults. Throws for misspelt or invalid options.
 * @module
 */

import { elapsedNow } from '../../async/clock.ts';
import { ValidationError } from '../../core/errors.ts';
import { DEFAULTS } from '../../core/limits.ts';
import { type EngineHandle, isEngine } from '../../engine/engine-handle.ts';
import { shorten } from '../../text/plain-text.ts';
import { refuseUnknown } from '../formats/refuse-unknown.ts';
import type { ToJsonSchema } from '../registry/schema-export.ts';
import type { RegistryLogger } from './registry-log.ts';
import type { ServerEntry } from './servers-from-env.ts';

/** Options of a registry; all have defaults. */
export interface UnifiedToolRegistryOptions {
  /**
   * The MCP servers: a `DiscoveryEngine`, or entries as in a configuration, for example from `serversFromEnv`. An engine's
   * rules, limits and audit log apply to static tools and providers, too; the program reloads and closes it. Default: none.
   */
  readonly servers?: EngineHandle | readonly ServerEntry[] | undefined;
  /** Receives the five events. Default: none. */
  readonly logger?: RegistryLogger | undefined;
  /** How long a tool list stays fresh, in ms. Default 5 minutes. */
  readonly ttlMs?: number | undefined;
  /** How long callers wait for a provider's list and definitions together, in ms. Later ones still arrive. Default 5 s. */
  readonly providerMs?: number | undefined;
  /**
   * Timeout of a call to a static tool or a provider's tool, in ms. Default 60 s. Calls to servers use the engine's
   * timeouts; so do static tools if `servers` is an engine.
   */
  readonly callMs?: number | undefined;
  /** Converts schemas to JSON Schema for libraries that cannot do so themselves, such as valibot's `toJsonSchema`. */
  readonly toJsonSchema?: ToJsonSchema | undefined;
  /** A clock in milliseconds, for durations. Default: a monotonic clock. */
  readonly now?: (() => number) | undefined;
  /** The variables that entries refer to. Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

const OPTIONS: readonly (keyof UnifiedToolRegistryOptions)[] = [
  ...(['servers', 'logger', 'ttlMs', 'providerMs', 'callMs', 'toJsonSchema', 'now', 'env'] as const),
];

/** Checks the options and fills in the defaults. */
export function resolveOptions(options: UnifiedToolRegistryOptions) {
  refuseUnknown(options, OPTIONS, 'A registry');
  const {
    servers = [],
    ttlMs = DEFAULTS.provider.ttlMs,
    providerMs = DEFAULTS.provider.readMs,
    callMs = DEFAULTS.provider.callMs,
    now = elapsedNow,
  } = options;
  checkServers(servers);
  for (const [name, ms] of Object.entries({ ttlMs, providerMs, callMs }))
    if (!(ms >= 0)) throw new ValidationError(`${name} must be a number of milliseconds, 0 or more.`);
  return { ...options, servers, ttlMs, providerMs, callMs, now };
}

/** Throws `ValidationError` for anything but a list of entries or an engine, and says what to write. */
function checkServers(given: unknown): void {
  if (Array.isArray(given) || isEngine(given)) return;
  if (typeof given !== 'object' || given === null)
    throw new ValidationError('servers must be a list of entries, or a DiscoveryEngine.');
  const [[name, entry] = []] = Object.entries('mcpServers' in given ? (given.mcpServers ?? {}) : given);
  const isRemote = typeof entry === 'object' && entry !== null && 'url' in entry;
  const connection = isRemote ? "{ type: 'http', url: … }" : "{ type: 'stdio', command: …, args: […] }";
  throw new ValidationError(
    `servers must be a list of entries, or a DiscoveryEngine: write [{ name: ${JSON.stringify(shorten(name ?? 'x', 64))}, connection: ${connection} }].`,
  );
}
