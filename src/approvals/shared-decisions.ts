/**
 * Keeps the decisions on one server program together with other replicas. Each replica keeps its own record, too: what is
 * known anywhere counts everywhere, and a loss of what is shared undoes nothing.
 *
 * While the others cannot be asked, earlier decisions count, and nothing new is approved.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { ToolDefinition } from '../core/types.ts';
import { type ApprovedTools, type DecisionRecord, type Decisions, decisionsIn, textOf } from './approval-file.ts';

/** What replicas share, by identity. */
export interface SharedApprovals {
  /** Whether the others cannot be asked now. */
  readonly isAway: boolean;
  /** Asks the others. What was heard before stays known while they cannot be asked. */
  hear(identities: Iterable<string>): Promise<void>;
  /** What was heard last. */
  known(identity: string): Uint8Array | undefined;
  /**
   * Runs an edit that no other replica makes at the same time. What it returns is written and announced. Rejects while the
   * others cannot be asked.
   */
  change(identity: string, edit: (bytes: Uint8Array | undefined) => Promise<Uint8Array | undefined>): Promise<void>;
}

export class SharedDecisions implements DecisionRecord {
  readonly #own: DecisionRecord;
  readonly #shared: SharedApprovals;
  readonly #identity: string;

  constructor(own: DecisionRecord, shared: SharedApprovals, identity: string) {
    this.#own = own;
    this.#shared = shared;
    this.#identity = identity;
  }

  read(): Decisions {
    const own = this.#own.read();
    const others = serversIn(this.#shared.known(this.#identity));
    if (!others) return own;
    const servers = new Map([...own.servers].map(([name, tools]) => [name, new Map(tools)]));
    merge(servers, others);
    return { servers, isRestored: own.isRestored };
  }

  async change(
    server: string,
    edit: (decisions: Decisions) => readonly ToolDefinition[] | undefined,
    isByPerson: boolean,
  ): Promise<Decisions> {
    let changed: Decisions | undefined;
    const work = async (bytes: Uint8Array | undefined) => {
      const others = serversIn(bytes);
      let isEdited = others === undefined;
      changed = await this.#own.change(
        server,
        (decisions) => {
          const isNews = others !== undefined && merge(decisions.servers, others);
          const approved = edit(decisions);
          isEdited ||= approved !== undefined;
          return approved ?? (isNews ? [] : undefined);
        },
        isByPerson,
      );
      return isEdited ? Buffer.from(textOf(changed, 0)) : undefined;
    };
    try {
      await this.#shared.change(this.#identity, work);
    } catch (error) {
      if (isByPerson) throw error;
      // Nothing is pinned that another replica may hold back.
      changed ??= { ...this.read(), problem: AWAY };
    }
    return changed as Decisions;
  }

  definition(server: string, tool: string): Promise<ToolDefinition | undefined> {
    return this.#own.definition(server, tool);
  }
}

const AWAY =
  'The approvals that replicas share cannot be read now. Until they can, no tool is approved that was not approved before.';

const serversIn = (bytes: Uint8Array | undefined): Decisions['servers'] | undefined =>
  bytes && decisionsIn(JSON.parse(Buffer.from(bytes).toString('utf8')))?.servers;

/** Adds what others have decided. Resolves with whether there was anything new. */
function merge(servers: Map<string, ApprovedTools>, others: Decisions['servers']): boolean {
  let isNews = false;
  for (const [server, theirs] of others) {
    const tools: ApprovedTools = servers.get(server) ?? new Map();
    servers.set(server, tools);
    for (const [tool, pins] of theirs) {
      const known = tools.get(tool);
      const unknown = pins.filter((pin) => !known?.includes(pin));
      if (known && unknown.length === 0) continue;
      isNews = true;
      tools.set(tool, [...(known ?? []), ...unknown].slice(-LIMITS.approvals.pins));
    }
  }
  return isNews;
}
