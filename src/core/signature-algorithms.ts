/**
 * Lists the signatures that tokens may have. All use a key pair: with a shared secret, anyone who knows the public key
 * could sign.
 * @module
 */
export const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;
