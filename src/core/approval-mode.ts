/**
 * Decides whether a definition is approved, from the mode of its source and the pins that were approved. Pure.
 * @module
 */

/**
 * Where a server comes from: `trusted` is hand-written in the user's own configuration, `first-sight` is imported from
 * another client, `review` comes from a registry or a project.
 */
export type TrustLevel = 'trusted' | 'first-sight' | 'review';

/**
 * What needs approval, strictest first. `all`: every definition. `new`: what was not in the first list. `changed`:
 * another definition of a known tool. `off`: nothing.
 */
export const APPROVAL_MODES = ['all', 'new', 'changed', 'off'] as const;

/** One of `APPROVAL_MODES`. */
export type ApprovalMode = (typeof APPROVAL_MODES)[number];

/** `approved`: may be searched, described and called. `pending`: never approved. `changed`: approved as something else. */
export type ApprovalStatus = 'approved' | 'pending' | 'changed';

/** `pending` or `changed`: a person has to look at the definition first. */
export type Unapproved = Exclude<ApprovalStatus, 'approved'>;

const USUAL: Readonly<Record<TrustLevel, ApprovalMode>> = { trusted: 'off', 'first-sight': 'new', review: 'all' };

/**
 * Returns the mode of a server.
 * @param level where it comes from
 * @param general the user's setting for all servers: `off` ends all approvals, the others only make a server stricter
 * @param own the user's setting for this server, which decides alone
 */
export function modeOf(level: TrustLevel, general?: ApprovalMode, own?: ApprovalMode): ApprovalMode {
  if (own !== undefined || general === 'off') return own ?? 'off';
  return stricterOf(USUAL[level], general);
}

/** Returns the stricter of two modes. */
export const stricterOf = (mode: ApprovalMode, other: ApprovalMode | undefined): ApprovalMode =>
  other !== undefined && APPROVAL_MODES.indexOf(other) < APPROVAL_MODES.indexOf(mode) ? other : mode;

/**
 * Returns the status of one definition.
 * @param approved the approved pins of the tool of this name
 * @param pin undefined for a definition that cannot be pinned: it is not approved
 */
export function statusFor(
  mode: ApprovalMode,
  approved: readonly string[] | undefined,
  pin: string | undefined,
): ApprovalStatus {
  if (mode === 'off') return 'approved';
  if (approved === undefined || approved.length === 0) return 'pending';
  return pin !== undefined && approved.includes(pin) ? 'approved' : 'changed';
}
