/**
 * Defines the port through which remote servers get the tokens of logins, request by request.
 * @module
 */
import { DiscoveryError } from '../core/errors.ts';
import { HttpStatusError } from './http-status-error.ts';

/** A request that a server has refused with 401, or with 403 and a challenge. */
export interface RefusedRequest {
  /** The Authorization header that it was sent with. */
  readonly sent: string | undefined;
  readonly response: Pick<Response, 'status' | 'headers'>;
  /** Whether it was a tool call. One tool may need more scopes than the rest of a server. */
  readonly isCall: boolean;
  /** Whether another token was refused before: for the same request or, if this is a call, for the call before. */
  readonly isRepeated: boolean;
}

/** The login of one user to one server. */
export interface Credentials {
  /** Returns the Authorization of the next request; undefined: none. Throws while the server waits for a login. */
  authorization(): string | undefined | Promise<string | undefined>;
  /** Tells what to do about a refusal: there is a new Authorization, or a person has to log in. */
  refused(request: RefusedRequest): Promise<'renewed' | DiscoveryError>;
  /**
   * Whether a harmless request should find out if the server accepts the token of the next call: a refused call is not sent again.
   * `accepted` is the Authorization that it took last, `age` ms ago.
   */
  needsProof(accepted: string | undefined, age: number): boolean;
}

/** Marks the error of a server that a person has to log in to. Its login remembers that, per user. */
export class LoginNeeded extends HttpStatusError {}

/** Returns the error of a server that wants a login; `command` is what a person types. */
export const loginNeeded = (server: string, status: number, why: string, command: string): DiscoveryError =>
  new DiscoveryError('SERVER_AUTH_REQUIRED', `${server} wants ${why} (HTTP ${status}). Run: ${command}`, {
    server,
    outcome: 'unknown',
    retryable: false,
    cause: new LoginNeeded(status, ''),
  });
