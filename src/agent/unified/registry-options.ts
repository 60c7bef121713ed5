/**
 * Checks the options of a unified registry and fills in the defaults. Throws for options that are misspelt or unusable.
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

/** What a registry is made of; all of it has a default. */
export interface UnifiedToolRegistryOptions {
  /**
   * The MCP servers: a `DiscoveryEngine`, or entries as in a configuration, such as `serversFromEnv` gives. The rules,
   * limits and audit log of a given engine apply to static tools and providers, too; the program reloads and closes it.
   * Default: none.
   */
  readonly servers?: EngineHandle | readonly ServerEntry[] | undefined;
  /** Where the five events go. Default: nowhere. */
  readonly logger?: RegistryLogger | undefined;
  /** How long a list of tools holds, in ms. Default 5 minutes. */
  readonly ttlMs?: number | undefined;
  /** How long a provider is waited for, its list and definitions together, in ms. Default 5 s; what takes longer follows. */
  readonly providerMs?: number | undefined;
  /**
   * How long a call of a static or a provider's tool may take, in ms. Default 60 s. Servers have time limits of their own,
   * and static tools those of a given engine.
   */
  readonly callMs?: number | undefined;
  /** Makes JSON Schema of the schemas of a library that does not do so itself: valibot's `toJsonSchema`. */
  readonly toJsonSchema?: ToJsonSchema | undefined;
  /** Milliseconds for durations. Default: a clock that never jumps. */
  readonly now?: (() => number) | undefined;
  /** Where entries find their variables. Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

const OPTIONS: readonly (keyof UnifiedToolRegistryOptions)[] = [
  ...(['servers', 'logger', 'ttlMs', 'providerMs', 'callMs', 'toJsonSchema', 'now', 'env'] as const),
];

/** Checks the options and fills in what was left open. */
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

/** Throws `ValidationError` for what is neither a list of entries nor an engine, and says what to write. */
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
