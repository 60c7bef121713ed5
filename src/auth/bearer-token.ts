/**
 * Reads the bearer token of a request. Only the Authorization header counts: tokens in a query or a body are never read.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { type AuthRefusal, type RequestHead, unauthorized } from './identity.ts';

const BEARER = /^bearer +([\w.~+/-]+=*)$/i;

/** Returns the one bearer token, or why there is none. */
export function bearerTokenOf({ rawHeaders }: RequestHead): { readonly token: string } | AuthRefusal {
  const given = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'authorization');
  const [value] = given;
  if (value === undefined) return { refused: 'unauthorized', reason: 'A bearer token is missing', isMissing: true };
  if (given.length > 1) return unauthorized('There is more than one Authorization header');
  if (value.length > LIMITS.auth.header) return unauthorized('The token is too long');
  const token = BEARER.exec(value.trim())?.[1];
  return token === undefined ? unauthorized('Authorization must be "Bearer" and a token') : { token };
}
