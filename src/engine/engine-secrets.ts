/**
 * Knows the secrets of an engine's servers, and keeps them out of every text.
 * @module
 */
import { expandReferences, lookUpReferences } from '../config/references.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { JsonRpcError } from '../connections/json-rpc.ts';
import { DiscoveryError } from '../core/errors.ts';
import { redactData } from '../secrets/redact-data.ts';
import { KnownSecrets, type Redact } from '../secrets/redactor.ts';
import { type Place, type ReferencedValue, secretsIn, secretsOf } from '../secrets/server-secrets.ts';
import type { EngineWorld } from './engine-world.ts';

export class EngineSecrets {
  readonly #env: EngineWorld['env'];
  readonly #known = new KnownSecrets();
  /**
   * The configuration whose secrets are not collected yet. With many servers this takes a while, and most starts need
   * no secrets.
   */
  #unread: ResolvedConfig | undefined;

  constructor(env: EngineWorld['env']) {
    this.#env = env;
  }

  /** Adds the secrets of a configuration. Those of an earlier one stay secret: its calls may still fail. */
  configure(config: ResolvedConfig): void {
    this.#collect();
    this.#unread = config;
  }

  /** Everything that is known to be secret, with the values that servers receive now. */
  get known(): KnownSecrets {
    this.#collect();
    return this.#known;
  }

  /** Removes known secrets, and anything that looks like a credential, from a text. */
  get redact(): Redact {
    return this.known.redactWords;
  }

  /**
   * Expands the references in a text for a server. Every expanded value counts as a secret from now on, also a rotated
   * one.
   */
  expand(text: string, where: string, place: Place = { name: '' }): string {
    const values: ReferencedValue[] = [];
    const expanded = expandReferences(text, this.#env, where, (value) => values.push(value));
    this.#known.learn(secretsIn({ expanded, values }, place));
    return expanded;
  }

  /** Redacts an error: a server may quote its secrets when it fails. */
  hideIn(error: unknown, server: string): unknown {
    if (!(error instanceof Error)) return error;
    const message = this.redact(error.message);
    // Clients of an exposed server get this error unchanged, apart from secrets.
    if (error instanceof JsonRpcError)
      return new JsonRpcError(error.code, message, redactData(error.data, this.redact));
    if (error instanceof DiscoveryError) {
      const cause = error.cause instanceof JsonRpcError ? this.hideIn(error.cause, server) : error.cause;
      if (message === error.message && cause === error.cause && error.server !== undefined) return error;
      return new DiscoveryError(error.code, message, { ...error.details, server, cause });
    }
    if (message !== error.message) error.message = message;
    return error;
  }

  #collect(): void {
    if (this.#unread === undefined) return;
    const { servers, search } = this.#unread;
    this.#unread = undefined;
    const references = { env: this.#env, lookUp: (text: string) => lookUpReferences(text, this.#env) };
    this.#known.learn(secretsOf(servers, references, search.embedder));
  }
}
