/**
 * Reads and writes the approvals of one server program in `<state folder>/approvals/`. A number beside the folder counts
 * the writes, so that a file that was deleted or put back from a backup is noticed: nothing is then pinned on sight.
 * @module
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { LIMITS } from '../core/limits.ts';
import type { ToolDefinition } from '../core/types.ts';
import { withLock } from '../disk/file-lock.ts';
import { copyBeside, writeAtomically } from '../disk/write-atomically.ts';
import { isObject } from '../json/plain-object.ts';

/** Approved pins by tool. A tool without pins was seen and not approved. */
export type ApprovedTools = Map<string, readonly string[]>;

/** What was decided on the tools of one program. */
export interface Decisions {
  /** By the server's name in the configuration. */
  readonly servers: Map<string, ApprovedTools>;
  /** Earlier decisions may be missing, so nothing is pinned on sight any more. */
  readonly isRestored: boolean;
  /** Why the file cannot be used. Nothing is approved then. */
  readonly problem?: string | undefined;
}

interface Stored extends Decisions {
  readonly writes: number;
}

/** Where the decisions on one program are kept. */
export interface DecisionRecord {
  /** Reads the decisions. Never throws: what cannot be used is a problem, and nothing is approved. */
  read(): Decisions;
  /**
   * Changes the decisions of a server and returns all of them.
   * @param edit returns the definitions that it approved, or undefined when there is nothing to write
   * @param isByPerson damaged decisions are replaced, and a copy of them stays; else they are left alone
   */
  change(
    server: string,
    edit: (decisions: Decisions) => readonly ToolDefinition[] | undefined,
    isByPerson: boolean,
  ): Promise<Decisions>;
  /** Returns the definition of a tool that was approved last, if it was kept. */
  definition(server: string, tool: string): Promise<ToolDefinition | undefined>;
}

/** Keeps decisions for the life of a process, for an engine that touches no disk. */
export class ApprovalMemory implements DecisionRecord {
  readonly #decisions: Decisions;
  readonly #definitions: Definitions = new Map();

  constructor(decisions: Decisions = { servers: new Map(), isRestored: false }) {
    this.#decisions = decisions;
  }

  read(): Decisions {
    return this.#decisions;
  }

  async change(
    server: string,
    edit: (decisions: Decisions) => readonly ToolDefinition[] | undefined,
  ): Promise<Decisions> {
    const tools = this.#definitions.get(server) ?? new Map<string, ToolDefinition>();
    this.#definitions.set(server, tools);
    const approved = this.#decisions.problem === undefined ? edit(this.#decisions) : undefined;
    for (const definition of approved ?? []) tools.set(definition.name, definition);
    return this.#decisions;
  }

  async definition(server: string, tool: string): Promise<ToolDefinition | undefined> {
    return this.#definitions.get(server)?.get(tool);
  }
}

/** The last approved definition by server and tool, for the next diff. */
type Definitions = Map<string, Map<string, ToolDefinition>>;

export class ApprovalFile implements DecisionRecord {
  readonly path: string;
  readonly #folder: string;
  readonly #key: string;

  /** @param key from `keyOf`; the name of the file */
  constructor(folder: string, key: string) {
    this.#folder = folder;
    this.#key = key;
    this.path = join(folder, 'approvals', `${key}.json`);
  }

  get #definitions(): string {
    return join(this.#folder, 'approvals', `${this.#key}.definitions.json`);
  }

  get #count(): string {
    return join(this.#folder, 'approvals-seen', this.#key);
  }

  /** Synchronous, because files are many and small: a start reads that of every server. */
  read(): Decisions {
    const { writes, ...decisions } = this.#read();
    if (decisions.problem !== undefined || decisions.servers.size > 0 || writes === this.#written()) return decisions;
    return {
      ...decisions,
      isRestored: true,
      problem: `${this.path} is gone. Nothing of it is approved any more; ${AGAIN}.`,
    };
  }

  /** Changes the file under a lock. */
  change(
    server: string,
    edit: (decisions: Decisions) => readonly ToolDefinition[] | undefined,
    isByPerson: boolean,
  ): Promise<Decisions> {
    return withLock(this.path, async () => {
      const { problem, ...stored } = this.#read();
      if (problem !== undefined) {
        if (!isByPerson) return { ...stored, problem };
        await copyBeside(this.path);
      }
      const written = this.#written();
      const isRestored = stored.isRestored || problem !== undefined || stored.writes !== written;
      const decisions: Decisions = { servers: stored.servers, isRestored };
      const approved = edit(decisions);
      if (approved === undefined) return decisions;
      const writes = Math.max(stored.writes, Number.isNaN(written) ? 0 : written) + 1;
      if (approved.length > 0) await this.#keep(server, approved);
      // The number first: if the process ends here, the file counts as restored, and nothing is approved by that.
      await writeAtomically(this.#count, `${writes}\n`);
      await writeAtomically(this.path, textOf(decisions, writes));
      return decisions;
    });
  }

  async definition(server: string, tool: string): Promise<ToolDefinition | undefined> {
    return this.#kept().get(server)?.get(tool);
  }

  #read(): Stored {
    const none = { servers: new Map<string, ApprovedTools>(), isRestored: false, writes: 0 };
    try {
      const text = textIn(this.path);
      if (text === undefined) return none;
      return decisionsIn(JSON.parse(text)) ?? { ...none, problem: this.#damaged('it has another format') };
    } catch (error) {
      return { ...none, problem: this.#damaged(error instanceof Error ? error.message : String(error)) };
    }
  }

  #damaged(why: string): string {
    return `${this.path} cannot be read: ${why}. Nothing of it is approved; ${AGAIN}.`;
  }

  /** How often the file was written; NaN if the number cannot be read. */
  #written(): number {
    try {
      const text = textIn(this.#count);
      return text === undefined ? 0 : /^\d{1,15}\n$/.test(text) ? Number(text) : Number.NaN;
    } catch {
      return Number.NaN;
    }
  }

  async #keep(server: string, definitions: readonly ToolDefinition[]): Promise<void> {
    const kept = this.#kept();
    const tools = kept.get(server) ?? new Map<string, ToolDefinition>();
    kept.set(server, tools);
    for (const definition of definitions) {
      tools.delete(definition.name);
      if (JSON.stringify(definition).length <= LIMITS.approvals.keptDefinition) tools.set(definition.name, definition);
    }
    const document = Object.fromEntries([...kept].map(([name, tools]) => [name, Object.fromEntries(tools)]));
    await writeAtomically(this.#definitions, `${JSON.stringify(document)}\n`);
  }

  /** Definitions only explain, so a damaged file counts as none. */
  #kept(): Definitions {
    try {
      const document: unknown = JSON.parse(textIn(this.#definitions) ?? '{}');
      return new Map(
        entriesOf(document).map(([server, tools]) => [
          server,
          new Map(entriesOf(tools).filter((entry): entry is [string, ToolDefinition] => isDefinition(entry[1]))),
        ]),
      );
    } catch {
      return new Map();
    }
  }
}

const AGAIN = 'look at the tools with `anygpt mcp pending` and approve them again with `anygpt mcp approve`';

function textIn(path: string): string | undefined {
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? {};
  if (size === undefined) return undefined;
  if (size > LIMITS.approvals.fileBytes) throw new Error(`it has ${size} bytes, more than this program writes`);
  return readFileSync(path, 'utf8');
}

const KEY_LENGTH = 32;

/** A program or address as the name of a file. */
export const keyOf = (identity: string): string =>
  createHash('sha256').update(identity, 'utf16le').digest('hex').slice(0, KEY_LENGTH);

/** The keys of the programs of which decisions were ever kept; undefined if the folders cannot be listed. */
export function keptKeys(folder: string): ReadonlySet<string> | undefined {
  try {
    const folders = ['approvals', 'approvals-seen'].map((name) => join(folder, name));
    const names = folders.flatMap((path) => (statSync(path, { throwIfNoEntry: false }) ? readdirSync(path) : []));
    return new Set(names.map((name) => name.slice(0, KEY_LENGTH)));
  } catch {
    return undefined;
  }
}

export function textOf({ servers, isRestored }: Decisions, writes: number): string {
  const document = {
    version: 1,
    writes,
    ...(isRestored && { restored: true }),
    servers: Object.fromEntries([...servers].map(([name, tools]) => [name, Object.fromEntries(tools)])),
  };
  return `${JSON.stringify(document, null, 1)}\n`;
}

/** Reads decisions from a document; undefined if it has another format. */
export function decisionsIn(document: unknown): Stored | undefined {
  if (!isObject(document) || document.version !== 1 || !isObject(document.servers)) return undefined;
  const { writes } = document;
  if (!Number.isSafeInteger(writes)) return undefined;
  const servers = new Map<string, ApprovedTools>();
  for (const [name, tools] of Object.entries(document.servers)) {
    const entries = entriesOf(tools);
    if (!isObject(tools) || !entries.every((entry): entry is [string, string[]] => isPins(entry[1]))) return undefined;
    servers.set(name, new Map(entries));
  }
  return { servers, isRestored: document.restored === true, writes: writes as number };
}

const entriesOf = (value: unknown): [string, unknown][] => (isObject(value) ? Object.entries(value) : []);
const isPins = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((pin) => typeof pin === 'string' && /^[0-9a-f]{64}$/.test(pin));
const isDefinition = (value: unknown): value is ToolDefinition =>
  isObject(value) && typeof value.name === 'string' && isObject(value.inputSchema);
