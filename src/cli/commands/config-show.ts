/**
 * `anygpt mcp config show`: shows the configuration in force, with its rules, and counts its servers and tools.
 * @module
 */
import type { ResolvedConfig } from '../../config/resolved-config.ts';
import type { ServerMetadata, ToolRule } from '../../core/types.ts';
import { oneLine } from '../../text/plain-text.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../io.ts';
import { heading } from '../layout.ts';
import { listedServers } from '../listed-servers.ts';
import { type Session, withSession } from '../session.ts';
import { sourceLines, sourcesDocument, withTilde } from '../source-lines.ts';
import { UsageError } from '../usage-error.ts';

export const showConfig: Command['run'] = async (values, _positionals, io) => {
  const status = values.status === true;
  if (status && values.offline) throw new UsageError('--status cannot be combined with --offline');
  return withSession(values, io, async (session) => {
    const { engine } = session;
    const servers = await listedServers(session, status || values.refresh === true ? 'all' : 'none');
    const config = await engine.getConfig();
    const warnings = (await engine.ruleWarnings()).map(({ message }) => message);
    const totals = totalsOf(config, servers);
    if (session.json) session.printJson(configDocument(config, totals, warnings));
    else {
      session.print(configText(config, totals, warnings, status, session));
      const untried = new Set(servers.filter((server) => server.status !== 'error').map(({ name }) => name));
      const unseen = (await engine.unseen()).filter((name) => untried.has(name));
      if (unseen.length > 0)
        session.note(`The tools of ${unseen.join(', ')} are not known yet; --status connects and counts them.`);
      if (totals.servers.failed > 0) session.note('"anygpt mcp doctor" says why servers failed and what to do.');
    }
    return EXIT.ok;
  });
};

interface Totals {
  readonly servers: {
    readonly configured: number;
    readonly connected: number;
    readonly failed: number;
    readonly disabled: number;
  };
  readonly tools: { readonly total: number; readonly enabled: number };
}

const totalsOf = (config: ResolvedConfig, servers: readonly ServerMetadata[]): Totals => ({
  servers: {
    configured: config.servers.length,
    connected: servers.filter(({ status }) => status === 'connected').length,
    failed: servers.filter(({ status }) => status === 'error').length,
    disabled: config.servers.length - servers.length,
  },
  tools: {
    total: servers.reduce((sum, { toolCount }) => sum + toolCount, 0),
    enabled: servers.reduce((sum, { enabledCount }) => sum + enabledCount, 0),
  },
});

const configDocument = (config: ResolvedConfig, totals: Totals, warnings: readonly string[]) => ({
  enabled: config.enabled,
  cache: { enabled: config.cache.enabled, ttl: config.cache.ttl, dir: config.cache.dir },
  ...sourcesDocument(config),
  rulePrecedence: config.rulePrecedence,
  toolRules: config.toolRules.map(asWritten),
  ...(config.floorRules && { ownRules: config.floorRules.toolRules.map(asWritten) }),
  ...totals,
  warnings,
});

/** Removes `exact`, which is internal and never written in a file. */
const asWritten = ({ exact: _exact, ...rule }: ToolRule): ToolRule => rule;

function configText(
  config: ResolvedConfig,
  totals: Totals,
  warnings: readonly string[],
  status: boolean,
  session: Session,
): string {
  const { paint, block, io } = session;
  const { enabled, cache, sources, toolRules, origin } = config;
  const { configured, connected, failed, disabled } = totals.servers;
  const own = config.floorRules?.toolRules ?? [];
  const rules = toolRules.map((rule, at) => block(`${at + 1}. ${ruleText(rule)}`, '  '));
  const parts = [
    paint('bold', 'MCP Discovery Configuration:'),
    [
      `Status: ${enabled ? 'Enabled' : 'Disabled'}`,
      cache.enabled ? `Cache: Enabled (TTL: ${cache.ttl}s)` : 'Cache: Disabled',
      `File: ${origin === undefined ? 'none (built-in defaults)' : withTilde(origin, io.env.HOME)}`,
    ].join('\n'),
    [heading('Sources', sources.length), ...sourceLines(config, session, io.env.HOME)].join('\n'),
    [heading('Tool Rules', toolRules.length), ...rules].join('\n'),
    own.length > 0 &&
      [
        `Tool Rules of your own configuration, also in force (${own.length}):`,
        ...own.map((rule, at) => block(`${at + 1}. ${ruleText(rule)}`, '  ')),
      ].join('\n'),
    warnings.length > 0 &&
      [`Warnings (${warnings.length}):`, ...warnings.map((warning) => block(`- ${warning}`, '  '))].join('\n'),
    [
      [
        `Servers: ${configured} configured, ${connected} connected${status || configured === 0 ? '' : ' (--status connects)'}`,
        failed > 0 && `${failed} failed`,
        disabled > 0 && `${disabled} disabled`,
      ]
        .filter(Boolean)
        .join(', '),
      `Tools: ${totals.tools.total} total, ${totals.tools.enabled} enabled`,
    ].join('\n'),
  ];
  return parts.filter(Boolean).join('\n\n');
}

/** `*github*, /issue/ → enabled, tags: [github, issues]` */
function ruleText({ pattern, server, enabled, tags = [] }: ToolRule): string {
  const where = server === undefined ? '' : `server ${server}: `;
  const effects = [
    enabled !== undefined && (enabled ? 'enabled' : 'disabled'),
    tags.length > 0 && `tags: [${tags.join(', ')}]`,
  ];
  return oneLine(`${where}${pattern.join(', ')} → ${effects.filter(Boolean).join(', ') || 'no effect'}`, 2000);
}
