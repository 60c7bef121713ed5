/**
 * `anygpt mcp stats`: shows the token costs of all definitions, then calls, errors and times.
 * @module
 */

import { wallNow } from '../../async/clock.ts';
import { type AuditSummary, type CallStats, summarizeAudit } from '../../audit/audit-summary.ts';
import { definitionTokens } from '../../meta-tools/definition-tokens.ts';
import { metaToolDefinitions } from '../../meta-tools/meta-tools.ts';
import { counted } from '../../text/counted.ts';
import { oneLine } from '../../text/plain-text.ts';
import { barChart } from '../bar-chart.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../io.ts';
import { columnsOf, fitTo, widthOf } from '../layout.ts';
import { exactly } from '../positionals.ts';
import { SESSION_HELP, SESSION_OPTIONS, type Session, withSession } from '../session.ts';
import { toPointInTime } from '../written-times.ts';

const SHOWN = 20;
/** Width of the chart without a terminal. */
const USUAL_WIDTH = 80;

export const stats: Command = {
  usage: `Usage: anygpt mcp stats [options]

Shows about how many tokens (o200k) all tool definitions cost in every request,
by server, compared with the five meta-tools; the cache hit rate of gateways
(last 30 days); then calls, errors and times from the audit log. Counts the
parts of a tool that a model reads: name, description and input schema. The time
to connect to a server, for example to start it, is shown separately. Starts
only servers whose tools are not known.

Options:
  --since TIME       Only calls since then: 90m, 24h, 7d, 2w or a date such as
                     2026-01-31
  --all              Show every server and tool, not only the first ${SHOWN}
${SESSION_HELP}

Examples:
  anygpt mcp stats
  anygpt mcp stats --since 7d --offline
  anygpt mcp stats --json

Exit codes: 0 success, 1 invalid arguments, 2 configuration error`,
  options: { ...SESSION_OPTIONS, since: { type: 'string' }, all: { type: 'boolean' } },
  async run(values, positionals, io) {
    exactly(positionals);
    const since = values.since === undefined ? undefined : toPointInTime(String(values.since), '--since', wallNow());
    return withSession(values, io, async (session) => {
      await session.lists();
      const costs = await costsOf(session);
      const { audit } = await session.engine.getConfig();
      const calls = await summarizeAudit(audit.file, { since });
      const cache = await session.engine.cacheStats(since);
      if (session.json) session.printJson(documentOf(costs, cache, calls, since));
      else {
        const limit = values.all === true ? Number.POSITIVE_INFINITY : SHOWN;
        const parts = [
          costsText(costs, limit, session),
          cacheText(cache, session),
          callsText(calls, since, limit, session),
        ];
        session.print(parts.filter(Boolean).join('\n\n'));
        if (!audit.enabled) session.note('audit.enabled is false, so calls are not recorded.');
        if (costs.unknown.length > 0)
          session.note(`The tools of ${costs.unknown.join(', ')} are not known and not counted.`);
        if (calls.mistaken > 0)
          session.note(
            `${counted(calls.mistaken, 'request')} named no known tool or could not be read, and ${calls.mistaken === 1 ? 'is' : 'are'} not counted as calls.`,
          );
        if (calls.dropped > 0) session.note(`${counted(calls.dropped, 'record')} of older calls were dropped.`);
        if (calls.damaged > 0) session.note(`${counted(calls.damaged, 'line')} of ${audit.file} could not be parsed.`);
        if (calls.incomplete !== undefined) session.note(`${audit.file}: ${calls.incomplete}.`);
      }
      return EXIT.ok;
    });
  },
};

type CacheStats = Awaited<ReturnType<Session['engine']['cacheStats']>>;

interface ServerCost {
  readonly name: string;
  /** Enabled tools. */
  readonly tools: number;
  readonly disabled: number;
  /** Tools that wait for approval. */
  readonly unapproved: number;
  readonly tokens: number;
}

interface Costs {
  /** The most expensive first. */
  readonly servers: readonly ServerCost[];
  readonly total: number;
  readonly tools: number;
  readonly disabled: number;
  readonly unapproved: number;
  readonly metaTools: number;
  /** Servers whose tools are not known. */
  readonly unknown: readonly string[];
}

async function costsOf({ engine }: Session): Promise<Costs> {
  const names = await engine.serverNames();
  const unknown = await engine.unseen();
  const waiting = new Map((await engine.listServers()).map(({ name, unapprovedCount = 0 }) => [name, unapprovedCount]));
  const servers: ServerCost[] = [];
  for (const name of names) {
    if (unknown.includes(name)) continue;
    // Without the gateway, a client also loads the tools that rules disable.
    const tools = await engine.listTools(name, true);
    const enabled = tools.filter((tool) => tool.enabled).length;
    const tokens = sum(tools.map(definitionTokens));
    const unapproved = waiting.get(name) ?? 0;
    servers.push({ name, tools: enabled, disabled: tools.length - enabled, unapproved, tokens });
  }
  servers.sort((a, b) => b.tokens - a.tokens);
  return {
    servers,
    total: sum(servers.map(({ tokens }) => tokens)),
    tools: sum(servers.map(({ tools }) => tools)),
    disabled: sum(servers.map(({ disabled }) => disabled)),
    unapproved: sum(servers.map(({ unapproved }) => unapproved)),
    metaTools: sum(metaToolDefinitions(names).map(definitionTokens)),
    unknown,
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

const toolsText = ({ tools, disabled, unapproved }: Pick<Costs, 'tools' | 'disabled' | 'unapproved'>): string => {
  const off = disabled === 0 ? '' : ` and ${disabled.toLocaleString('en-US')} disabled`;
  return `${counted(tools, 'tool')}${off}${unapproved === 0 ? '' : ` and ${unapproved.toLocaleString('en-US')} not approved`}`;
};

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

function cacheText({ hits, misses, hitRate }: CacheStats, { block }: Session): string {
  const total = hits + misses;
  return total === 0
    ? ''
    : block(`${counted(total, 'lookup')} of gateways: ${percent(hitRate)} answered without asking a server.`);
}

/** An estimate rounded to three digits. */
const roughly = (tokens: number): number => Number(tokens.toPrecision(3));

/** Negative if there are few tools. */
const savedOf = ({ total, metaTools }: Costs): number => (total === 0 ? 0 : 1 - metaTools / total);

function costsText(costs: Costs, limit: number, { io, paint, block }: Session): string {
  const { servers, total, metaTools } = costs;
  const saved = savedOf(costs);
  const verdict =
    saved > 0
      ? `The five meta-tools cost about ${roughly(metaTools)}: ${(saved * 100).toFixed(1)} % saved.`
      : `The five meta-tools cost about ${roughly(metaTools)}: with so few tools, nothing is saved.`;
  const title = block(
    `All definitions: about ${counted(roughly(total), 'token')} for ${toolsText(costs)} of ${counted(servers.length, 'server')}. ${verdict}`,
  );
  const shown = servers.slice(0, limit);
  const bars = [
    ...shown.map((server) => ({
      label: oneLine(server.name, 200),
      value: roughly(server.tokens),
      note: toolsText(server),
    })),
    { label: '(this gateway)', value: roughly(metaTools), note: '5 meta-tools' },
  ];
  const width = Math.min(widthOf(io), Number.isFinite(widthOf(io)) ? 120 : USUAL_WIDTH);
  const [own = '', ...lines] = barChart(bars, width).split('\n').reverse();
  const rest = servers.slice(shown.length);
  const more = `+${rest.length} more, about ${counted(roughly(sum(rest.map(({ tokens }) => tokens))), 'token')} (--all shows them)`;
  return [
    title,
    '',
    ...lines.reverse(),
    ...(rest.length > 0 ? [paint('dim', block(more))] : []),
    paint('green', own),
  ].join('\n');
}

const SHORTEST_NAME = 10;

function callsText(
  calls: AuditSummary,
  since: number | undefined,
  limit: number,
  { io, paint, block }: Session,
): string {
  const { total, servers, first } = calls;
  const from = since === undefined ? first : new Date(since).toISOString();
  const when = from === undefined ? '' : ` since ${from.slice(0, 10)}`;
  if (total.calls === 0) return `No calls recorded${when}.`;
  const aside = [
    total.refused > 0 && `${total.refused} refused`,
    total.cancelled > 0 && `${total.cancelled} cancelled`,
    total.medianMs !== undefined && `median ${msText(total.medianMs)}, p95 ${msText(total.p95Ms)}`,
  ].filter(Boolean);
  const connects = total.connects
    ? ` ${total.connects.toLocaleString('en-US')} of them had to connect to a server first: median ${msText(total.connectMedianMs)}, not part of the other times.`
    : '';
  const title = block(
    `${counted(total.calls, 'call')}${when}: ${[counted(total.errors, 'error'), ...aside].join(', ')}.${connects}`,
  );
  // A column that most tables would fill with zeros only takes room from the names.
  const hasRefused = total.refused > 0;
  const heads = ['calls', 'errors', ...(hasRefused ? ['refused'] : []), 'median', 'p95', 'connect'];
  const row = (name: string, { calls, errors, refused, medianMs, p95Ms, connectMedianMs }: CallStats) => ({
    name,
    cells: [
      ...[calls, errors, ...(hasRefused ? [refused] : [])].map((count) => count.toLocaleString('en-US')),
      ...[medianMs, p95Ms, connectMedianMs].map(msText),
    ],
  });
  const rows = servers.flatMap((server) => [
    row(oneLine(server.server, 200), server),
    ...server.tools.map((tool) => row(`  ${oneLine(tool.tool, 200)}`, tool)),
  ]);
  const shown = rows.slice(0, limit);
  const columns = heads.map((head, at) => Math.max(head.length, ...shown.map(({ cells }) => cells[at]?.length ?? 0)));
  const roomOf = () => Math.min(widthOf(io), 100) - sum(columns) - columns.length * 2;
  // A narrow terminal loses columns from the right: names matter more.
  while (columns.length > 1 && roomOf() < SHORTEST_NAME) columns.pop();
  const names = shown.map(({ name }) => fitTo(name, Math.max(SHORTEST_NAME, roomOf())));
  const widest = Math.max(0, ...names.map(columnsOf));
  const line = (name: string, cells: readonly string[]) =>
    name +
    ' '.repeat(widest - columnsOf(name)) +
    columns.map((width, at) => `  ${(cells[at] ?? '').padStart(width)}`).join('');
  return [
    title,
    '',
    paint('dim', line('', heads)),
    ...shown.map(({ cells }, at) => line(names[at] ?? '', cells)),
    ...(rows.length > shown.length
      ? [paint('dim', block(`+${rows.length - shown.length} more (--all shows them)`))]
      : []),
  ].join('\n');
}

const msText = (ms: number | undefined): string => {
  if (ms === undefined) return '-';
  return ms < 10_000 ? `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
};

function documentOf(costs: Costs, cache: CacheStats, calls: AuditSummary, since: number | undefined) {
  return {
    tokens: { ...costs, saved: Number(savedOf(costs).toFixed(4)) },
    cache: { ...cache, hitRate: Number(cache.hitRate.toFixed(4)) },
    calls: { ...(since !== undefined && { since: new Date(since).toISOString() }), ...calls },
  };
}
