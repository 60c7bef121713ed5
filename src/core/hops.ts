/**
 * Prevents a gateway from calling itself, directly or through another one. A call to another gateway carries the list
 * of gateways it passed; a gateway that finds itself in the list refuses the call.
 * @module
 */
import { createHash } from 'node:crypto';
import { LIMITS } from './limits.ts';
import { fail } from './result.ts';

type Meta = Readonly<Record<string, unknown>> | undefined;

/** The `_meta` entry that carries the list. */
const HOPS = 'anygpt/hops';

/** Identifies a gateway by its configuration: two processes with the same one are the same gateway. */
export function gatewayId(
  origin: string | undefined,
  servers: ReadonlyMap<string, { readonly fingerprint: string }>,
): string {
  const what = [origin ?? '', [...servers].map(([name, { fingerprint }]) => [name, fingerprint])];
  return createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 12);
}

/** Tells whether a call has been here before, or has passed too many gateways. */
export function isLoop(meta: Meta, id: string): boolean {
  const hops = hopsIn(meta);
  return hops.includes(id) || hops.length >= LIMITS.wire.gateways;
}

/** The answer to such a call. */
export const LOOP_REFUSAL = fail(
  'CONFIGURATION_ERROR',
  'This gateway is configured as one of its own servers, directly or through another gateway. Remove it from the servers.',
  { outcome: 'not_sent' },
);

/** Returns the `_meta` of a call that goes on to another gateway. */
export const withHop = (meta: Meta, id: string): Readonly<Record<string, unknown>> => ({
  ...meta,
  [HOPS]: [...hopsIn(meta), id].join(','),
});

function hopsIn(meta: Meta): string[] {
  const hops = meta?.[HOPS];
  return typeof hops === 'string' ? hops.split(',', LIMITS.wire.gateways + 1) : [];
}
