/**
 * Keeps the servers that a program discovers without configuring them. Each has a small state of its own beside the
 * shared one. Agents see a guest once one of its tools was registered.
 * @module
 */

import { pinOf } from '../approvals/pin.ts';
import { fingerprint } from '../connections/fingerprint.ts';
import { identityOf } from '../connections/pool-slot.ts';
import { DiscoveryError, ValidationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { ServerDefinition } from '../core/types.ts';
import type { EngineState, Guest, GuestState } from './engine-state.ts';
import { RegisteredTools, type Registration } from './guest-tools.ts';

interface KeptGuest extends Guest {
  state: GuestState;
}

type Build = (base: EngineState, guest: Guest, before?: EngineState) => Promise<GuestState>;

export class GuestServers {
  readonly #build: Build;
  readonly #guests = new Map<string, KeptGuest>();

  constructor(build: Build) {
    this.#build = build;
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
  async admit(base: EngineState, definition: ServerDefinition): Promise<GuestState> {
    const { name, connection, approval = 'changed' } = definition;
    if (base.servers.has(name) || base.switchedOff.has(name))
      throw new ValidationError(`A configured server is named "${name}". Give the one to discover another name.`);
    const before = this.#guests.get(name);
    if (before && identityOf(before.known.definition) === identityOf(definition)) return before.state;
    await leave(before);
    if (!before && this.#guests.size >= LIMITS.atOnce.guests) await this.#makeRoom();
    // A call then asks the connection what it lists now.
    const known = { definition: { ...definition, approval }, fingerprint: fingerprint(connection) };
    const guest = { known, registered: new RegisteredTools() };
    const state = await this.#build(base, guest);
    this.#guests.set(name, { ...guest, state });
    return state;
  }

  /** Lets agents find and call tools of a guest, as long as they stay what they are. */
  async register(base: EngineState, server: string, tools: readonly Registration[]): Promise<void> {
    const guest = this.#guests.get(server);
    if (guest === undefined)
      throw new DiscoveryError('SERVER_NOT_FOUND', `The server "${server}" is not known. Discover its tools first.`);
    await guest.state.catalog.load(server);
    for (const { tool, pin } of tools) {
      const listed = guest.state.catalog.definition(server, tool);
      guest.registered.add(tool, pin ?? (listed && pinOf(listed)));
    }
    guest.state = await this.#build(base, guest, guest.state);
  }

  /** Builds all states anew, on a new configuration. */
  async follow(base: EngineState): Promise<void> {
    for (const guest of this.#guests.values()) guest.state = await this.#build(base, guest, guest.state);
  }

  /** Stops all guests and saves what they know. */
  async close(): Promise<void> {
    await Promise.all([...this.#guests.values()].map(leave));
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

async function leave(guest: KeptGuest | undefined): Promise<void> {
  guest?.state.discovery.stop();
  await guest?.state.catalog.save();
}

const NONE: readonly EngineState[] = [];
