/**
 * Finds the sources that the current request sees: the shared ones, registered servers, and those of the request alone.
 * The request's own sources are listed, indexed and counted separately, so that no other request finds them.
 * @module
 */

import { checkProvider } from '../agent/registry/check-provider.ts';
import { requestProviders } from '../agent/registry/request-scope.ts';
import type { ProviderDefinition, ToolProvider } from '../core/tool-provider.ts';
import { type DiscoveryWorld, type EngineState, narrowState, renamed } from './engine-state.ts';
import type { GuestServers } from './guest-servers.ts';
import { logRenamed, nameProviders, providerFingerprint } from './provider-sources.ts';

/** Name of a request's provider that has none. */
const FALLBACK = 'request';

export class RequestStates {
  readonly #world: DiscoveryWorld;
  readonly #guests: GuestServers;
  /** By provider, then by its unique name. A reload replaces them. */
  readonly #states = new WeakMap<
    ToolProvider,
    Map<string, { readonly base: EngineState; readonly state: EngineState }>
  >();

  constructor(world: DiscoveryWorld, guests: GuestServers) {
    this.#world = world;
    this.#guests = guests;
  }

  /** The states of registered servers and of the request's own providers; usually none. */
  beside(base: EngineState): readonly EngineState[] {
    const providers = requestProviders();
    const guests = this.#guests.shown(base);
    if (providers.length === 0) return guests;
    const shared = new Set(base.providers.map(({ provider }) => provider));
    const own = [...new Set(providers)].filter((provider) => !shared.has(provider));
    own.forEach(checkProvider);
    const taken = {
      has: (name: string) =>
        base.servers.has(name) || base.switchedOff.has(name) || guests.some(({ servers }) => servers.has(name)),
    };
    return [...guests, ...nameProviders(own, taken, FALLBACK).map((definition) => this.#stateOf(base, definition))];
  }

  /** The state that contains a server: the shared one, unless only the request has it. */
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
    logRenamed(definition, this.#world.logger);
    const servers = new Map([[name, { definition, fingerprint: providerFingerprint(provider) }]]);
    const rules = base.rules.withNames(renamed([definition]));
    const state = narrowState(base, { servers, rules, approvals: undefined }, this.#world);
    named.set(name, { base, state });
    return state;
  }
}
