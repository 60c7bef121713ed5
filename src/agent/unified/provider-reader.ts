/**
 * Reads the list of one provider and the definition of each tool, for the table. A tool that cannot be described is left
 * out and the others stay. A reading that outlasts its callers' patience goes on in the background.
 * @module
 */

import { ageSince } from '../../async/clock.ts';
import { Semaphore } from '../../async/semaphore.ts';
import { limitTime, waitAtMost } from '../../async/time-limit.ts';
import { ListKeeper, type Reading } from '../../catalog/list-keeper.ts';
import { DiscoveryError } from '../../core/errors.ts';
import { DEFAULTS, LIMITS } from '../../core/limits.ts';
import type { ToolProvider, ToolSummary } from '../../core/tool-provider.ts';
import type { ToolDefinition } from '../../core/types.ts';
import { maskCredentials } from '../../secrets/credential-patterns.ts';
import { oneLine } from '../../text/plain-text.ts';
import { messageOf, thrownAs } from '../../text/thrown-message.ts';
import { checkDefinition, checkList, definitionOf } from '../registry/check-list.ts';
import { toCallToolResult } from '../registry/handler-result.ts';
import { outsideRequests } from '../registry/request-scope.ts';
import type { ExcludedTool, OwnTool, Provided } from './tool-table.ts';

export interface ProviderReaderOptions {
  readonly ttlMs: number;
  readonly now: () => number;
  /** How long a list may take, and how long anybody waits for it and all definitions. */
  readonly patienceMs: number;
  /** How long a call may take. */
  readonly callMs: number;
  readonly publish: (provided: Provided) => void;
}

/** Whether somebody asked for the tools, or is only looking for one. */
export type Wanted = 'list' | 'tool';

/** How asking a provider went. */
export interface ProviderRead {
  /** Whether the table may show something else than before. */
  readonly changed: boolean;
  readonly failure: DiscoveryError | undefined;
}

interface Described {
  readonly tool: OwnTool;
  readonly at: number;
}

/** How far a reading has come. */
interface Progress {
  readonly tools: Map<string, Described>;
  /** Undefined until there is a list. */
  total: number | undefined;
}

const LIST = {
  maxTools: DEFAULTS.limits.toolsPerServer,
  maxListBytes: DEFAULTS.provider.listBytes,
  maxToolBytes: DEFAULTS.limits.definition,
};
/** One definition may take half as long as anybody waits, so that one that hangs keeps nobody from the others. */
const DEFINITION_SHARE = 0.5;
/** All definitions together may take so many times as long as anybody waits. */
const ROUNDS = 12;
const FIRST_RETRY_MS = 1_000;
const NOT_DUE: ProviderRead = { changed: false, failure: undefined };

export class ProviderReader {
  readonly name: string;
  readonly #provider: ToolProvider;
  readonly #options: ProviderReaderOptions;
  #known: ReadonlyMap<string, Described> = new Map();
  readonly #keeper: ListKeeper<DiscoveryError>;
  #revision: unknown;
  #progress: Progress = { tools: new Map(), total: undefined };
  /** The reading that a caller has waited for as long as one may. */
  #late: Reading | undefined;
  #isRemoved = false;

  constructor(provider: ToolProvider, options: ProviderReaderOptions) {
    this.#provider = provider;
    this.#options = options;
    const name = attempt(() => provider.name);
    this.name = typeof name === 'string' && name !== '' ? oneLine(name, 64) : 'a provider';
    const { ttlMs, now } = options;
    this.#keeper = new ListKeeper<DiscoveryError>({
      // What is kept is for everybody, so nothing of the request that happens to ask may get into it.
      read: () => outsideRequests(() => this.#readAll()),
      toFailure: (thrown) => this.#failureOf(thrown),
      isStale: (ageMs) => ageMs >= ttlMs,
      retry: { initial: FIRST_RETRY_MS, max: ttlMs },
      now,
    });
  }

  /** Whatever is still being read no longer counts. */
  remove(): void {
    this.#isRemoved = true;
  }

  /** Why not all of its tools are known, if so. */
  get unread(): DiscoveryError | undefined {
    if (this.#isLate) return this.#lateness();
    return this.#known.size === 0 ? this.#keeper.failure : undefined;
  }

  /** Reads what is due, and waits for it as long as one may. Never rejects. */
  async read(wanted: Wanted): Promise<ProviderRead> {
    const keeper = this.#keeper;
    if (!keeper.reading && !this.#isDue(wanted)) return NOT_DUE;
    if (this.#isLate && wanted === 'tool') return NOT_DUE;
    const reading = keeper.read();
    // A provider that looks at this registry while it lists finds the reading settled, and does not wait for itself.
    if (await waitAtMost(reading.done, this.#options.patienceMs))
      return { changed: !keeper.failure, failure: keeper.failure };
    this.#late = reading;
    const { tools } = this.#progress;
    this.#publish(new Map([...this.#known, ...tools]), []);
    return { changed: tools.size > 0, failure: this.#lateness() };
  }

  get #isLate(): boolean {
    return this.#late !== undefined && this.#late === this.#keeper.reading;
  }

  #isDue(wanted: Wanted): boolean {
    if (!Object.is(this.#revisionNow(), this.#revision)) return true;
    return this.#keeper.isDue || (wanted === 'list' && this.#keeper.failure !== undefined);
  }

  #revisionNow(): unknown {
    return attempt(() => this.#provider.revision);
  }

  /** Resolves with whether every tool was described. */
  async #readAll(): Promise<boolean> {
    const progress: Progress = { tools: new Map(), total: undefined };
    this.#progress = progress;
    const { tools } = progress;
    const { patienceMs: ms, ttlMs, now } = this.#options;
    // Read first: what changes while the list is made is in the next one.
    const revision = this.#revisionNow();
    const isSame = Object.is(revision, this.#revision);
    this.#revision = revision;
    const overdue = () => new DiscoveryError('SERVER_CONNECTION_ERROR', `It did not list its tools within ${ms} ms.`);
    const list = await limitTime({ ms, overdue, unwatched: true }, (signal) =>
      this.#provider.listToolMetadata({ signal }),
    );
    const { tools: listed } = checkList(list, LIST);
    progress.total = listed.size;
    const excluded: ExcludedTool[] = [];
    let isWhole = true;
    let isOver = false;
    const one = async (summary: ToolSummary): Promise<void> => {
      const { name: toolName } = summary;
      const before = this.#known.get(toolName);
      try {
        const isFresh = isSame && before !== undefined && ageSince(before.at, now()) < ttlMs;
        const described = isFresh && summary.inputSchema === undefined ? before : await this.#describe(summary, isOver);
        if (described) tools.set(toolName, described);
      } catch (thrown) {
        isWhole &&= thrown instanceof UnusableDefinition;
        if (before) tools.set(toolName, before);
        else excluded.push({ serverName: null, toolName, reason: reasonOf(thrown) });
      }
    };
    const turns = new Semaphore(LIMITS.atOnce.definitions);
    const timer = setTimeout(() => {
      isOver = true;
    }, ms * ROUNDS);
    timer.unref();
    await Promise.all([...listed.values()].map((summary) => turns.run(() => one(summary))));
    clearTimeout(timer);
    // In the order of the list, whoever answered first.
    const ordered = [...listed.keys()].flatMap((name) => {
      const described = tools.get(name);
      return described ? [[name, described] as const] : [];
    });
    this.#known = new Map(ordered);
    this.#publish(this.#known, excluded);
    return isWhole;
  }

  /** The whole of a tool; undefined when it has gone since it was listed. */
  async #describe(summary: ToolSummary, isOver: boolean): Promise<Described | undefined> {
    const { patienceMs, now } = this.#options;
    const ms = patienceMs * DEFINITION_SHARE;
    const { name } = summary;
    const listed = definitionOf(summary);
    if (listed) return { tool: this.#ownTool(listed), at: now() };
    if (isOver) throw new Error('There was no time left to ask for it.');
    const overdue = () => new Error(`It was not described within ${ms} ms.`);
    const found = await limitTime({ ms, overdue, unwatched: true }, (signal) =>
      this.#provider.getTool(name, { signal }),
    );
    if (found === undefined || found === null) return undefined;
    const definition = checkDefinition(found, name, LIST.maxToolBytes);
    if (definition === undefined) throw new UnusableDefinition('Its definition is too large, or none.');
    return { tool: this.#ownTool(definition), at: now() };
  }

  #publish(known: ReadonlyMap<string, Described>, excluded: readonly ExcludedTool[]): void {
    if (this.#isRemoved) return;
    this.#options.publish({ tools: new Map([...known].map(([name, { tool }]) => [name, tool])), excluded });
  }

  #ownTool(definition: ToolDefinition): OwnTool {
    const { name: tool } = definition;
    const { callMs: ms } = this.#options;
    const overdue = () =>
      new DiscoveryError('TOOL_EXECUTION_TIMEOUT', `${tool} gave no answer within ${ms} ms.`, {
        tool,
        outcome: 'unknown',
      });
    return {
      definition,
      run: async (args, { signal: parent }) =>
        toCallToolResult(
          await limitTime({ ms, parent, overdue }, (signal) => this.#provider.callTool(tool, args, { signal })),
        ),
    };
  }

  #lateness(): DiscoveryError {
    const { total, tools } = this.#progress;
    const { patienceMs } = this.#options;
    const message =
      total === undefined
        ? `It did not list its tools within ${patienceMs} ms.`
        : `It described ${tools.size} of its ${total} tools within ${patienceMs} ms; the others follow.`;
    return new DiscoveryError('SERVER_CONNECTION_ERROR', message, { server: this.name, outcome: 'not_sent' });
  }

  /** A provider that cannot be read is away, unless it says something finer in our own codes. */
  #failureOf(thrown: unknown): DiscoveryError {
    const known = thrownAs(DiscoveryError, thrown);
    const details = { outcome: 'not_sent', ...known?.details, server: this.name, cause: thrown } as const;
    return new DiscoveryError(known?.code ?? 'SERVER_CONNECTION_ERROR', reasonOf(thrown), details);
  }
}

/** Asking again would bring the same. */
class UnusableDefinition extends Error {}

/** Providers talk about their databases; models and logs need no passwords. */
const reasonOf = (thrown: unknown): string => oneLine(maskCredentials(messageOf(thrown)), LIMITS.text.reason);

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
