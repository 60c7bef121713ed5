/**
 * Builds the execute flow of an engine: connects the executor's steps to rules, catalogue, connections and audit log.
 * @module
 */
import { join } from 'node:path';
import { OWN_TOOLS } from '../agent/registry/check-provider.ts';
import { lookUpItem } from '../catalog/item-lookup.ts';
import { lookUpDefinition } from '../catalog/tool-lookup.ts';
import { largeTurns } from '../connections/large-turns.ts';
import { ownedKey, serverIn } from '../core/owned-key.ts';
import { isProvider, type SourceDefinition } from '../core/tool-provider.ts';
import type { Caller, ToolCall } from '../core/types.ts';
import type { CallGates } from '../execution/call-gates.ts';
import { pipeline } from '../execution/pipeline.ts';
import type { ResultPages } from '../execution/result-pages.ts';
import { type AuditRecorder, announce } from '../execution/steps/audit.ts';
import type { Decide, PolicyDecision } from '../execution/steps/policy.ts';
import { type CallSettings, ToolExecutor, type ToolExecutorOptions } from '../execution/tool-executor.ts';
import { compileGlob } from '../rules/glob.ts';
import type { Downstreams } from './downstreams.ts';
import { createReadSchema } from './engine-own-tools.ts';
import type { EngineState } from './engine-state.ts';
import type { EngineWorld } from './engine-world.ts';
import { userLimits } from './profile-parts.ts';
import type { RequestStates } from './request-states.ts';

/** Carries out calls under one configuration. */
export interface Execution {
  readonly proxy: ToolExecutor;
  /** Writes pending audit records. */
  closeAudit(): Promise<void>;
}

export interface ExecutionParts {
  readonly state: EngineState;
  readonly world: EngineWorld;
  readonly downstreams: Downstreams;
  readonly pages: ResultPages;
  /** The call counters of the previous configuration, if there was one. */
  readonly gates: CallGates | undefined;
  readonly rates: ToolExecutorOptions['rates'];
  /** The sources that the current request sees. */
  readonly requests: RequestStates;
  /** The state in force: a tool may have been disabled while its call waited for a list. */
  readonly stateNow: () => EngineState;
}

/** Builds the execute flow for a state. Opens nothing: the first call creates the audit file. */
export function createExecution({
  state,
  world,
  downstreams,
  pages,
  gates,
  rates,
  requests,
  stateNow,
}: ExecutionParts): Execution {
  const { limits, retry, validation } = state.config;
  const audit = openAudit(state, world, downstreams);
  const { observer } = world;
  const definitionOf = (server: string) => requests.having(state, server).servers.get(server)?.definition;
  const repeatable = new WeakMap<SourceDefinition, (tool: string) => boolean>();
  const settings = new Map<string, CallSettings>();
  const invoke = observer?.sending?.(downstreams.invoke) ?? downstreams.invoke;
  const proxy = new ToolExecutor({
    invoke: state.config.audit.failClosed ? pipeline([announce(audit.recorder)], invoke) : invoke,
    lookup: (call) => {
      const known = requests.having(state, call.server, call.caller);
      return call.item
        ? lookUpItem(known, call.server, call.item, call.caller)
        : lookUpDefinition(known, call, call.caller);
    },
    decide,
    audit: observer?.record ? both(audit.recorder, observer as AuditRecorder) : audit.recorder,
    pages,
    gates,
    rates,
    runSteps: (steps) => largeTurns.run(steps),
    own: [createReadSchema((caller) => requests.seen(state, caller))],
    gateOf: (server, { principal }) => (state.owned.has(server) ? ownedKey(server, principal) : server),
    ...(state.profiles.size > 0 && { limitsOf: (caller: Caller) => userLimits(state, caller) }),
    settingsOf,
    isRepeatable: (call) => isRepeatable(call),
    output: validation.output,
    checksItself: (server) => {
      const source = definitionOf(server);
      return source !== undefined && isProvider(source) && OWN_TOOLS in source.provider;
    },
    redact: downstreams.redact,
    retry: {
      attempts: retry.attempts,
      delay: retry.initial,
      factor: retry.factor,
      maxDelay: retry.max,
      jitter: retry.jitter,
    },
    breaker: {
      inARow: limits.breaker.failures,
      share: limits.breaker.rate,
      atLeast: limits.breaker.minimum,
      window: limits.breaker.window,
      open: limits.breaker.open,
    },
    limits: {
      perServer: limits.concurrency,
      queue: limits.queue,
      queueWait: limits.queueWait,
      perClient: limits.inFlightPerClient,
      total: limits.inFlight,
      callIdle: limits.callIdle,
      callCeiling: limits.callCeiling,
      result: world.wholeResults ? Number.MAX_SAFE_INTEGER : limits.result,
      validationBudget: limits.validation,
      schema: { depth: limits.schemaDepth, subSchemas: limits.schemaNodes },
      drain: limits.drain,
    },
    log: world.logger,
  });
  return { proxy, closeAudit: audit.close };

  /** The decision of the rules and approvals in force. */
  function decide(...[server, definition, item, caller]: Parameters<Decide>): PolicyDecision {
    if (audit.blocks()) return UNRECORDED;
    const { policy, catalog, sight, servers } = requests.having(stateNow(), server, caller);
    const ofItem = item && catalog.items.decide(server, item.kind, item.id);
    const isItemOff = ofItem && !ofItem.enabled && ofItem.code !== 'TOOL_NOT_APPROVED';
    // What is not for a profile does not exist for its callers, and no rule is quoted to them.
    if (sight?.profile !== undefined && (isItemOff || !servers.has(server))) return UNSEEN;
    return ofItem ?? policy.decide(server, definition);
  }

  /** Cached, because several steps need the settings in every call. */
  function settingsOf(key: string): CallSettings | undefined {
    const server = serverIn(key);
    const known = settings.get(server);
    const definition = known ? undefined : definitionOf(server);
    if (!definition) return known;
    const { timeouts, rateLimit, concurrency } = definition;
    const perUser = state.owned.has(server);
    const found = { timeout: timeouts.call, rateLimit: rateLimit && { ...rateLimit, perUser }, concurrency };
    if (state.servers.has(server)) settings.set(server, found);
    return found;
  }

  /** The operator's own mark always counts. A server's hints count only if the operator trusts that server. */
  function isRepeatable({ server, tool, definition, item }: ToolCall): boolean {
    const entry = definitionOf(server);
    if (!entry) return false;
    if (item) return true;
    let marked = repeatable.get(entry);
    if (!marked) {
      const globs = entry.idempotent.map(compileGlob);
      marked = (name) => globs.some((matches) => matches(name));
      repeatable.set(entry, marked);
    }
    if (marked(tool)) return true;
    return (
      entry.trusted &&
      (definition?.annotations?.readOnlyHint === true || definition?.annotations?.idempotentHint === true)
    );
  }
}

const both = (first: AuditRecorder, second: AuditRecorder): AuditRecorder => ({
  record: (entry) => {
    first.record(entry);
    second.record(entry);
  },
});

interface Recorder {
  readonly recorder: AuditRecorder;
  /** Tells whether calls are refused until the log can be written again. */
  blocks(): boolean;
  close(): Promise<void>;
}

const UNSEEN = { enabled: false, code: 'TOOL_NOT_FOUND', reason: 'There is no such thing here.' } as const;

const UNRECORDED = {
  enabled: false,
  code: 'STORAGE_ERROR',
  reason: 'The audit log cannot be written, and audit.failClosed refuses calls that are not recorded.',
} as const;

/** Opens the audit log of a configuration. Loads and opens it when the first call is recorded. */
function openAudit({ config }: EngineState, world: EngineWorld, downstreams: Downstreams): Recorder {
  const { audit, home } = config;
  if (!audit.enabled) return { recorder: { record: () => {} }, blocks: () => false, close: async () => {} };
  const open = async () => {
    const [{ AuditLog }, { JsonlSink }, { RefusalSink }, { loadSalt }] = await Promise.all([
      import('../audit/audit-log.ts'),
      import('../audit/jsonl-sink.ts'),
      import('../audit/refusal-sink.ts'),
      import('../audit/salt-file.ts'),
    ]);
    return new AuditLog({
      sink: new JsonlSink(audit),
      // A separate file, so that a flood of refusals never displaces the records of real calls.
      refusals: new RefusalSink(audit),
      salt: () => loadSalt(join(home, 'audit', 'salt')),
      values: audit.values,
      maxLineBytes: config.limits.auditLine,
      // With failClosed every record is written at once, at a small cost per call.
      gatherMs: audit.failClosed ? 0 : undefined,
      redact: downstreams.redact,
      foldMs: audit.failClosed ? 0 : undefined,
      logger: world.logger,
    });
  };
  let opening: ReturnType<typeof open> | undefined;
  let log: Awaited<ReturnType<typeof open>> | undefined;
  const opened = () => {
    opening ??= open().then((one) => {
      log = one;
      return one;
    });
    return opening;
  };
  return {
    recorder: {
      record: (entry) => (log ? log.record(entry) : void opened().then((one) => one.record(entry))),
      announce: async (intent) => (log ?? (await opened())).announce(intent),
    },
    // Fails closed only if the operator wants it. By default calls continue and dropped records are counted.
    blocks: () => audit.failClosed && log?.stats().failing === true,
    close: async () => (await opening)?.close(),
  };
}
