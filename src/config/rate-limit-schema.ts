/**
 * Defines the schema of a rate limit.
 * @module
 */
import * as z from 'zod/mini';
import type { RateLimit } from '../core/types.ts';
import { count, described, optional } from './fields.ts';

export const rateLimitSchema = z.strictObject({
  requestsPerSecond: described(z.number().check(z.gt(0), z.lte(1_000_000)), 'Requests per second in the long run.'),
  burst: optional(count, 'Requests allowed at once. Default: twice the rate.'),
});

/** Fills in the default of `burst`. */
export function toRateLimit(limit: z.output<typeof rateLimitSchema> | undefined): RateLimit | undefined {
  if (limit === undefined) return undefined;
  const { requestsPerSecond, burst = Math.max(1, Math.ceil(requestsPerSecond * 2)) } = limit;
  return { requestsPerSecond, burst };
}
