/**
 * Defines the input and the result of opening a connection.
 * @module
 */
import type { TransportType } from '../core/transport-parts.ts';
import type { ConnectionDefinition, ServerDefinition } from '../core/types.ts';
import type { KnownSecrets } from '../secrets/redactor.ts';
import type { Place } from '../secrets/server-secrets.ts';
import type { Credentials } from './credentials.ts';
import type { ClientIdentity, ProtocolEra } from './handshake.ts';
import type { McpConnection } from './mcp-connection.ts';
import type { ToolListLimits } from './tool-list.ts';

/** Our environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Receives what a child process writes to stderr. After a gap, a chunk must not be joined to what came before it. */
export type StderrListener = (chunk: Buffer, isAfterGap?: boolean) => void;

/** What an earlier connection learnt about a server. */
export interface Verdict {
  readonly era: ProtocolEra;
  readonly transport: TransportType;
}

export interface OpenOptions {
  readonly client: ClientIdentity;
  /** The agent's capabilities as declared to the server (elicitation, sampling, roots). */
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly prior?: Verdict | undefined;
  readonly env: Environment;
  /** Expands `${NAME}` references; the values count as secrets from then on. Throws for missing ones. */
  readonly expand: (text: string, place?: Place) => string;
  /** Removes secrets from the server's texts; learns the secrets that the server is given. */
  readonly secrets: KnownSecrets;
  readonly limits: ToolListLimits & {
    readonly listPageMs: number;
    readonly listMs: number;
    readonly messageBytes: number;
    readonly messageValues: number;
    readonly stderrBytes: number;
  };
  readonly signal?: AbortSignal | undefined;
  readonly onClose?: (reason: Error) => void;
  readonly onNotification?: (method: string, params: Readonly<Record<string, unknown>>) => void;
  /** Called with the method of each question of the server, whether or not it is answered. */
  readonly onQuestion?: (method: string) => void;
  /** Receives the stderr of a local server as it arrives. */
  readonly onStderr?: StderrListener | undefined;
  readonly fetch?: typeof fetch | undefined;
  /** The login to a remote server. */
  readonly credentials?: Credentials | undefined;
}

export interface OpenedConnection {
  readonly connection: McpConnection;
  readonly verdict: Verdict;
}

/** Opens a connection over one transport. Leaves nothing running when it throws. */
export type Opener<C extends ConnectionDefinition = ConnectionDefinition> = (
  definition: ServerDefinition,
  connection: C,
  options: OpenOptions,
  signal: AbortSignal,
) => Promise<OpenedConnection>;
