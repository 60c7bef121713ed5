/**
 * Holds what the catalogue knows of one server: its line in the index, and its definitions if they are in memory.
 * @module
 */
import type { SourceDefinition } from '../core/tool-provider.ts';
import type { Introduction, ServerItems, ToolDefinition } from '../core/types.ts';
import { type IndexEntry, nothingKnown } from './index-file.ts';
import { about, type Listing, listingOf, type Words } from './listing.ts';
import type { ToolMetadataStore } from './tool-metadata-store.ts';

export const NO_ITEMS: ServerItems = { resources: [], resourceTemplates: [], prompts: [] };

export class CatalogEntry {
  readonly definition: SourceDefinition;
  readonly fingerprint: string;
  /** Whether the saved index matches the server as it is now. */
  readonly isIndexed: boolean;
  state: IndexEntry;
  tools: ReadonlyMap<string, ToolDefinition> | undefined;
  /** Resources and prompts, in memory together with the tools. */
  items = NO_ITEMS;
  /** What the server says of itself, in memory together with the tools. */
  introduction: Introduction | undefined;
  /** Whether tools were left out of the list. */
  hasHidden = false;
  /** The last change to this server. */
  #turn: Promise<unknown> = Promise.resolve();

  /** `known` is the server's line in the saved index, which counts if the approvals are still the same. */
  constructor(
    definition: SourceDefinition,
    fingerprint: string,
    known: IndexEntry | undefined,
    approvals: string | undefined,
  ) {
    this.definition = definition;
    this.fingerprint = fingerprint;
    const isUsable =
      known?.fingerprint === fingerprint &&
      known.approvals === approvals &&
      (known.fetchedAt > 0 || definition.tools.length > 0);
    this.isIndexed = isUsable;
    this.state = isUsable ? known : nothingKnown(definition.name, fingerprint);
  }

  /** Whether the server's tools are known, from a list, the cache or the configuration. */
  get isSeen(): boolean {
    return this.state.fetchedAt > 0 || this.definition.tools.length > 0;
  }

  /** The server's description in one line. */
  get about(): string {
    return about(this.definition, this.state);
  }

  /** The server's list, rebuilt from memory. */
  get listing(): Listing | undefined {
    if (!this.tools || this.state.fetchedAt === 0) return undefined;
    const { tools, items, introduction } = this;
    return listingOf(this.state, { tools: [...tools.values()], items, introduction });
  }

  /** The server's line for a list. Counts the tools that are in memory. */
  lineFor(
    { fetchedAt, serverVersion, verdict, incomplete, isCut, interactive, skipped }: Listing,
    { title, instructions }: Words,
    digest: string | undefined,
    approvals: string | undefined,
    counts: ToolMetadataStore,
  ): IndexEntry {
    const { name } = this.definition;
    const { state, tools } = this;
    return {
      name,
      fingerprint: this.fingerprint,
      fetchedAt,
      toolCount: tools ? counts.getToolCount(name) : state.toolCount,
      enabledCount: tools ? counts.getEnabledCount(name) : state.enabledCount,
      unapprovedCount: (tools ? counts.getUnapprovedCount(name) : state.unapprovedCount) || undefined,
      approvals,
      digest,
      title,
      serverVersion,
      instructions,
      verdict,
      ...(skipped.length > 0 && { skipped: skipped.length }),
      incomplete,
      isCut,
      interactive,
    };
  }

  /** Changes the server after all earlier changes to it. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => {});
    return mine;
  }
}
