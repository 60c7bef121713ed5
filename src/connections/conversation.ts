/**
 * Turns a wire into a connection: routes messages, greets the server, and notices its end at every stage.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import { isLocal } from '../core/transport-parts.ts';
import type { ServerDefinition } from '../core/types.ts';
import { redactData } from '../secrets/redact-data.ts';
import type { Redact } from '../secrets/redactor.ts';
import type { discover, initialize } from './handshake.ts';
import { INTERNAL_ERROR, JsonRpcError, type Wire } from './json-rpc.ts';
import { McpConnection } from './mcp-connection.ts';
import type { OpenOptions } from './open-options.ts';
import { Peer, PeerClosedError } from './peer.ts';

/** A greeting: `initialize` or `discover`. */
export type Greeting = typeof initialize | typeof discover;

/** What is known about the process behind a wire, if there is one. */
interface Postmortem {
  readonly exitReason: string | undefined;
  log(redact: Redact): string;
}

export class Conversation {
  readonly peer: Peer;
  readonly #definition: ServerDefinition;
  readonly #options: OpenOptions;
  readonly #wire: Wire;
  readonly #process: Postmortem | undefined;
  readonly #ended: Promise<never>;
  #connection: McpConnection | undefined;

  constructor(definition: ServerDefinition, options: OpenOptions, wire: Wire, process?: Postmortem) {
    this.#definition = definition;
    this.#options = options;
    this.#wire = wire;
    this.#process = process;
    let end: (reason: Error) => void;
    this.#ended = new Promise<never>((_, reject) => {
      end = reject;
    });
    // The promise may have no listener any more when the server ends.
    this.#ended.catch(() => {});
    this.peer = new Peer(wire, {
      redact: options.secrets.redactWords,
      onRequest: async (request) => {
        options.onQuestion?.(request.method);
        // A server may ask right after it has answered the greeting.
        if (!this.#connection) await new Promise(setImmediate);
        if (!this.#connection) throw new JsonRpcError(INTERNAL_ERROR, 'not ready yet');
        return this.#connection.answer(request);
      },
      onNotification: (method, params) => {
        // The two listeners are independent: if one throws, the other is still called.
        try {
          const hear = this.#connection?.onNotification;
          // Log messages for the agent are redacted like any other log. Other notifications contain names and addresses
          // only.
          const isLog = hear !== undefined && method === 'notifications/message';
          hear?.(method, isLog ? redactData(params, options.secrets.redactWords) : params);
        } finally {
          options.onNotification?.(method, params);
        }
      },
      relaysNotifications: () => this.#connection?.onNotification !== undefined,
      onClose: (reason) => {
        end(reason);
        if (this.#connection) options.onClose?.(this.#obituary(reason));
      },
    });
  }

  /** Tries the greetings in turn; after an error answer to one, the next is tried. */
  async open(greetings: readonly Greeting[], signal: AbortSignal): Promise<McpConnection> {
    return Promise.race([this.#open(greetings, signal), this.#ended]);
  }

  async #open(greetings: readonly Greeting[], signal: AbortSignal): Promise<McpConnection> {
    const { client, capabilities, limits } = this.#options;
    const { redact, redactWords } = this.#options.secrets;
    let refusal: JsonRpcError | undefined;
    for (const greet of greetings) {
      try {
        const identity = await greet(this.peer, this.#wire, client, capabilities, signal);
        this.#connection = new McpConnection({
          server: this.#definition.name,
          isLocal: isLocal(this.#definition.connection),
          sendsHeaders: this.#wire.hasPerRequestStream === true,
          peer: this.peer,
          identity: {
            ...identity,
            serverInfo: { ...redactData(identity.serverInfo, redact), name: identity.serverInfo.name },
            instructions: identity.instructions && redact.cut(identity.instructions, LIMITS.text.instructions),
          },
          limits,
          mayAsk: identity.era === 'legacy' && Object.keys(capabilities).length > 0,
          obituary: () => this.#process?.exitReason,
          log: () => this.#process?.log(redactWords) ?? '',
          redact: redactWords,
        });
        return this.#connection;
      } catch (error) {
        if (!(error instanceof JsonRpcError)) throw error;
        refusal ??= error;
      }
    }
    throw refusal ?? new Error('there is no way to greet the server');
  }

  #obituary(reason: Error): Error {
    const how = this.#process?.exitReason;
    return how && reason instanceof PeerClosedError ? new PeerClosedError(`it ${how}`, { cause: reason }) : reason;
  }
}
