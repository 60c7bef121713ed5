/**
 * One server of an engine in, everything that was found out about it out; all of them five at a time.
 * @module
 */

import { Semaphore } from '../async/semaphore.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { connectMs } from '../connections/connect-time.ts';
import { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { ServerDefinition } from '../core/types.ts';
import type { DiscoveryEngine } from '../engine/discovery-engine.ts';
import type { ServerProbe } from '../engine/probe-server.ts';
import { readServerLog } from '../engine/server-logs.ts';
import { oneLine } from '../text/plain-text.ts';
import { adviceFor, howToBeQuiet, howToWaitLonger, noiseIn, type Surroundings } from './advice.ts';
import { type Check, worstOf } from './check.ts';
import { checkDefinition, type DefinitionWorld, placeOf } from './check-definition.ts';

/** Whether a server works, or looks as if it did where nothing is started. One that may not start does neither. */
export const works = ({ checks, probe }: ExaminedServer, offline: boolean): boolean =>
  worstOf(checks) !== 'fail' && (offline ? checks.every(({ check }) => check !== 'folder') : probe !== undefined);

/** What is known of a server after it was looked at. */
export interface ExaminedServer {
  readonly name: string;
  /** Switched off by its entry or the environment: nothing was tried. */
  readonly disabled: boolean;
  readonly checks: readonly Check[];
  /** How it went, where it was started. */
  readonly probe?: ServerProbe | undefined;
}

export interface ExamineOptions {
  readonly world: DefinitionWorld;
  /** Where entries may be written that other programs' files have no place for. */
  readonly config?: (NonNullable<Surroundings['config']> & Pick<ResolvedConfig, 'home'>) | undefined;
  /** Start nothing. */
  readonly offline?: boolean | undefined;
  /** The longest wait for one server. Default: what its entry allows. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Hears who is still being waited for. */
  readonly onChange?: ((waiting: readonly string[], total: number) => void) | undefined;
}

/** A server that needs more than this share of its time may fail tomorrow. */
const SLOW_SHARE = 0.6;

/** Looks at servers, in their order. Never rejects because of one of them. */
export async function examineServers(
  engine: DiscoveryEngine,
  definitions: readonly ServerDefinition[],
  options: ExamineOptions,
): Promise<ExaminedServer[]> {
  const turns = new Semaphore(LIMITS.atOnce.servers);
  const running = new Set(await engine.serverNames());
  const examined = definitions.map((definition) => {
    const { name } = definition;
    if (!running.has(name)) return { name, disabled: true, checks: [switchedOff(definition)] };
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
      const known = { log: await logOf(engine, name, options), config: options.config };
      return { name, disabled, checks: [...checks, ...checkProbe(definition, probe, options.world.env, known)], probe };
    }),
  );
}

/** What it wrote this time. Of one that was given up while it was starting, only the kept log has it. */
async function logOf(engine: DiscoveryEngine, server: string, { config }: ExamineOptions): Promise<string> {
  const log = engine.serverLog(server);
  return log !== '' || config === undefined ? log : ((await readServerLog(config.home, server))?.text ?? '');
}

const switchedOff = (definition: ServerDefinition): Check => ({
  kind: 'server',
  subject: definition.name,
  check: 'enabled',
  status: 'ok',
  detail: `switched off (${placeOf(definition)})`,
});

async function probeInTime(
  engine: DiscoveryEngine,
  { name }: ServerDefinition,
  { timeoutMs, signal }: ExamineOptions,
): Promise<ServerProbe> {
  const ending = new AbortController();
  const end = () => ending.abort(signal?.reason);
  signal?.addEventListener('abort', end, { once: true });
  const overdue = () =>
    ending.abort(
      new DiscoveryError('SERVER_CONNECTION_ERROR', `${name}: no answer within ${(timeoutMs ?? 0) / 1000} s.`),
    );
  const timer = timeoutMs === undefined ? undefined : setTimeout(overdue, timeoutMs);
  try {
    return await engine.probe(name, ending.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

/** What an attempt to start a server shows. */
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
  const count = `${toolCount} tool${toolCount === 1 ? '' : 's'}`;
  checks.push({ ...about, check: 'tools', status: 'ok', detail: count, ms: listMs });
  const noise = definition.connection.kind === 'stdio' ? noiseIn(known.log) : undefined;
  if (noise !== undefined)
    checks.push({
      ...about,
      check: 'stdout',
      status: 'warn',
      detail: 'it prints text to stdout, which some clients do not forgive',
      fix: howToBeQuiet(noise),
    });
  if (toolCount === 0) warn('it lists no tools', 'Check its arguments and rights: it has nothing to offer as it is');
  if (skipped)
    warn(
      `${skipped} of its tools cannot be used, because their definitions are broken or too large`,
      'Tell whoever writes the server',
    );
  if (incomplete) warn(`its list is not complete: ${oneLine(incomplete, 300)}`, 'Raise limits in the configuration');
  return checks;
}
