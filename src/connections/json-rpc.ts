/**
 * Defines the JSON-RPC messages that both legs of the gateway use, and the wire that carries them.
 * @module
 */

import type { CallSignal } from '../async/cancellation.ts';

export type JsonRpcId = string | number;

/** Any JSON-RPC 2.0 message. Its kind follows from the fields that are present. */
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
  /** Aborting it closes the HTTP stream of the request. */
  readonly requestSignal?: CallSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called when no more messages can arrive for the request, with the reason if there is one. */
  readonly onRequestStreamEnd?: (reason?: Error) => void;
}

/** What a wire knows about a message besides its content. */
export interface MessageInfo {
  /** Length on the wire, if known. */
  readonly bytes?: number | undefined;
}

/**
 * The part of the SDK's `Transport` that a `Peer` needs. The SDK's HTTP and in-memory transports fit, and so does our
 * stdio transport.
 */
export interface Wire {
  start(): Promise<void>;
  /** `caller` distinguishes the callers that share the wire. */
  send(message: JsonRpcMessage, options?: SendOptions, caller?: string): Promise<void> | void;
  close(): Promise<void>;
  /** Each request is an exchange of its own, with its own headers and its own stream of answers. */
  readonly hasPerRequestStream?: boolean | undefined;
  setProtocolVersion?: ((version: string) => void) | undefined;
  /** Whether a call should wait until the server has accepted a harmless request with the current token. */
  needsProof?(): boolean;
  /** Returns true if a caller waits for the message; a wire may slow down when none does. */
  onmessage?: ((message: JsonRpcMessage, info?: MessageInfo) => unknown) | undefined;
  /** Set by the peer: the method of our request that has this id and waits for an answer. */
  awaited?: ((id: JsonRpcId) => string | undefined) | undefined;
  /** Set by the peer: whether large notifications are needed. */
  relaysNotifications?: (() => boolean) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
}

/** An error answer of the other side, with its code and data. */
export class JsonRpcError extends Error {
  override readonly name = 'JsonRpcError';
  readonly code: number;
  readonly data: unknown;
  /** The HTTP status of the answer, if it was not a success. */
  readonly status: number | undefined;

  constructor(code: number, message: string, data?: unknown, status?: number) {
    super(message);
    this.code = code;
    this.data = data;
    this.status = status;
  }
}

/** The message provably was not sent. */
export class NotSentError extends Error {
  override readonly name: string = 'NotSentError';
}

/** Not sent, because the other side has not read what was sent before. */
export class NotReadError extends NotSentError {
  override readonly name = 'NotReadError';
}

/** Not sent, because it cannot be written as JSON. */
export class UnsendableError extends NotSentError {
  override readonly name = 'UnsendableError';
}

/** Why a message from the other side could not be read. */
export type Unreadable = 'too-long' | 'too-deep' | 'too-many' | 'stalled';

/** Marks an error of a wire's `send` as raised before anything was sent: no JSON writer can follow endless nesting. */
export const unsendable = (error: unknown): unknown =>
  error instanceof RangeError && error.message.includes('call stack')
    ? new UnsendableError('the message is nested too deeply to be sent', { cause: error })
    : error;

export const METHOD_NOT_FOUND = -32601;
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const INVALID_PARAMS = -32602;
/** Up to protocol 2025-11-25; later it is INVALID_PARAMS. */
export const RESOURCE_NOT_FOUND = -32002;
export const INTERNAL_ERROR = -32603;
export const UNSUPPORTED_PROTOCOL_VERSION = -32022;
/** The headers of a request do not fit its body. */
export const HEADER_MISMATCH = -32020;

/** Tells whether a value is a JSON-RPC message; everything else on a wire is noise. */
export function isJsonRpcMessage(value: unknown): value is JsonRpcMessage {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { jsonrpc, id, method, params } = value as Record<string, unknown>;
  if (jsonrpc !== '2.0') return false;
  if (id !== undefined && id !== null && typeof id !== 'string' && typeof id !== 'number') return false;
  if (method !== undefined) {
    return typeof method === 'string' && (params === undefined || (typeof params === 'object' && params !== null));
  }
  // An odd-shaped answer is still an answer: its caller must be told.
  return id !== undefined && ('result' in value || 'error' in value);
}
