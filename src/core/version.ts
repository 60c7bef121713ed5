/**
 * Holds our name and version, as sent to servers and agents.
 * @module
 */

/** The version in package.json; a test keeps the two equal. */
export const VERSION = '0.1.0';

/** Our name and version in the protocol's format. */
export const IDENTITY = { name: '@anygpt/discovery', title: 'AnyGPT Discovery', version: VERSION } as const;
