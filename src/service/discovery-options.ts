/**
 * Defines the options of a discovery and their defaults.
 * @module
 */
import { ValidationError } from '../core/errors.ts';
import { DEFAULTS, LIMITS } from '../core/limits.ts';
import type { RateLimit } from '../core/types.ts';
import { type EngineConfig, isConfigFile, isResolved } from '../engine/engine-world.ts';

/** How often, and after what pauses, a failed discovery is tried again. */
export interface RetryPolicy {
  /** Default 3. */
  readonly maxRetries?: number | undefined;
  /** Default 1,000. */
  readonly initialDelayMs?: number | undefined;
  /** Default 30,000. */
  readonly maxDelayMs?: number | undefined;
  /** Default 2. */
  readonly backoffMultiplier?: number | undefined;
  /** Varies a pause by ± this share of its length. Default 0.1. */
  readonly jitterFactor?: number | undefined;
}

/** How often one server is asked for its list. */
export interface RateLimitConfig {
  /** In the long run. Default 10. */
  readonly requestsPerSecond?: number | undefined;
  /** At once, after a pause. Default 20. */
  readonly burstSize?: number | undefined;
}

/** Options of one discovery. */
export interface DiscoveryOptions {
  /** Calls read-only tools that have no output schema once, to infer one. See `lazyOutputSchemas`. Default false. */
  readonly introspectOutputSchemas?: boolean | undefined;
  /** Leaves these calls out until `inferOutputSchema` is called for a tool. Default true. */
  readonly lazyOutputSchemas?: boolean | undefined;
  /** Uses a list that is known and not too old. Default false; true where a cache is warmed. */
  readonly useCache?: boolean | undefined;
  /** Registers the tools, so that they are found and called. Default false. */
  readonly registerInMarketplace?: boolean | undefined;
  /** Writes the tools as RTFS capabilities. Default false. */
  readonly exportToRtfs?: boolean | undefined;
  /** Where to. Default `capabilities/servers/pending`. */
  readonly exportDirectory?: string | undefined;
  /** Headers for a remote server, instead of its own of these names. A list that was read with them is not kept. */
  readonly authHeaders?: Readonly<Record<string, string>> | undefined;
  /** Default: `retry` of the configuration. */
  readonly retryPolicy?: RetryPolicy | undefined;
  /** Default: 10 requests per second and 20 at once, for remote servers. Stays in force for the server. */
  readonly rateLimit?: RateLimitConfig | undefined;
  /** Servers that are discovered at the same time. Default 5. */
  readonly maxParallelDiscoveries?: number | undefined;
}

/** Throws `ValidationError` for a number with which a discovery would never begin or end. */
export function checkOptions({ retryPolicy = {}, rateLimit = {}, maxParallelDiscoveries }: DiscoveryOptions): void {
  const { requestsPerSecond, burstSize } = rateLimit;
  const above = (least: number, numbers: Readonly<Record<string, number | undefined>>): void => {
    for (const [name, number] of Object.entries(numbers))
      if (number !== undefined && !(number >= least))
        throw new ValidationError(`${name} must be a number of ${least} or more, not ${String(number)}.`);
  };
  above(0, { ...retryPolicy });
  above(LEAST_RATE, { requestsPerSecond });
  above(1, { burstSize, maxParallelDiscoveries });
}

/** One request in 1,000 seconds. A lower rate is a mistake. */
const LEAST_RATE = 0.001;

/** Retries as the engine makes them. */
export const retryOf = (policy: RetryPolicy = {}, configured: typeof DEFAULTS.retry): typeof DEFAULTS.retry => ({
  attempts: policy.maxRetries ?? configured.attempts,
  initial: policy.initialDelayMs ?? configured.initial,
  max: policy.maxDelayMs ?? configured.max,
  factor: policy.backoffMultiplier ?? configured.factor,
  jitter: policy.jitterFactor ?? configured.jitter,
});

/** The rate of list requests; undefined: the engine's own. */
export const rateOf = (limit: RateLimitConfig | undefined): RateLimit | undefined =>
  limit && {
    requestsPerSecond: limit.requestsPerSecond ?? DEFAULTS.listing.requestsPerSecond,
    burst: limit.burstSize ?? DEFAULTS.listing.burst,
  };

/** Servers that are discovered at the same time. */
export const parallelOf = ({ maxParallelDiscoveries = LIMITS.atOnce.servers }: DiscoveryOptions): number =>
  Math.floor(maxParallelDiscoveries);

/** Keeps lists for a day, unless the configuration says otherwise or is in a file. */
export const withDefaultTtl = (config: EngineConfig): EngineConfig =>
  isConfigFile(config) || isResolved(config) || 'discovery' in config
    ? config
    : { ...config, cache: { ttl: LIMITS.age.list / 1_000, ...config.cache } };
