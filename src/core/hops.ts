/**
 * Keeps a gateway from calling itself, directly or through another one. A call to a server that is a gateway like us
 * carries the list of gateways it came through; one that finds itself in that list refuses.
 * @module
 */
import { createHash } from 'node:crypto';
import { LIMITS } from './limits.ts';
import { fail } from './result.ts';

type Meta = Readonly<Record<string, unknown>> | undefined;

/** The `_meta` entry that carries the list. */
const HOPS = 'anygpt/hops';

/** Names a gateway by its configuration: two processes with the same one are the same gateway. */
export function gatewayId(
  origin: string | undefined,
  servers: ReadonlyMap<string, { readonly fingerprint: string }>,
): string {
  const what = [origin ?? '', [...servers].map(([name, { fingerprint }]) => [name, fingerprint])];
  return createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 12);
}

/** Whether a call has been here before, or has come too far. */
export function isLoop(meta: Meta, id: string): boolean {
  const hops = hopsIn(meta);
  return hops.includes(id) || hops.length >= LIMITS.wire.gateways;
}

/** What a call that has been here before is answered. */
export const LOOP_REFUSAL = fail(
  'CONFIGURATION_ERROR',
  'This gateway is configured as one of its own servers, directly or through another gateway. Take it out of the servers.',
  { outcome: 'not_sent' },
);

/** The `_meta` of a call that goes on to another gateway. */
export const withHop = (meta: Meta, id: string): Readonly<Record<string, unknown>> => ({
  ...meta,
  [HOPS]: [...hopsIn(meta), id].join(','),
});

function hopsIn(meta: Meta): string[] {
  const hops = meta?.[HOPS];
  return typeof hops === 'string' ? hops.split(',', LIMITS.wire.gateways + 1) : [];
}
