/**
 * Defines the schema of profiles: named parts of the configuration for groups of callers.
 * @module
 */
import * as z from 'zod/mini';
import { LIMITS } from '../core/limits.ts';
import { PROFILE_NAME } from '../core/profile-name.ts';
import { count, described, optional, textUpTo } from './fields.ts';
import { rateLimitSchema } from './rate-limit-schema.ts';
import { ruleSchema } from './rule-schema.ts';

/** Globs of servers or of tools. */
const globs = () => z.array(textUpTo(LIMITS.names.qualified, 1)).check(z.maxLength(1_000));

/** Tools that clients see beside the five. */
export const pinnedSchema = globs().check(
  z.refine((tools) => tools.every((tool) => tool.includes(':')), 'must be written as `server:tool`; globs work'),
);

const profileLimits = z.strictObject({
  inFlight: optional(count, 'Calls in flight for one user. Default `limits.inFlightPerClient`.'),
  rateLimit: optional(rateLimitSchema, 'Calls of one user per second, to all servers together. Default: no limit.'),
});

const profileSchema = z
  .strictObject({
    description: optional(textUpTo(10_000), 'Who it is for. Shown to operators only.'),
    servers: optional(globs(), 'Names of servers, or globs. Default: all.'),
    toolRules: optional(
      z.array(z.omit(ruleSchema, { approve: true })),
      'Further rules. A tool is on only if these and `discovery.toolRules` both allow it.',
    ),
    pinned: optional(pinnedSchema, 'Tools shown beside the five, in place of `discovery.pinned`.'),
    expose: optional(
      globs(),
      'Names of its servers, or globs: their tools, prompts and resources are shown under names such as `server__tool`, beside the five.',
    ),
    metaTools: optional(z.boolean(), 'Whether the five tools are shown. Default `true`. `false` needs `expose`.'),
    limits: optional(profileLimits, 'Limits for each user of the profile.'),
  })
  .check(
    z.refine(({ metaTools, expose = [] }) => metaTools !== false || expose.length > 0, {
      path: ['metaTools'],
      message: 'can be false only with `expose`: otherwise nothing would be shown',
    }),
  );

/** All profiles, by name. */
export const profilesSchema = z.record(
  described(z.string().check(z.regex(PROFILE_NAME, 'is not a name of letters, digits, `-` and `_`')), 'Name'),
  profileSchema,
);
