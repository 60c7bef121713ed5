/**
 * Finds the sources that the current request sees: the shared ones, registered servers, and those of the request alone.
 * The request's own sources are listed, indexed and counted separately, so that no other request finds them.
 * @module
 */

import { checkProvider } from '../agent/registry/check-provider.ts';
import { requestProviders } from '../agent/registry/request-scope.ts';
import type { ProviderDefinition, ToolProvider } from '../core/tool-provider.ts';
import type { Caller } from '../core/types.ts';
import { type DiscoveryWorld, type EngineState, narrowState, renamed } from './engine-state.ts';
import type { GuestServers } from './guest-servers.ts';
import type { ProfileStates } from './profile-states.ts';
import { logRenamed, nameProviders, providerFingerprint } from './provider-sources.ts';

/** Name of a request's provider that has none. */
const FALLBACK = 'request';

export class RequestStates {
  readonly #world: DiscoveryWorld;
  readonly #guests: GuestServers;
  readonly #profiles: ProfileStates;
  /** By provider, then by its unique name. A reload replaces them. */
  readonly #states = new WeakMap<
    ToolProvider,
    Map<string, { readonly base: EngineState; readonly state: EngineState }>
  >();

  constructor(world: DiscoveryWorld, guests: GuestServers, profiles: ProfileStates) {
    this.#world = world;
    this.#guests = guests;
    this.#profiles = profiles;
  }

  /**
   * The states that a caller sees: the shared one, or those of its profile and its own servers, then those of the request.
   * Those of the caller have to be built.
   */
  seen(base: EngineState, caller: Caller | undefined): readonly EngineState[] {
    return this.#with(this.#profiles.now(base, caller) ?? [base]);
  }

  /** Like `seen`, after building what is missing. */
  async built(base: EngineState, caller: Caller | undefined): Promise<readonly EngineState[]> {
    return this.#with((await this.#profiles.of(base, caller)) ?? [base]);
  }

  #with(states: readonly EngineState[]): readonly EngineState[] {
    return [...states, ...this.beside(states[0] as EngineState, states)];
  }

  /** The states of registered servers and of the request's own providers; usually none. */
  beside(base: EngineState, seen: readonly EngineState[] = [base]): readonly EngineState[] {
    const providers = requestProviders();
    // A profile has only what its configuration names.
    const guests = base.sight?.profile === undefined ? this.#guests.shown(base) : [];
    if (providers.length === 0) return guests;
    const shared = new Set(base.providers.map(({ provider }) => provider));
    const own = [...new Set(providers)].filter((provider) => !shared.has(provider));
    own.forEach(checkProvider);
    const taken = {
      has: (name: string) =>
        base.switchedOff.has(name) || [...seen, ...guests].some(({ servers }) => servers.has(name)),
    };
    return [...guests, ...nameProviders(own, taken, FALLBACK).map((definition) => this.#stateOf(base, definition))];
  }

  /** The state that contains a server: the shared one, unless only the caller or the request has it. */
  having(base: EngineState, server: string, caller?: Caller): EngineState {
    const own = this.#profiles.now(base, caller);
    if (own === undefined && base.servers.has(server)) return base;
    const states = this.#with(own ?? [base]);
    return states.find(({ servers }) => servers.has(server)) ?? (states[0] as EngineState);
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
