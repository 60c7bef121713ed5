/**
 * Examines servers, five at a time: starts each one, reads its tools and reports what is wrong.
 * @module
 */

import { Semaphore } from '../async/semaphore.ts';
import { withTimeLimit } from '../async/time-limit.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { connectMs } from '../connections/connect-time.ts';
import { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { isLocal } from '../core/transport-parts.ts';
import type { ServerDefinition } from '../core/types.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import type { ServerProbe } from '../engine/probe-server.ts';
import { readServerLog } from '../engine/server-logs.ts';
import { counted } from '../text/counted.ts';
import { oneLine } from '../text/plain-text.ts';
import { adviceFor, howToBeQuiet, howToWaitLonger, noiseIn, type Surroundings } from './advice.ts';
import { type Check, worstOf } from './check.ts';
import { checkDefinition, type DefinitionWorld, placeOf } from './check-definition.ts';

/** Whether a server works; offline, whether nothing is wrong with its entry. A server that may not start does not work. */
export const works = ({ checks, probe }: ExaminedServer, offline: boolean): boolean =>
  worstOf(checks) !== 'fail' && (offline ? checks.every(({ check }) => check !== 'folder') : probe !== undefined);

/** The findings about one server. */
export interface ExaminedServer {
  readonly name: string;
  /** Disabled by its entry or the environment: it was not started. */
  readonly disabled: boolean;
  readonly checks: readonly Check[];
  /** The result of starting it; absent if it was not started. */
  readonly probe?: ServerProbe | undefined;
}

interface ExamineOptions {
  readonly world: DefinitionWorld;
  /** The configuration, for advice about where to write a setting. */
  readonly config?: (NonNullable<Surroundings['config']> & Pick<ResolvedConfig, 'home'>) | undefined;
  /** Start nothing. */
  readonly offline?: boolean | undefined;
  /** Timeout of one server. Default: the timeout of its entry. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with the names of the servers that have not answered yet. */
  readonly onChange?: ((waiting: readonly string[], total: number) => void) | undefined;
}

/** A server that needs more than this share of its time may fail tomorrow. */
const SLOW_SHARE = 0.6;

/** Examines servers and returns findings in the same order. Never rejects because of a server. */
export async function examineServers(
  engine: EngineCore,
  definitions: readonly ServerDefinition[],
  options: ExamineOptions,
): Promise<ExaminedServer[]> {
  const turns = new Semaphore(LIMITS.atOnce.servers);
  const running = new Set(await engine.serverNames());
  const examined = definitions.map((definition) => {
    const { name } = definition;
    if (!running.has(name)) return { name, disabled: true, checks: [disabledCheck(definition)] };
    return { name, disabled: false, checks: checkDefinition(definition, options.world), definition };
  });
  const isSound = ({ checks }: ExaminedServer) => checks.every(({ status }) => status !== 'fail');
  const startable = examined.filter((server) => !server.disabled && !server.definition?.refusal && isSound(server));
  const waiting = new Set(startable.map(({ name }) => name));
  const total = waiting.size;
  if (options.offline || total === 0) return examined.map(({ name, disabled, checks }) => ({ name, disabled, checks }));
  options.onChange?.([...waiting], total);
  return Promise.all(
    examined.map(async ({ name, disabled, checks, definition }) => {
      if (!definition || !waiting.has(name)) return { name, disabled, checks };
      const probe = await turns.run(() => probeInTime(engine, definition, options));
      waiting.delete(name);
      if (waiting.size > 0) options.onChange?.([...waiting], total);
      const { config, timeoutMs } = options;
      const known = { log: await logOf(engine, name, options), config, timeoutMs };
      return { name, disabled, checks: [...checks, ...checkProbe(definition, probe, options.world.env, known)], probe };
    }),
  );
}

/** What it wrote to stderr this time. If it was ended while starting, only the log file has it. */
async function logOf(engine: EngineCore, server: string, { config }: ExamineOptions): Promise<string> {
  const log = engine.connections.log(server);
  return log !== '' || config === undefined ? log : ((await readServerLog(config.home, server))?.text ?? '');
}

const disabledCheck = (definition: ServerDefinition): Check => ({
  kind: 'server',
  subject: definition.name,
  check: 'enabled',
  status: 'ok',
  detail: `disabled (${placeOf(definition)})`,
});

async function probeInTime(
  engine: EngineCore,
  { name }: ServerDefinition,
  { timeoutMs = Number.POSITIVE_INFINITY, signal }: ExamineOptions,
): Promise<ServerProbe> {
  const overdue = () =>
    new DiscoveryError('SERVER_CONNECTION_ERROR', `${name}: no answer within ${timeoutMs / 1000} s.`);
  return withTimeLimit(timeoutMs, signal, overdue, (ending) => engine.probe(name, ending));
}

/** Findings from starting a server. */
export function checkProbe(
  definition: ServerDefinition,
  probe: ServerProbe,
  env: DefinitionWorld['env'],
  known: Surroundings = {},
): Check[] {
  const about = { kind: 'server', subject: definition.name } as const;
  const { error, connectMs: ms, listMs, protocolVersion, transport, toolCount = 0, skipped, incomplete } = probe;
  const checks: Check[] = [];
  if (ms !== undefined) {
    const allowed = connectMs(definition);
    const slow = ms > allowed * SLOW_SHARE;
    const fix = howToWaitLonger(definition, known);
    const detail = `speaks ${protocolVersion} over ${transport}`;
    if (!slow) checks.push({ ...about, check: 'connect', status: 'ok', detail, ms });
    else checks.push({ ...about, check: 'connect', status: 'warn', detail: `${detail}, but is slow`, fix, ms });
  }
  if (error) {
    const fix = adviceFor(definition, error, env, known);
    const check = ms === undefined ? 'connect' : 'tools';
    return [...checks, { ...about, check, status: 'fail', detail: oneLine(error.message, LIMITS.text.detail), fix }];
  }
  const warn = (detail: string, fix: string) => checks.push({ ...about, check: 'tools', status: 'warn', detail, fix });
  const count = counted(toolCount, 'tool');
  checks.push({ ...about, check: 'tools', status: 'ok', detail: count, ms: listMs });
  const noise = isLocal(definition.connection) ? noiseIn(known.log) : undefined;
  if (noise !== undefined)
    checks.push({
      ...about,
      check: 'stdout',
      status: 'warn',
      detail: 'it prints text to stdout, which breaks some clients',
      fix: howToBeQuiet(noise),
    });
  if (toolCount === 0) warn('it lists no tools', 'Check its arguments and permissions');
  if (skipped)
    warn(
      `${skipped} of its tools cannot be used, because their definitions are broken or too large`,
      'Report it to the author of the server',
    );
  if (incomplete)
    warn(`its tool list is incomplete: ${oneLine(incomplete, 300)}`, 'Raise "limits" in the configuration');
  return checks;
}
