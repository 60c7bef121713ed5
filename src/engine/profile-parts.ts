/**
 * Reads the profiles of a configuration: which servers each has, and its rules on top of those that all callers share.
 * @module
 */
import { toRateLimit } from '../config/rate-limit-schema.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { DEFAULT_PROFILE } from '../core/profile-name.ts';
import type { Caller, ToolRule } from '../core/types.ts';
import type { UserLimits } from '../execution/tool-executor.ts';
import { compileRules, isOfClasses } from '../rules/compile-rules.ts';
import type { RuleSet } from '../rules/decide.ts';
import { compileName, isServer } from '../rules/pattern.ts';
import { shorten } from '../text/plain-text.ts';
import type { KnownServer, Sight } from './engine-state.ts';

/** One profile, as it is used. */
export interface ProfilePart {
  /** The profile's own rules above those of the configuration: a tool is on only if both allow it. */
  readonly rules: RuleSet;
  hasServer(name: string): boolean;
  /** What it says about the calls of each of its users. */
  readonly limits: UserLimits;
  /** Undefined if it exposes no servers. */
  readonly exposure: Exposure | undefined;
}

/** What clients of a profile see under its own name. */
export interface Exposure {
  hasServer(name: string): boolean;
  /** Whether the five tools stand beside that. */
  readonly metaTools: boolean;
}

/** The part of a configuration that a caller sees. Without a profile, all of it. */
export interface SeenPart {
  readonly profile: string | undefined;
  /** Set if the part has servers with credentials of this user. */
  readonly principal: string | undefined;
}

export async function profileParts(
  { profiles, rulePrecedence, servers: configured }: ResolvedConfig,
  rules: RuleSet,
): Promise<ReadonlyMap<string, ProfilePart>> {
  const classify = async (written: readonly ToolRule[]) =>
    written.some(isOfClasses)
      ? (await import('../service/infer/classify-tool.ts')).ruleClassifier(configured)
      : undefined;
  const compiled = Object.entries(profiles).map(async ([name, profile]) => {
    const { servers, toolRules = [], limits = {}, expose = [], metaTools = true } = profile;
    const named = servers?.map(compileName);
    const hasServer = (server: string) => named?.some((one) => isServer(one, server, true)) ?? true;
    const exposed = expose.map(compileName);
    const isExposed = (server: string) => hasServer(server) && exposed.some((one) => isServer(one, server, true));
    const part: ProfilePart = {
      rules: await compileRules(toolRules, rulePrecedence, rules, rules.names, await classify(toolRules)),
      hasServer,
      limits: { inFlight: limits.inFlight, rateLimit: toRateLimit(limits.rateLimit) },
      exposure: exposed.length > 0 ? { hasServer: isExposed, metaTools } : undefined,
    };
    return [name, part] as const;
  });
  return new Map(await Promise.all(compiled));
}

/** Returns the servers with credentials of each user. */
export const ownedServers = (servers: ReadonlyMap<string, KnownServer>): ReadonlySet<string> =>
  new Set(
    [...servers].flatMap(([name, { definition }]) =>
      'credentials' in definition && definition.credentials === 'user' ? [name] : [],
    ),
  );

/** Returns the limits of a user; undefined if the shared ones apply. */
export const userLimits = (parts: Parts, caller: Caller): UserLimits | undefined =>
  parts.profiles.get(seenPart(parts, caller)?.profile ?? '')?.limits;

/** What a caller's profile exposes. A profile that is not configured exposes nothing. */
export const exposureFor = (
  { profiles }: { readonly profiles: ReadonlyMap<string, ProfilePart> },
  caller: Caller,
): Exposure | undefined => profiles.get(caller.profile ?? defaultFor(profiles, caller) ?? '')?.exposure;

interface Parts {
  readonly profiles: ReadonlyMap<string, Pick<ProfilePart, 'limits'>>;
  readonly owned: ReadonlySet<string>;
}

/**
 * Returns the part that a caller sees; undefined: everything. Throws for a profile that is not configured: a caller that
 * was meant to see less must not see more.
 */
export function seenPart({ profiles, owned }: Parts, caller: Caller | undefined): SeenPart | undefined {
  if (caller === undefined) return undefined;
  const { profile = defaultFor(profiles, caller), principal } = caller;
  if (profile !== undefined && !profiles.has(profile))
    throw new DiscoveryError(
      'CONFIGURATION_ERROR',
      `The profile "${shorten(profile, LIMITS.names.shown)}" is not configured on this gateway. Its operator can add it under "profiles".`,
      { outcome: 'not_sent', retryable: false },
    );
  const owner = owned.size === 0 ? undefined : principal;
  return profile === undefined && owner === undefined ? undefined : { profile, principal: owner };
}

/** Tells whether a caller sees the state that was narrowed for `sight`; undefined: the shared one. */
export function sees(parts: Parts, caller: Caller, sight: Sight | undefined): boolean {
  try {
    const part = seenPart(parts, caller);
    if (part === undefined || sight === undefined) return part === sight;
    return sight.profile === part.profile && (sight.owner === undefined || sight.owner === part.principal);
  } catch {
    return false;
  }
}

/** A user for whom no profile was selected has the default one, if there is one. A local client has everything. */
const defaultFor = (profiles: ReadonlyMap<string, unknown>, { principal }: Caller): string | undefined =>
  principal !== undefined && profiles.has(DEFAULT_PROFILE) ? DEFAULT_PROFILE : undefined;
