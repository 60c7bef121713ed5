/**
 * The few JSON-RPC shapes both legs of the gateway speak, and the wire they travel on.
 * @module
 */

export type JsonRpcId = string | number;

/** Any JSON-RPC 2.0 message. Which of the fields are there decides what it is. */
export interface JsonRpcMessage {
  readonly jsonrpc: '2.0';
  readonly id?: JsonRpcId | null;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: JsonRpcErrorBody;
}

export interface JsonRpcErrorBody {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface SendOptions {
  /** Aborting it closes the request's own HTTP stream. */
  readonly requestSignal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called when nothing more can come in answer, whether or not the answer came; with the reason where there is one. */
  readonly onRequestStreamEnd?: (reason?: Error) => void;
}

/** What a wire knows about a message besides its content. */
export interface MessageInfo {
  /** Length on the wire, where the wire can tell. */
  readonly bytes?: number | undefined;
}

/**
 * The SDK's `Transport`, as far as a `Peer` needs it: the SDK's HTTP and in-memory transports fit,
 * and so does our own stdio transport.
 */
export interface Wire {
  start(): Promise<void>;
  /** `caller` tells those apart that share the wire. */
  send(message: JsonRpcMessage, options?: SendOptions, caller?: string): Promise<void> | void;
  close(): Promise<void>;
  /** Each request is an exchange of its own, with its own headers and its own stream of answers. */
  readonly hasPerRequestStream?: boolean | undefined;
  setProtocolVersion?: ((version: string) => void) | undefined;
  /** Returns true when somebody waits for the message; a wire may read less of what nobody waits for. */
  onmessage?: ((message: JsonRpcMessage, info?: MessageInfo) => unknown) | undefined;
  /** Set by the peer: the method of our request that has this id and waits for an answer. */
  awaited?: ((id: JsonRpcId) => string | undefined) | undefined;
  /** Set by the peer: whether a large notification is of use to anybody. */
  relaysNotifications?: (() => boolean) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
}

/** An error answer from the other side, code and data kept. */
export class JsonRpcError extends Error {
  override readonly name = 'JsonRpcError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** A message that provably never left us. */
export class NotSentError extends Error {
  override readonly name: string = 'NotSentError';
}

/** Never left us, because the other side does not read what it was sent before. */
export class NotReadError extends NotSentError {
  override readonly name = 'NotReadError';
}

/** Never left us, because it cannot be written as JSON. */
export class UnsendableError extends NotSentError {
  override readonly name = 'UnsendableError';
}

/** Why a message from the other side could not be read. */
export type Unreadable = 'too-long' | 'too-deep' | 'too-many';

/** An error of a wire's `send` before anything was sent, said so: no JSON writer can follow nesting without end. */
export const unsendable = (error: unknown): unknown =>
  error instanceof RangeError && error.message.includes('call stack')
    ? new UnsendableError('the message is nested too deeply to be sent', { cause: error })
    : error;

export const METHOD_NOT_FOUND = -32601;
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
export const UNSUPPORTED_PROTOCOL_VERSION = -32022;

/** True for what a JSON-RPC router may look at; everything else on a wire is noise. */
export function isJsonRpcMessage(value: unknown): value is JsonRpcMessage {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { jsonrpc, id, method, params } = value as Record<string, unknown>;
  if (jsonrpc !== '2.0') return false;
  if (id !== undefined && id !== null && typeof id !== 'string' && typeof id !== 'number') return false;
  if (method !== undefined) {
    return typeof method === 'string' && (params === undefined || (typeof params === 'object' && params !== null));
  }
  // An answer in an odd shape is still an answer: whoever waits for it has to be told.
  return id !== undefined && ('result' in value || 'error' in value);
}
