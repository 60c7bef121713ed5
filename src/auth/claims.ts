/**
 * Reads who is asking out of the claims of a token, whose signature or validity was checked before.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { AuthSettings } from './auth-settings.ts';
import { type AuthRefusal, type Identity, unauthorized } from './identity.ts';

type Claims = Readonly<Record<string, unknown>>;

/** Returns the identity that claims stand for, or why they do not suffice. */
export function identityIn(claims: Claims, settings: AuthSettings): Identity | AuthRefusal {
  const { issuer, scopes: needed = [], principalClaim = 'sub', profileClaim } = settings;
  const named = claims[principalClaim];
  const subject = named === undefined && principalClaim === 'sub' ? clientIn(claims) : nameIn(named);
  if (subject === undefined) return unauthorized(`The token has no usable claim "${principalClaim}"`);
  if (typeof claims.exp !== 'number') return unauthorized('The token does not say when it expires');
  const selected = profileClaim === undefined ? undefined : claims[profileClaim];
  const profile = nameIn(selected);
  // A user without a profile may use everything, so an unusable claim must not count as no claim.
  if (selected !== undefined && profile === undefined)
    return unauthorized(`The token’s claim "${profileClaim}" is not the name of one profile`);
  const scopes = scopesIn(claims);
  const missing = needed.filter((scope) => !scopes.includes(scope));
  if (missing.length > 0)
    return { refused: 'forbidden', reason: `The token lacks the scope ${missing.join(' ')}`, scopes: needed };
  return {
    principal: `${issuer}\0${subject}`,
    profile,
    choosesProfile: profileClaim === undefined,
    scopes,
    expiresAt: claims.exp * 1000,
  };
}

const nameIn = (claim: unknown): string | undefined =>
  typeof claim === 'string' && claim !== '' && claim.length <= LIMITS.auth.name ? claim : undefined;

/** Some providers give programs no subject. The prefix keeps their ids apart from the subjects of people. */
const clientIn = ({ client_id: id }: Claims): string | undefined => {
  const client = nameIn(id);
  return client === undefined ? undefined : `\0client\0${client}`;
};

/** Providers write `scope` as one text or `scp` as a text or a list. */
function scopesIn({ scope, scp }: Claims): string[] {
  return [scope, scp].flatMap((given) =>
    typeof given === 'string'
      ? given.split(' ').filter(Boolean)
      : Array.isArray(given)
        ? given.filter((one): one is string => typeof one === 'string')
        : [],
  );
}
