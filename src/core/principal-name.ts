/**
 * Writes principals so that people can type them: a user of an identity provider as `ISSUER SUBJECT`, another one by the
 * id of its token.
 * @module
 */

/** Returns a principal as people write it. No issuer has a space. */
export const writtenPrincipal = (principal: string): string => principal.replace('\0', ' ');

/** Returns the principal as it is written by hand. */
export const principalOf = (written: string): string => written.replace(/^(https?:\/\/[^\s\0]+) /i, '$1\0');
