/**
 * Knows the approvals of the servers of one configuration. Servers that need none are not in it, so they cost nothing.
 * @module
 */
import type { ApprovalStatus } from '../core/approval-mode.ts';
import { itemIn } from '../core/item-definition.ts';
import { LIMITS } from '../core/limits.ts';
import type { ToolDefinition } from '../core/types.ts';
import type { ApprovalSource, ApprovalStore } from './approval-store.ts';
import { pinOf } from './pin.ts';

export class Approvals {
  readonly #store: ApprovalStore;
  readonly #sources: ReadonlyMap<string, ApprovalSource>;
  /** The decisions on resources and prompts are kept apart, because a tool may have any name. */
  readonly #items: ReadonlyMap<string, ApprovalSource>;

  readonly #opened: string;
  /** Pins of definitions in which the scanner found nothing, by server. */
  readonly #clean = new Map<string, Set<string>>();

  private constructor(store: ApprovalStore, sources: readonly ApprovalSource[]) {
    this.#store = store;
    this.#sources = new Map(sources.map((source) => [source.server, source]));
    this.#items = new Map(sources.map((source) => [source.server, ofItems(source)]));
    this.#opened = store.digest(this.#all());
  }

  /** Reads what was decided so far, also by other processes. */
  static async open(store: ApprovalStore, sources: readonly ApprovalSource[]): Promise<Approvals> {
    const all = [...sources, ...sources.map(ofItems)];
    await store.hear(all);
    store.read(all);
    return new Approvals(store, sources);
  }

  statusOf(server: string, definition: ToolDefinition): ApprovalStatus {
    const source = this.#sourceOf(server, definition);
    return source === undefined ? 'approved' : this.#store.statusOf(source, definition);
  }

  /** Tells whether a rule may approve a definition: always, or once the scanner has found nothing in it. */
  mayFollowRule(server: string, definition: ToolDefinition, always: boolean): boolean {
    const source = this.#sources.get(server);
    const pin = source === undefined || source.isProjects ? undefined : pinOf(definition);
    return pin !== undefined && (always || this.#clean.get(server)?.has(pin) === true);
  }

  /** Records that the scanner found nothing in these definitions. */
  vouch(server: string, definitions: readonly ToolDefinition[]): void {
    const known = this.#clean.get(server) ?? new Set();
    const clean = known.size + definitions.length > LIMITS.approvals.tools ? new Set<string>() : known;
    this.#clean.set(server, clean);
    for (const definition of definitions) clean.add(pinOf(definition) ?? '');
  }

  /**
   * Records a complete list of a server: of its tools, or of its items. Resolves with whether anything was decided. See
   * `ApprovalStore.sight`.
   * @param holds called only if something may be pinned: tells which definitions need a person all the same
   * @param isFull even an empty list is the first one
   */
  async sight(
    server: string,
    part: 'tools' | 'items',
    definitions: readonly ToolDefinition[],
    holds: () => Promise<(definition: ToolDefinition) => boolean>,
    isFull = false,
  ): Promise<boolean> {
    const source = (part === 'items' ? this.#items : this.#sources).get(server);
    if (source === undefined || !this.#store.isNews(source, definitions, isFull)) return false;
    return this.#store.sight(source, definitions, source.mode === 'all' ? undefined : await holds(), isFull);
  }

  /** Approves definitions as they are handed in. See `ApprovalStore.approve`. */
  async approve(server: string, definitions: readonly ToolDefinition[]): Promise<readonly string[]> {
    const [source, items] = [this.#sources.get(server), this.#items.get(server)];
    if (source === undefined || items === undefined) return [];
    const isItem = (definition: ToolDefinition): boolean => itemIn(definition) !== undefined;
    return [
      ...(await this.#store.approve(
        source,
        definitions.filter((one) => !isItem(one)),
      )),
      ...(await this.#store.approve(items, definitions.filter(isItem))),
    ];
  }

  /** The definition that was approved last. */
  async approvedDefinition(server: string, definition: ToolDefinition): Promise<ToolDefinition | undefined> {
    const source = this.#sourceOf(server, definition);
    return source && this.#store.approvedDefinition(source, definition.name);
  }

  /** Identifies the decisions on a server, for caches that hold only what is approved of it. */
  digestOf(server: string): string | undefined {
    const [source, items] = [this.#sources.get(server), this.#items.get(server)];
    return source && items && this.#store.digest([source, items]);
  }

  /** Reads what other processes have decided, and resolves with whether anything has changed since this was opened. */
  async hasChanged(): Promise<boolean> {
    await this.#store.hear(this.#all());
    this.#store.read(this.#all());
    return this.#opened !== this.#store.digest(this.#all());
  }

  /** What other replicas have approved cannot be read now. */
  get isAway(): boolean {
    return this.#store.isAway;
  }

  #all(): ApprovalSource[] {
    return [...this.#sources.values(), ...this.#items.values()];
  }

  #sourceOf(server: string, definition: ToolDefinition): ApprovalSource | undefined {
    return (itemIn(definition) ? this.#items : this.#sources).get(server);
  }

  /** Why nothing of some servers is approved, as sentences for people. */
  get problems(): readonly string[] {
    return this.#store.problems();
  }
}

const ofItems = (source: ApprovalSource): ApprovalSource => ({ ...source, identity: `${source.identity}\0items` });
