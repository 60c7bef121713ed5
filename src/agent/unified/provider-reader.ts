/**
 * One provider: its list and the definition of each tool, read when they are due, into what the table shows. A tool that
 * cannot be described is left out and the others stay; what has been read once is not asked for again before it is old; and
 * a reading that takes longer than anybody waits goes on behind, so that the next one who asks finds more.
 * @module
 */

import { Semaphore } from '../../async/semaphore.ts';
import { limitTime, waitAtMost } from '../../async/wait-limit.ts';
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

/** A reading under way. */
interface Reading {
  /** Settles with the reading, and never rejects. */
  done: Promise<void>;
  readonly tools: Map<string, Described>;
  /** Undefined until there is a list. */
  total: number | undefined;
  /** Somebody has waited for it as long as one may. */
  isLate: boolean;
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
  #readAt: number | undefined;
  /** How long what was read, or the failure, holds. */
  #holdMs = 0;
  /** Readings in a row that were not whole. */
  #failures = 0;
  #failure: DiscoveryError | undefined;
  #revision: unknown;
  #reading: Reading | undefined;
  #isRemoved = false;

  constructor(provider: ToolProvider, options: ProviderReaderOptions) {
    this.#provider = provider;
    this.#options = options;
    const name = attempt(() => provider.name);
    this.name = typeof name === 'string' && name !== '' ? oneLine(name, 64) : 'a provider';
  }

  /** Whatever is still being read no longer counts. */
  remove(): void {
    this.#isRemoved = true;
  }

  /** Why not all of its tools are known, if so. */
  get unread(): DiscoveryError | undefined {
    if (this.#reading?.isLate) return this.#late(this.#reading);
    return this.#known.size === 0 ? this.#failure : undefined;
  }

  /** Reads what is due, and waits for it as long as one may. Never rejects. */
  async read(wanted: Wanted): Promise<ProviderRead> {
    if (!this.#reading && !this.#isDue(wanted)) return NOT_DUE;
    const reading = this.#reading ?? this.#start();
    if (reading.isLate && wanted === 'tool') return NOT_DUE;
    await waitAtMost(reading.done, this.#options.patienceMs);
    if (this.#reading !== reading) return { changed: !this.#failure, failure: this.#failure };
    reading.isLate = true;
    this.#publish(new Map([...this.#known, ...reading.tools]), []);
    return { changed: reading.tools.size > 0, failure: this.#late(reading) };
  }

  #isDue(wanted: Wanted): boolean {
    if (this.#readAt === undefined || !Object.is(this.#revisionNow(), this.#revision)) return true;
    if (wanted === 'list' && this.#failure) return true;
    return !this.#isYoung(this.#readAt, this.#holdMs);
  }

  /** A clock that was put back must not keep anything for longer. */
  #isYoung(at: number, ms: number): boolean {
    const age = this.#options.now() - at;
    return age >= 0 && age < ms;
  }

  #revisionNow(): unknown {
    return attempt(() => this.#provider.revision);
  }

  #start(): Reading {
    // Known before it begins: a provider may look at this registry while it lists.
    const reading: Reading = { done: Promise.resolve(), tools: new Map(), total: undefined, isLate: false };
    this.#reading = reading;
    // What is kept is for everybody, so nothing of the request that happens to ask may get into it.
    reading.done = outsideRequests(() => this.#readAll(reading)).then(
      (isWhole) => this.#finish(undefined, isWhole),
      (thrown) => this.#finish(this.#failureOf(thrown), false),
    );
    return reading;
  }

  #finish(failure: DiscoveryError | undefined, isWhole: boolean): void {
    const { ttlMs, now } = this.#options;
    this.#reading = undefined;
    this.#failure = failure;
    this.#readAt = now();
    this.#holdMs = isWhole ? ttlMs : Math.min(ttlMs, FIRST_RETRY_MS * 2 ** this.#failures);
    this.#failures = isWhole ? 0 : this.#failures + 1;
  }

  /** Resolves with whether every tool was described. */
  async #readAll(reading: Reading): Promise<boolean> {
    const { tools } = reading;
    const { patienceMs: ms } = this.#options;
    // Read first: what changes while the list is made is in the next one.
    const revision = this.#revisionNow();
    const isSame = Object.is(revision, this.#revision);
    this.#revision = revision;
    const overdue = () => new DiscoveryError('SERVER_CONNECTION_ERROR', `It did not list its tools within ${ms} ms.`);
    const list = await limitTime({ ms, overdue, unwatched: true }, (signal) =>
      this.#provider.listToolMetadata({ signal }),
    );
    const { tools: listed } = checkList(list, LIST);
    reading.total = listed.size;
    const excluded: ExcludedTool[] = [];
    let isWhole = true;
    let isOver = false;
    const one = async (summary: ToolSummary): Promise<void> => {
      const { name: toolName } = summary;
      const before = this.#known.get(toolName);
      try {
        const isFresh = isSame && before !== undefined && this.#isYoung(before.at, this.#options.ttlMs);
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

  #late({ total, tools }: Reading): DiscoveryError {
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
