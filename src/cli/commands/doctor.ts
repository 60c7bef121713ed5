/**
 * `anygpt mcp doctor`: checks what works and what does not, with one thing to do for each problem.
 * @module
 */
import { ConfigurationLoader } from '../../config/configuration-loader.ts';
import type { ResolvedConfig } from '../../config/resolved-config.ts';
import { realWorld, stateFolder } from '../../config/world.ts';
import { ConfigurationError, type ErrorInfo } from '../../core/errors.ts';
import type { Check } from '../../doctor/check.ts';
import {
  checkBrokenConfiguration,
  checkConfiguration,
  checkProxies,
  checkSources,
  checkTrust,
} from '../../doctor/check-configuration.ts';
import { checkEmbedder } from '../../doctor/check-embedder.ts';
import { checkInstalled } from '../../doctor/check-installed.ts';
import { checkCache, checkNode, checkStateFolder } from '../../doctor/check-machine.ts';
import { type ExaminedServer, examineServers } from '../../doctor/examine-server.ts';
import type { Command } from '../command.ts';
import { type Diagnosis, doctorText } from '../doctor-text.ts';
import { EXIT, type Io } from '../io.ts';
import { toJson } from '../json-document.ts';
import { block, widthOf } from '../layout.ts';
import { paintFor } from '../paint.ts';
import { startingText } from '../progress-line.ts';
import { ENGINE_HELP, ENGINE_OPTIONS, type Session, withSession } from '../session.ts';

export const doctor: Command = {
  usage: `Usage: anygpt mcp doctor [server…] [options]

Checks this machine, the configuration, its sources and all servers, and says
what to do about each problem. Starts every server, five at a time, lists its
tools, and closes it again.

Options:
  --offline          Start no server; check only files and entries
  --timeout TIME     Longest wait for one server: 30 (seconds), 500ms, 2m
${ENGINE_HELP}

Examples:
  anygpt mcp doctor
  anygpt mcp doctor github jira
  anygpt mcp doctor --offline --json

Exit codes: 0 success (warnings included), 1 invalid arguments, 2 configuration
or a source is broken, 3 a server fails`,
  options: { ...ENGINE_OPTIONS, offline: { type: 'boolean' }, timeout: { type: 'string' } },
  async run(values, names, io) {
    const offline = values.offline === true;
    const machine = await checkMachine(io);
    try {
      // The report has all problems, so nothing is logged besides.
      const quiet = { 'log-level': 'silent', ...values };
      return await withSession(quiet, io, async (session) => {
        const config = await session.engine.getConfig();
        const unknown = await unknownServer(names, config, session);
        if (unknown) return session.fail(unknown);
        const servers = await examined(names, config, offline, session);
        const checks = [
          ...machine,
          await checkCache(config.cache),
          ...checkConfiguration(config, await rulesOf(session)),
          ...checkSources(config),
          ...(offline
            ? []
            : await checkEmbedder(config, { env: io.env, signal: session.signal, timeoutMs: session.timeoutMs })),
        ];
        if (session.signal.aborted) return EXIT.failed;
        return report({ checks, servers, offline }, session.json, io);
      });
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      const checks = [...machine, ...checkBrokenConfiguration(error)];
      return report({ checks, servers: [], offline }, values.json === true, io);
    }
  },
};

async function checkMachine({ env, cwd }: Io): Promise<Check[]> {
  const world = realWorld({ env, cwd });
  return [
    checkNode(process.versions.node),
    await checkStateFolder(stateFolder(world), world.platform),
    await checkTrust(new ConfigurationLoader({ env, cwd }).trustStore),
    ...checkProxies(env),
    ...(await checkInstalled(world)),
  ];
}

/** The error for the first name without an entry. */
async function unknownServer(
  names: readonly string[],
  { servers }: ResolvedConfig,
  { engine }: Session,
): Promise<ErrorInfo | undefined> {
  const unknown = names.find((name) => !servers.some((server) => server.name === name));
  if (unknown === undefined) return undefined;
  const found = await engine.toolsOf(unknown);
  return found.success ? undefined : found.error;
}

async function examined(
  names: readonly string[],
  config: ResolvedConfig,
  offline: boolean,
  { engine, io, progress, signal, timeoutMs }: Session,
): Promise<ExaminedServer[]> {
  const wanted = config.servers.filter(({ name }) => names.length === 0 || names.includes(name));
  const found = await examineServers(engine, wanted, {
    world: { env: io.env, platform: process.platform, execPath: process.execPath },
    config,
    offline,
    timeoutMs,
    signal,
    onChange: (waiting, total) => signal.aborted || progress.show(startingText(waiting, total)),
  });
  progress.clear();
  return found;
}

/** A rule that matches nothing is reported only when the tools of every server are known. */
async function rulesOf({ engine }: Session) {
  const complete = (await engine.unseen()).length === 0;
  return (await engine.ruleWarnings()).filter(({ kind }) => complete || kind === 'shadowed');
}

function report(diagnosis: Diagnosis, json: boolean, io: Io): number {
  const width = widthOf(io);
  const style = {
    paint: paintFor(io),
    block: (text: string, indent = '') => block(text, width, indent),
    home: io.env.HOME,
  };
  io.stdout.write(json ? toJson(documentOf(diagnosis)) : `${doctorText(diagnosis, style)}\n`);
  const { checks, servers } = diagnosis;
  if (checks.some(({ status }) => status === 'fail')) return EXIT.notFound;
  const failing = servers.some((server) => server.checks.some(({ status }) => status === 'fail'));
  return failing ? EXIT.failed : EXIT.ok;
}

function documentOf({ checks, servers, offline }: Diagnosis) {
  const all = [...checks, ...servers.flatMap((server) => server.checks)];
  const count = (wanted: Check['status']) => all.filter(({ status }) => status === wanted).length;
  return {
    healthy: count('fail') === 0,
    offline,
    counts: { ok: count('ok'), warn: count('warn'), fail: count('fail') },
    checks: all,
    servers: servers.map(({ name, disabled, checks: own, probe }) => {
      const failed = own.some(({ status }) => status === 'fail');
      const { protocolVersion, transport, toolCount, connectMs, listMs } = probe ?? {};
      const status = disabled ? 'disabled' : failed ? 'fail' : offline || probe === undefined ? 'unchecked' : 'ok';
      return { name, status, protocolVersion, transport, toolCount, connectMs, listMs };
    }),
  };
}
