/**
 * Builds the states that callers with a profile, or with credentials of their own, see in place of the shared one.
 *
 * Such a caller has one or two. The first has the shared servers of its profile: the same connections and lists as
 * other callers, but decisions, an index and counts of its own, so that what is outside does not exist in it. The second has
 * the servers with credentials per user: its lists are read with those of the one user, stay in memory, and are shown
 * to that user only.
 * @module
 */
import { Semaphore } from '../async/semaphore.ts';
import { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { Caller } from '../core/types.ts';
import { type DiscoveryWorld, type EngineState, narrowState } from './engine-state.ts';
import { type SeenPart, seenPart } from './profile-parts.ts';

interface Kept {
  readonly building: Promise<EngineState>;
  state: EngineState | undefined;
}

export class ProfileStates {
  readonly #world: DiscoveryWorld;
  /** By the shared state they were made from, then by what they have. */
  readonly #kept = new WeakMap<EngineState, Map<string, Kept>>();
  readonly #stopped = new WeakSet<EngineState>();

  constructor(world: DiscoveryWorld) {
    this.#world = world;
  }

  /** The states that a caller sees in place of the shared one; undefined if it sees that. */
  of(base: EngineState, caller: Caller | undefined): Promise<readonly EngineState[]> | undefined {
    const part = seenPart(base, caller);
    return part && Promise.all(slicesOf(part).map((slice) => this.#keep(base, slice).building));
  }

  /** The same for a caller whose states were built before. Throws if one was not: nothing else may take its place. */
  now(base: EngineState, caller: Caller | undefined): readonly EngineState[] | undefined {
    const part = seenPart(base, caller);
    return part && slicesOf(part).map((slice) => this.#kept.get(base)?.get(keyOf(slice))?.state ?? notBuilt());
  }

  /** Builds what was in use on a new configuration, so that running calls are decided by it. */
  async follow(next: EngineState, before: EngineState | undefined): Promise<void> {
    const used = before && this.#kept.get(before);
    const slices = [...(used?.keys() ?? [])].map((key) => JSON.parse(key) as Slice);
    const known = slices.filter(({ profile }) => profile === null || next.profiles.has(profile));
    await Promise.all(known.map((slice) => this.#keep(next, slice).building));
    if (before) this.stop(before);
  }

  /** Follows the change of a list that one user sees. */
  changed(base: EngineState, server: string, owner: string): void {
    for (const state of this.ofUsers(base)) if (state.sight?.owner === owner) state.discovery.changed(server);
  }

  /** The states of single users that were made from this one. */
  ofUsers(base: EngineState): EngineState[] {
    return [...(this.#kept.get(base)?.values() ?? [])].flatMap(({ state }) =>
      state?.sight?.owner === undefined ? [] : state,
    );
  }

  /** Forgets the lists of one server, or of all. */
  async forget(base: EngineState, server?: string): Promise<void> {
    const states = [...(this.#kept.get(base)?.values() ?? [])].flatMap(({ state }) => state ?? []);
    await Promise.all(states.map(({ catalog }) => catalog.forget(server)));
  }

  /** Ends the refreshes of the states that were made from this one. */
  stop(base: EngineState): void {
    this.#stopped.add(base);
    for (const { state } of this.#kept.get(base)?.values() ?? []) state?.discovery.stop();
  }

  #keep(base: EngineState, slice: Slice): Kept {
    const all = this.#kept.get(base) ?? new Map<string, Kept>();
    this.#kept.set(base, all);
    const key = keyOf(slice);
    const known = all.get(key);
    if (known) {
      // The users idle longest are forgotten first.
      all.delete(key);
      all.set(key, known);
      return known;
    }
    const kept: Kept = { building: this.#build(base, slice), state: undefined };
    all.set(key, kept);
    kept.building.then(
      (state) => {
        kept.state = state;
        if (this.#stopped.has(base)) state.discovery.stop();
        if (slice.owner !== null) makeRoom(all);
      },
      // The next caller tries again.
      () => all.delete(key),
    );
    return kept;
  }

  async #build(base: EngineState, { profile, owner, isShared }: Slice): Promise<EngineState> {
    const part = profile === null ? undefined : base.profiles.get(profile);
    const { rules = base.rules, hasServer } = part ?? {};
    const mine = [...base.servers].filter(
      ([name]) =>
        (hasServer?.(name) ?? true) && (isShared ? owner === null || !base.owned.has(name) : base.owned.has(name)),
    );
    const sight = { profile: profile ?? undefined, owner: isShared ? undefined : (owner ?? undefined) };
    const narrowing = { servers: new Map(mine), rules, approvals: base.approvals, sight };
    const onChange = (server: string) => this.#world.onChange?.(server, sight);
    if (!isShared) {
      const list: DiscoveryWorld['list'] = (definition, caller, since) =>
        this.#world.list(definition, { ...caller, principal: sight.owner }, since);
      return narrowState(base, narrowing, { ...this.#world, list, onChange });
    }
    const state = narrowState(base, { ...narrowing, lists: base.discovery }, { ...this.#world, onChange });
    const turns = new Semaphore(LIMITS.atOnce.files);
    await Promise.all(mine.map(([name]) => turns.run(() => base.catalog.load(name))));
    await state.catalog.inherit(base.catalog);
    return state;
  }
}

/** What one state has: the shared servers, or those of one user. As it is written in a key. */
interface Slice {
  readonly profile: string | null;
  /** The user; of a shared slice, anybody with credentials of its own. */
  readonly owner: string | null;
  readonly isShared: boolean;
}

const slicesOf = ({ profile = null, principal = null }: Nullable<SeenPart>): readonly Slice[] =>
  principal === null
    ? [{ profile, owner: null, isShared: true }]
    : [
        { profile, owner: '', isShared: true },
        { profile, owner: principal, isShared: false },
      ];

type Nullable<T> = { readonly [K in keyof T]: T[K] | null };

const keyOf = ({ profile, owner, isShared }: Slice): string => JSON.stringify({ profile, owner, isShared });

function makeRoom(all: Map<string, Kept>): void {
  for (const [key, { state }] of all) {
    if (all.size <= LIMITS.atOnce.users) return;
    if (state?.sight?.owner === undefined) continue;
    state.discovery.stop();
    all.delete(key);
  }
}

function notBuilt(): never {
  throw new DiscoveryError('SERVER_UNAVAILABLE', 'The configuration is being replaced. Call again.', {
    outcome: 'not_sent',
    retryable: true,
  });
}
