/**
 * Defines the names of profiles. They are part of addresses, so that they have few characters.
 * @module
 */

export const PROFILE_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/i;

/** The profile of users for whom no other one was selected, if it is configured. */
export const DEFAULT_PROFILE = 'default';
