/**
 * Makes ids of sessions that every replica can read: who opened the session, for whom, and how its client introduced
 * itself. So any replica can continue a session whose own replica is gone.
 * @module
 */
import { createHash } from 'node:crypto';
import { LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';
import type { KeyRing } from './key-ring.ts';
import { isReplicaId } from './replica-bus.ts';

export interface SessionClaims {
  /** The replica that opened the session. */
  readonly owner: string;
  /** Makes the id unique. */
  readonly name: string;
  readonly principal: string | undefined;
  readonly profile: string | undefined;
  /** The parameters of `initialize`, without what is too long. */
  readonly greeting: Readonly<Record<string, unknown>>;
}

const PLACE = 'session id';

/** The text of a session's id. */
export function sessionId(claims: SessionClaims, keys: KeyRing, now: number): string {
  const { owner, name, principal, profile, greeting } = claims;
  const said = [owner, name, whoOf(principal, profile), Math.round(now), fitting(greeting)];
  return keys.seal(Buffer.from(JSON.stringify(said)), PLACE).toString('base64url');
}

/** What an id says, if it is one of ours, is not too old, and belongs to this caller. */
export function readSessionId(
  id: string,
  keys: KeyRing,
  now: number,
  { principal, profile }: Pick<SessionClaims, 'principal' | 'profile'>,
): SessionClaims | undefined {
  if (id.length > 4 * LIMITS.cluster.claims) return undefined;
  const sealed = Buffer.from(id, 'base64url');
  // Other spellings of the same bytes are no ids.
  const text = sealed.toString('base64url') === id ? keys.open(sealed, PLACE)?.toString() : undefined;
  if (text === undefined) return undefined;
  const [owner, name, who, at, greeting] = JSON.parse(text) as unknown[];
  if (typeof owner !== 'string' || !isReplicaId(owner) || !isObject(greeting)) return undefined;
  if (who !== whoOf(principal, profile) || Math.abs(now - Number(at)) > LIMITS.cluster.session) return undefined;
  return { owner, name: String(name), principal, profile, greeting };
}

const whoOf = (principal: string | undefined, profile: string | undefined): string =>
  createHash('sha256')
    .update(JSON.stringify([principal, profile]))
    .digest('base64url');

/** Leaves out what makes a greeting too long for a header: first extensions, then all but what a client can be asked. */
function fitting(greeting: Readonly<Record<string, unknown>>): unknown {
  const { protocolVersion, clientInfo, capabilities } = greeting;
  const { experimental, extensions, ...known } = isObject(capabilities) ? capabilities : {};
  const { name, version } = isObject(clientInfo) ? clientInfo : {};
  const short = (text: unknown) => String(text ?? '').slice(0, LIMITS.names.shown);
  const whole = { protocolVersion, clientInfo: { name: short(name), version: short(version) } };
  const { elicitation, sampling, roots } = known as Record<string, unknown>;
  const versions = [known, { elicitation, sampling, roots }].map((some) => ({ ...whole, capabilities: some }));
  return versions.find((one) => JSON.stringify(one).length <= LIMITS.cluster.claims) ?? { ...whole, capabilities: {} };
}
