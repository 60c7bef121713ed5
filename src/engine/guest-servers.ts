/**
 * Keeps the servers that a program discovers without configuring them. Each has a small state of its own beside the
 * shared one. Agents see a guest once one of its tools was registered.
 * @module
 */

import { pinOf } from '../approvals/pin.ts';
import { CatalogStore } from '../catalog/catalog-store.ts';
import { fingerprint } from '../connections/fingerprint.ts';
import { identityOf } from '../connections/pool-slot.ts';
import { DiscoveryError, ValidationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { ServerDefinition } from '../core/types.ts';
import { RegisteredRules } from '../rules/registered-rules.ts';
import { type DiscoveryWorld, type EngineState, narrowState, type StateWorld } from './engine-state.ts';
import { RegisteredPolicy, RegisteredTools, type Registration } from './guest-tools.ts';

export interface GuestState extends EngineState {
  readonly rules: RegisteredRules;
  readonly registered: RegisteredTools;
}

interface Guest {
  readonly definition: ServerDefinition;
  /** Tools that agents may find and call. */
  readonly registered: RegisteredTools;
  state: GuestState;
}

type GuestWorld = DiscoveryWorld & Pick<StateWorld, 'store'>;

export class GuestServers {
  readonly #world: GuestWorld;
  readonly #guests = new Map<string, Guest>();

  constructor(world: GuestWorld) {
    this.#world = world;
  }

  /** The guests with registered tools; usually none. */
  shown({ servers, switchedOff }: EngineState): readonly EngineState[] {
    if (this.#guests.size === 0) return NONE;
    return [...this.#guests]
      .filter(([name, { registered }]) => registered.size > 0 && !servers.has(name) && !switchedOff.has(name))
      .map(([, { state }]) => state);
  }

  /** The state of a guest; undefined for a server that was not discovered. */
  state(name: string): GuestState | undefined {
    return this.#guests.get(name)?.state;
  }

  /** Takes a server in. A server of the same name that is another one loses its place. */
  async admit(base: EngineState, wanted: ServerDefinition): Promise<GuestState> {
    const { name, approval = 'changed' } = wanted;
    // A connection is then asked before a call what it lists now.
    const definition = { ...wanted, approval };
    if (base.servers.has(name) || base.switchedOff.has(name))
      throw new ValidationError(`A configured server is named "${name}". Give the one to discover another name.`);
    const before = this.#guests.get(name);
    if (before && identityOf(before.definition) === identityOf(definition)) return before.state;
    await leave(before);
    if (!before && this.#guests.size >= LIMITS.atOnce.guests) await this.#makeRoom();
    const registered = new RegisteredTools();
    const state = await this.#build(base, { definition, registered });
    this.#guests.set(name, { definition, registered, state });
    return state;
  }

  /** Lets agents find and call tools of a guest, as long as they stay what they are. */
  async register(base: EngineState, server: string, tools: readonly Registration[]): Promise<void> {
    const guest = this.#guests.get(server);
    if (guest === undefined)
      throw new DiscoveryError('SERVER_NOT_FOUND', `The server "${server}" is not known. Discover its tools first.`);
    const { catalog } = guest.state;
    await catalog.load(server);
    for (const { tool, pin } of tools) {
      const listed = catalog.definition(server, tool);
      guest.registered.add(tool, pin ?? (listed && pinOf(listed)));
    }
    guest.state = await this.#build(base, guest);
  }

  /** Forgets the cached list of one guest, or those of all; its registered tools stay registered. */
  async forget(server?: string): Promise<void> {
    const wanted = [...this.#guests].filter(([name]) => server === undefined || name === server);
    await Promise.all(wanted.map(([name, { state }]) => state.catalog.forget(name)));
  }

  /** Builds all states anew, on a new configuration. */
  async follow(base: EngineState): Promise<void> {
    for (const guest of this.#guests.values()) guest.state = await this.#build(base, guest);
  }

  /** Stops all guests and saves what they know. */
  async close(): Promise<void> {
    await Promise.all([...this.#guests.values()].map(leave));
  }

  /** Builds the state of a guest: with the rules and limits of `base`, and what its state before knew. */
  async #build(
    base: EngineState,
    { definition, registered, state: before }: Pick<Guest, 'definition' | 'registered'> & Partial<Guest>,
  ): Promise<GuestState> {
    const { config, id } = base;
    const { name, registry, connection } = definition;
    const { logger, now } = this.#world;
    // A deny of its name in a registry is a deny of the server.
    const others = registry === undefined ? [] : [registry.replace(/@[^@]*$/, '')];
    const rules = new RegisteredRules(base.rules.withNames(new Map([[name, { others }]])), registered);
    const servers = new Map([[name, { definition, fingerprint: fingerprint(connection) }]]);
    const bytes = await this.#world.store(config);
    const store = bytes && new CatalogStore(bytes, { owner: config.origin ?? id, stamp: '', logger, now });
    const policy = new RegisteredPolicy(rules, registered);
    const narrow = narrowState(base, { servers, rules, approvals: undefined, policy, store }, this.#world);
    const state = { ...narrow, registered };
    if (before) await state.catalog.inherit(before.catalog);
    await state.catalog.adopt();
    before?.discovery.stop(state.discovery);
    return state;
  }

  /** Forgets the oldest guest without registered tools. */
  async #makeRoom(): Promise<void> {
    const oldest = [...this.#guests].find(([, { registered }]) => registered.size === 0);
    if (oldest === undefined)
      throw new DiscoveryError(
        'SERVER_BUSY',
        `At most ${LIMITS.atOnce.guests} servers can be known beside the configured ones.`,
      );
    this.#guests.delete(oldest[0]);
    await leave(oldest[1]);
  }
}

async function leave(guest: Guest | undefined): Promise<void> {
  guest?.state.discovery.stop();
  await guest?.state.catalog.save();
}

const NONE: readonly EngineState[] = [];
