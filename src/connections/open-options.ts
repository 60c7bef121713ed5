/**
 * What opening a connection takes and gives.
 * @module
 */
import type { TransportType } from '../core/transport-parts.ts';
import type { ConnectionDefinition, ServerDefinition } from '../core/types.ts';
import type { KnownSecrets } from '../secrets/redactor.ts';
import type { Place } from '../secrets/server-secrets.ts';
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
  /** What we tell the server the agent can do (elicitation, sampling, roots). */
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly prior?: Verdict | undefined;
  readonly env: Environment;
  /** Turns `${NAME}` into values, which are secrets from then on; throws for missing ones. */
  readonly expand: (text: string, place?: Place) => string;
  /** What must not be shown of what the server says; learns what the server is given. */
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
  /** Told what the server asks, by method, whether or not anybody answers. */
  readonly onQuestion?: (method: string) => void;
  /** Hears what a local server writes to stderr, as it comes. */
  readonly onStderr?: StderrListener | undefined;
  readonly fetch?: typeof fetch | undefined;
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
