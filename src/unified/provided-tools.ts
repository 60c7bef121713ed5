/**
 * Tools of providers beside a program's own: a provider in, its tools in the table, read again when they are old. A provider
 * that is slow or fails keeps what it gave before and spoils nobody else's.
 * @module
 */
import { DiscoveryError } from '../errors.ts';
import { toCallToolResult } from '../registry/handler-result.ts';
import { checkDefinition, checkList, definitionOf } from '../registry/provided-tools.ts';
import { outsideRequests } from '../registry/request-scope.ts';
import { limitTime } from '../registry/time-limit.ts';
import { toFailure } from '../result.ts';
import { Semaphore } from '../semaphore.ts';
import type { ToolProvider, ToolSummary } from '../tool-provider.ts';
import type { ToolDefinition } from '../types.ts';
import type { Tell } from './registry-log.ts';
import type { Discovered } from './tool-discovery.ts';
import type { OwnTool, ToolTable } from './tool-table.ts';

export interface ProvidedToolsOptions {
  readonly table: ToolTable;
  readonly ttlMs: number;
  readonly now: () => number;
  readonly tell: Tell;
  /** How long one provider may take. */
  readonly patienceMs: number;
}

const LIMITS = { maxTools: 10_000, maxListBytes: 32 * 1024 * 1024, maxToolBytes: 1024 * 1024 };
const DEFINITIONS_AT_ONCE = 16;

export class ProvidedTools {
  readonly #options: ProvidedToolsOptions;
  readonly #providers = new Map<ToolProvider, { readAt: number | undefined; running: Promise<void> | undefined }>();

  constructor(options: ProvidedToolsOptions) {
    this.#options = options;
  }

  has(provider: ToolProvider): boolean {
    return this.#providers.has(provider);
  }

  add(provider: ToolProvider): void {
    this.#providers.set(provider, { readAt: undefined, running: undefined });
    // Takes its place in the order now, whenever its list arrives.
    this.#options.table.setProvided(provider, new Map());
  }

  remove(provider: ToolProvider): boolean {
    this.#options.table.removeProvided(provider);
    return this.#providers.delete(provider);
  }

  /** Reads what is due. */
  async readDue(traceId: string | undefined): Promise<Discovered> {
    const due = [...this.#providers].filter(([, { readAt }]) => this.#isDue(readAt));
    const results = await Promise.allSettled(due.map(([provider]) => this.#once(provider)));
    const failures = results.flatMap((result, at) => {
      if (result.status === 'fulfilled') return [];
      const serverName = due[at]?.[0].name ?? 'a provider';
      const failure = toFailure(result.reason, { server: serverName, outcome: 'not_sent' });
      if (failure.success) return [];
      const { message: errorMessage } = failure.error;
      this.#options.tell('tools.discovery.server.failed', { serverName, errorMessage }, traceId);
      return failure.error;
    });
    return { changed: due.length > failures.length, failures };
  }

  #isDue(readAt: number | undefined): boolean {
    if (readAt === undefined) return true;
    const age = this.#options.now() - readAt;
    return age < 0 || age >= this.#options.ttlMs;
  }

  #once(provider: ToolProvider): Promise<void> {
    const state = this.#providers.get(provider);
    if (!state) return Promise.resolve();
    state.running ??= this.#read(provider).finally(() => {
      state.running = undefined;
    });
    return state.running;
  }

  async #read(provider: ToolProvider): Promise<void> {
    const { patienceMs, table, now } = this.#options;
    const overdue = () =>
      new DiscoveryError('SERVER_CONNECTION_ERROR', `It did not list its tools within ${patienceMs} ms.`);
    // What is kept is for everybody, so nothing of the request that happens to ask may get into it.
    const tools = await outsideRequests(() =>
      limitTime({ ms: patienceMs, overdue }, (signal) => definitionsOf(provider, signal)),
    );
    const state = this.#providers.get(provider);
    // Removed while it was asked.
    if (!state) return;
    table.setProvided(provider, tools);
    state.readAt = now();
  }
}

async function definitionsOf(provider: ToolProvider, signal: AbortSignal): Promise<Map<string, OwnTool>> {
  const { tools: listed } = checkList(await provider.listToolMetadata({ signal }), LIMITS);
  const turns = new Semaphore(DEFINITIONS_AT_ONCE);
  const found = await Promise.all(
    [...listed.values()].map((summary) => turns.run(() => wholeOf(provider, summary, signal))),
  );
  const tools = new Map<string, OwnTool>();
  for (const definition of found) if (definition) tools.set(definition.name, ownTool(provider, definition));
  return tools;
}

async function wholeOf(
  provider: ToolProvider,
  summary: ToolSummary,
  signal: AbortSignal,
): Promise<ToolDefinition | undefined> {
  const listed = definitionOf(summary);
  if (listed || signal.aborted) return listed;
  // Undefined: gone since it was listed, or nothing that can be used.
  return checkDefinition(await provider.getTool(summary.name, { signal }), summary.name, LIMITS.maxToolBytes);
}

const ownTool = (provider: ToolProvider, definition: ToolDefinition): OwnTool => ({
  definition,
  run: async (args, { signal }) => toCallToolResult(await provider.callTool(definition.name, args, { signal })),
});
