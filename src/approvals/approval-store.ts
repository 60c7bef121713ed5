/**
 * Remembers which tool definitions a person has approved, across processes and restarts. Decisions belong to a server's
 * name and program; a definition is approved only by a person, by the first list of a server that is pinned on sight,
 * or by `approval: 'off'`.
 * @module
 */
import { createHash } from 'node:crypto';
import { type ApprovalMode, type ApprovalStatus, statusFor } from '../core/approval-mode.ts';
import { LIMITS } from '../core/limits.ts';
import type { ToolDefinition } from '../core/types.ts';
import {
  ApprovalFile,
  ApprovalMemory,
  type ApprovedTools,
  type DecisionRecord,
  type Decisions,
  keptKeys,
  keyOf,
} from './approval-file.ts';
import { pinOf } from './pin.ts';
import { type SharedApprovals, SharedDecisions } from './shared-decisions.ts';

/** A server whose definitions are judged. */
export interface ApprovalSource {
  /** Its name in the configuration. */
  readonly server: string;
  /** The program with its arguments, or the address. */
  readonly identity: string;
  /** From `modeOf`. */
  readonly mode: ApprovalMode;
  /** The server came with a project, so no rule approves anything of it. */
  readonly isProjects?: boolean | undefined;
}

export class ApprovalStore {
  readonly #folder: string | undefined;
  readonly #shared: () => SharedApprovals | undefined;
  /** What is kept in memory, because there is no folder or it cannot be written. By identity. */
  readonly #memories = new Map<string, ApprovalMemory>();
  /** Why decisions are kept in memory although there is a folder. */
  #unwritten: string | undefined;
  /** By identity. What was not read is not approved. */
  readonly #decisions = new Map<string, Decisions>();
  /** Digests of these decisions, by source. */
  readonly #digests = new Map<string, string>();

  /**
   * @param folder the state folder, `~/.anygpt`; undefined: decisions are kept for the life of this object
   * @param shared what other replicas have decided
   */
  constructor(folder: string | undefined, shared: () => SharedApprovals | undefined = () => undefined) {
    this.#folder = folder;
    this.#shared = shared;
  }

  /** Asks what other replicas have decided on these servers, for `read`. */
  async hear(sources: Iterable<ApprovalSource>): Promise<void> {
    await this.#shared()?.hear(identitiesOf(sources));
  }

  /** Other replicas share their decisions, and cannot be asked now. */
  get isAway(): boolean {
    return this.#shared()?.isAway === true;
  }

  /** Reads what was decided on these servers, also by other processes since the last time. Never throws. */
  read(sources: Iterable<ApprovalSource>): void {
    const identities = identitiesOf(sources);
    const kept = this.#folder === undefined ? undefined : keptKeys(this.#folder);
    this.#digests.clear();
    for (const identity of identities) {
      const isKept =
        this.#memories.has(identity) || this.#shared() !== undefined || kept?.has(keyOf(identity)) !== false;
      this.#decisions.set(identity, isKept ? this.#record(identity).read() : nothingDecided());
    }
  }

  /** Returns the status of a definition, from what was read. Pins are computed once per definition object. */
  statusOf({ server, identity, mode }: ApprovalSource, definition: ToolDefinition): ApprovalStatus {
    if (mode === 'off') return 'approved';
    const approved = this.#decisions.get(identity)?.servers.get(server)?.get(definition.name);
    // Most servers under review have no pins yet: nothing is hashed for them.
    return statusFor(mode, approved, approved?.length ? pinOf(definition) : undefined);
  }

  /** Returns why nothing of some files is approved, as sentences for people. */
  problems(): string[] {
    const read = [...this.#decisions.values()].flatMap(({ problem }) => problem ?? []);
    return this.#unwritten === undefined ? read : [...read, this.#unwritten];
  }

  /** Tells whether a list has tools of which nothing is known, or is the first one although it may be empty. */
  isNews({ server, identity, mode }: ApprovalSource, definitions: readonly ToolDefinition[], isFull = false): boolean {
    const known = this.#decisions.get(identity)?.servers.get(server);
    // Only a first list is pinned by this mode, so it must be known to have been there.
    const isFirst = isFull && known === undefined && mode === 'new';
    return mode !== 'off' && (isFirst || definitions.some((definition) => isNew(known, definition)));
  }

  /**
   * Records a complete list that a server gave: pins what its mode pins on sight, and remembers every other tool as seen,
   * so that it is not pinned later. To be called before `statusOf` is asked about the list. An empty list does not
   * count, unless it is said to be full. Resolves with whether anything was decided.
   * @param isHeld tells which definitions need a person even though they would be pinned on sight
   */
  async sight(
    source: ApprovalSource,
    definitions: readonly ToolDefinition[],
    isHeld: (definition: ToolDefinition) => boolean = () => false,
    isFull = false,
  ): Promise<boolean> {
    const { mode } = source;
    if (!this.isNews(source, definitions, isFull)) return false;
    await this.#change(source, false, (tools, { isFirst, isRestored, others }) => {
      const unknown = definitions.filter((definition) => isNew(tools, definition));
      if (!isFirst && unknown.length === 0) return undefined;
      return unknown.filter((definition) => {
        const { name } = definition;
        if (tools.has(name)) return false;
        const isPinnedOnSight = mode === 'changed' || (mode === 'new' && isFirst);
        const pin = isPinnedOnSight && !isRestored && !isHeld(definition) ? pinOf(definition) : undefined;
        // What waits for a person under another name of the same program waits here too.
        const elsewhere = others.flatMap((other) => other.get(name) ?? []);
        const isUnheardOf = !others.some((other) => other.has(name));
        const isPinned = pin !== undefined && (isUnheardOf || elsewhere.includes(pin));
        tools.set(name, isPinned ? [pin] : []);
        return isPinned;
      });
    });
    return true;
  }

  /**
   * Approves definitions, exactly as they are handed in: those that the person has seen. Returns the names of those that
   * cannot be approved because they are too large to pin. Disk errors are STORAGE_ERROR.
   */
  async approve(source: ApprovalSource, definitions: readonly ToolDefinition[]): Promise<string[]> {
    const pinned = definitions.filter((definition) => pinOf(definition) !== undefined);
    if (pinned.length > 0)
      await this.#change(source, true, (tools) => {
        for (const definition of pinned) {
          const pin = pinOf(definition) as string;
          const earlier = (tools.get(definition.name) ?? []).filter((one) => one !== pin);
          tools.set(definition.name, [...earlier, pin].slice(-LIMITS.approvals.pins));
        }
        return pinned;
      });
    return definitions.filter((definition) => !pinned.includes(definition)).map(({ name }) => name);
  }

  /** Returns the definition that was approved last, for a diff. It was not kept if it is very long. */
  approvedDefinition({ server, identity }: ApprovalSource, tool: string): Promise<ToolDefinition | undefined> {
    return this.#file(identity).definition(server, tool);
  }

  /** Returns a digest of all decisions on these servers, for caches that hold only approved tools. */
  digest(sources: Iterable<ApprovalSource>): string {
    const hash = createHash('sha256');
    for (const source of sources) hash.update(this.#digestOf(source));
    return hash.digest('hex').slice(0, 32);
  }

  #digestOf({ server, identity, mode }: ApprovalSource): string {
    const key = JSON.stringify([server, mode, mode !== 'off' && identity]);
    const tools = mode === 'off' ? undefined : this.#decisions.get(identity)?.servers.get(server);
    if (tools === undefined) return key;
    const digest =
      this.#digests.get(key) ??
      createHash('sha256')
        .update(JSON.stringify([...tools]))
        .digest('hex');
    this.#digests.set(key, digest);
    return key + digest;
  }

  #record(identity: string): DecisionRecord {
    const memory = this.#memories.get(identity);
    return memory ? this.#together(identity, memory) : this.#file(identity);
  }

  #file(identity: string): DecisionRecord {
    return this.#together(identity, this.#own(identity));
  }

  #together(identity: string, own: DecisionRecord): DecisionRecord {
    const shared = this.#shared();
    return shared ? new SharedDecisions(own, shared, identity) : own;
  }

  #own(identity: string): DecisionRecord {
    if (this.#folder !== undefined) return new ApprovalFile(this.#folder, keyOf(identity));
    const memory = this.#memories.get(identity) ?? new ApprovalMemory();
    this.#memories.set(identity, memory);
    return memory;
  }

  async #change(
    { server, identity }: ApprovalSource,
    isByPerson: boolean,
    edit: (tools: ApprovedTools, before: Before) => readonly ToolDefinition[] | undefined,
  ): Promise<void> {
    const change = ({ servers, isRestored }: Decisions) => {
      const isFirst = !servers.has(server);
      const others = [...servers].filter(([name]) => name !== server).map(([, tools]) => tools);
      const tools: ApprovedTools = servers.get(server) ?? new Map();
      servers.set(server, tools);
      return edit(tools, { isFirst, isRestored, others });
    };
    const keep = async (record: DecisionRecord): Promise<void> => {
      this.#decisions.set(identity, await record.change(server, change, isByPerson));
      this.#digests.clear();
    };
    if (isByPerson) await keep(this.#file(identity));
    else
      await keep(this.#record(identity)).catch(async (error: Error) => {
        // A disk that cannot be written disables no tools: this process continues with what it can read.
        const memory = new ApprovalMemory(this.#file(identity).read());
        this.#memories.set(identity, memory);
        this.#unwritten = `Approvals are kept only until this process ends: ${error.message}`;
        await keep(memory);
      });
  }
}

const identitiesOf = (sources: Iterable<ApprovalSource>): ReadonlySet<string> =>
  new Set([...sources].filter(({ mode }) => mode !== 'off').map(({ identity }) => identity));

/** What was known before a change. */
interface Before {
  /** Nothing was known of this server. */
  readonly isFirst: boolean;
  readonly isRestored: boolean;
  /** The tools of the same program under other names. */
  readonly others: readonly ApprovedTools[];
}

const isNew = (tools: ApprovedTools | undefined, { name }: ToolDefinition): boolean =>
  tools === undefined || (!tools.has(name) && tools.size < LIMITS.approvals.tools);

const nothingDecided = (): Decisions => ({ servers: new Map(), isRestored: false });
