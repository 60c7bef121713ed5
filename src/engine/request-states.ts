/**
 * Finds the sources that the request being served sees: those of everybody, and those that belong to the request alone. What
 * a request brings along is listed, indexed and counted by itself, so no other request finds it.
 * @module
 */

import { checkProvider } from '../agent/registry/check-provider.ts';
import { requestProviders } from '../agent/registry/request-scope.ts';
import type { ProviderDefinition, ToolProvider } from '../core/tool-provider.ts';
import type { EngineState, KnownServer } from './engine-state.ts';
import { nameProviders, providerFingerprint } from './provider-sources.ts';

/** What a provider of a request is called that has no name. */
const FALLBACK = 'request';

type Build = (base: EngineState, known: KnownServer & { readonly definition: ProviderDefinition }) => EngineState;

/** See the module. */
export class RequestStates {
  readonly #build: Build;
  /** By provider and by the name it has beside others. A reload makes new ones. */
  readonly #states = new WeakMap<
    ToolProvider,
    Map<string, { readonly base: EngineState; readonly state: EngineState }>
  >();

  constructor(build: Build) {
    this.#build = build;
  }

  /** The states of the request's own providers; mostly none. */
  beside(base: EngineState): readonly EngineState[] {
    const providers = requestProviders();
    if (providers.length === 0) return NONE;
    const shared = new Set(base.providers.map(({ provider }) => provider));
    const own = [...new Set(providers)].filter((provider) => !shared.has(provider));
    own.forEach(checkProvider);
    const taken = [...base.servers.keys(), ...base.switchedOff];
    return nameProviders(own, taken, FALLBACK).map((definition) => this.#stateOf(base, definition));
  }

  /** The state that has a server: that of everybody, unless only the request has it. */
  having(base: EngineState, server: string): EngineState {
    if (base.servers.has(server)) return base;
    return this.beside(base).find(({ servers }) => servers.has(server)) ?? base;
  }

  #stateOf(base: EngineState, definition: ProviderDefinition): EngineState {
    const { provider, name } = definition;
    const named = this.#states.get(provider) ?? new Map();
    this.#states.set(provider, named);
    const known = named.get(name);
    if (known?.base === base) return known.state;
    const state = this.#build(base, { definition, fingerprint: providerFingerprint(provider) });
    named.set(name, { base, state });
    return state;
  }
}

const NONE: readonly EngineState[] = [];
