/**
 * `anygpt mcp list`: lists all configured servers.
 * @module
 */

import { wallNow } from '../../async/clock.ts';
import type { ResolvedConfig, ResolvedSource } from '../../config/resolved-config.ts';
import { notesToSay } from '../../config/said-notes.ts';
import type { ServerDefinition, ServerMetadata } from '../../core/types.ts';
import { toolCounts } from '../../meta-tools/answers.ts';
import { counted } from '../../text/counted.ts';
import { oneLine } from '../../text/plain-text.ts';
import type { Command } from '../command.ts';
import { forTerminal } from '../failure.ts';
import { EXIT, type Io } from '../io.ts';
import { serversDocument } from '../json-answers.ts';
import { columnsOf, fitTo, heading, widthOf } from '../layout.ts';
import { isObstacle, listedServers } from '../listed-servers.ts';
import { exactly } from '../positionals.ts';
import { renamedServers, sameServers } from '../same-servers.ts';
import { SESSION_HELP, SESSION_OPTIONS, type Session, withSession } from '../session.ts';
import { shownConnection, withShortPaths } from '../shown-connection.ts';
import { withTilde } from '../source-lines.ts';
import { unreadLines } from '../unread-files.ts';
import { UsageError } from '../usage-error.ts';
import { withoutName } from '../without-name.ts';

export const list: Command = {
  usage: `Usage: anygpt mcp list [options]

Lists all configured MCP servers: what each one is, the client it was imported
from, and why it failed, if it did. Connects to no server without --status or
--tools.

  ✓ answered, now or when its tools were last listed
  ✗ failed, or cannot start    · not tried yet    - disabled

Options:
  --status           Show connection status; connects to every server
  --tools            Show tool count per server, without disabled tools;
                     connects to servers whose tools are not known
${SESSION_HELP}

Examples:
  anygpt mcp list
  anygpt mcp list --status --tools
  anygpt mcp list --json

Exit codes: 0 success, 1 invalid arguments, 2 configuration error`,
  options: { ...SESSION_OPTIONS, status: { type: 'boolean' }, tools: { type: 'boolean' } },
  async run(values, positionals, io) {
    exactly(positionals);
    const status = values.status === true;
    if (status && values.offline) throw new UsageError('--status cannot be combined with --offline');
    return withSession(values, io, async (session) => {
      const { engine } = session;
      const asking = status ? 'all' : values.tools === true || values.refresh === true ? 'unknown' : 'none';
      const servers = await listedServers(session, asking);
      const config = await engine.getConfig();
      const { servers: configured, sources } = config;
      const unread = await unreadHere(sources, io);
      const renamed = renamedServers(config, io.env.HOME);
      if (session.json) {
        const untrusted = new Set(sources.flatMap(({ status, message }) => (status === 'untrusted' && message) || []));
        // Without servers, the engine's own notes name the same files, but shortened.
        const others = engine.notes().filter((note) => !/(?:is|are) not trusted/.test(note));
        const notes = [...others, ...untrusted, ...unread, ...renamed.values()];
        session.printJson(serversDocument(servers, notes, configured));
        return EXIT.ok;
      }
      // A place of their own, so that unread files are mentioned once in each folder.
      const once = { ...config, warnings: unread, origin: 'unread files' };
      const fresh = await notesToSay(once, { whole: false, toPerson: true, cwd: io.cwd });
      // With servers, every command already prints these among its warnings.
      for (const note of [...(configured.length === 0 ? engine.notes() : []), ...fresh])
        session.note(forTerminal(note));
      const same = sameServers(config, io.env.HOME);
      const whatIs = await describer(config, io, engine.redact);
      const blocks = configured.map((definition) => {
        const { name } = definition;
        const server = servers.find((known) => known.name === name);
        const about = [whatIs(definition), isTold(definition) ? undefined : renamed.get(name), same.get(name)];
        return server === undefined
          ? disabledBlock(definition, about, status, session)
          : serverBlock(server, { status, about, refusal: definition.refusal }, session);
      });
      session.print([heading('MCP Servers', blocks.length, ' configured'), ...blocks].join('\n\n'));
      const marks = new Set(servers.map((server) => markOf(server, status)));
      if (values['log-level'] === undefined) for (const [mark, hint] of HINTS) if (marks.has(mark)) session.note(hint);
      return EXIT.ok;
    });
  },
};

/** Whether the name itself says the client and the name there: `cursor/memory`. */
const isTold = ({ name, origin: { client, name: there } }: ServerDefinition): boolean => name === `${client}/${there}`;

/** Only this command loads the table of clients. */
async function unreadHere(sources: readonly ResolvedSource[], { env, cwd }: Io): Promise<string[]> {
  const { findTrustableFiles } = await import('../../config/project-files.ts');
  const { realWorld } = await import('../../config/world.ts');
  const world = realWorld({ env, cwd });
  return unreadLines(findTrustableFiles(world), sources, world.home);
}

/** Writes what a server is: `Cursor: npx -y some-server`. An entry of the configuration itself needs no origin. */
async function describer(
  { origin: own }: ResolvedConfig,
  io: Io,
  redact: (text: string) => string,
): Promise<(server: ServerDefinition) => string> {
  const { titleOf } = await import('../../config/project-files.ts');
  const { HOME } = io.env;
  return (server) => {
    const { client, file } = server.origin;
    const isClient = client !== undefined && client !== 'custom';
    const from = isClient ? titleOf(client as never) : file === own || file === '' ? '' : withTilde(file, HOME);
    const [start, room] = [from && `${oneLine(from, 200)}: `, widthOf(io) - 2];
    const whole = start + shownConnection(server, HOME, redact);
    return columnsOf(whole) <= room ? whole : fitTo(withShortPaths(whole), room);
  };
}

const STATUS = { connected: 'Connected', disconnected: 'Disconnected', error: 'Error' } as const;

const COLOURS = { '✓': 'green', '✗': 'red', '·': 'dim' } as const;

/** What to do about servers with a mark, in the order of printing. */
const HINTS = [
  ['·', '· means not tried yet; "anygpt mcp list --status" connects to every server.'],
  ['✗', '✗ means failed or cannot start; "anygpt mcp doctor" says what to do.'],
] as const;

/** A server that was never tried is neither working nor failed. */
function markOf(server: ServerMetadata, status: boolean): keyof typeof COLOURS {
  if (server.status === 'connected') return '✓';
  if (status || server.status === 'error') return '✗';
  return server.listedAt === undefined ? '·' : '✓';
}

interface Shown {
  readonly status: boolean;
  /** What the server is, then what to know where another server is the same or has its name. */
  readonly about: readonly (string | undefined)[];
  /** Why it is not started in this folder. */
  readonly refusal: string | undefined;
}

function serverBlock(server: ServerMetadata, { status, about, refusal }: Shown, session: Session): string {
  const { paint, block } = session;
  const { name, description, stale, listedAt } = server;
  const { toolCount, disabledCount = 0, unapprovedCount = 0 } = toolCounts(server);
  const mark = markOf(server, status);
  const known = [
    (toolCount > 0 || server.status === 'connected' || listedAt !== undefined) && counted(toolCount, 'tool'),
    disabledCount > 0 && `${disabledCount} disabled`,
    unapprovedCount > 0 && `${unapprovedCount} not approved`,
    listedAt !== undefined && server.status !== 'connected' && `listed ${ageOf(listedAt)}`,
  ].filter(Boolean);
  const counts = known.length > 0 ? ` (${known.join(', ')})` : '';
  return [
    `${paint(COLOURS[mark], mark)} ${paint('bold', oneLine(name, 200))}${counts}`,
    description && block(oneLine(description, 2000), '  '),
    ...about.map((sentence) => sentence && block(sentence, '  ')),
    stateLine(server, status, refusal, session),
    stale && '  Its tool list is more than a day old.',
  ]
    .filter(Boolean)
    .join('\n');
}

const LAST_TIME = 'failed last time: ';

/** The status where it was asked for; otherwise why the server failed, cannot start or is not started. */
function stateLine(
  { name, status: state, reason = '' }: ServerMetadata,
  status: boolean,
  refusal: string | undefined,
  { block }: Session,
): string | undefined {
  const isOld = reason.startsWith(LAST_TIME);
  const why = withoutName(isOld ? reason.slice(LAST_TIME.length) : reason, name);
  if (status) return block(`Status: ${STATUS[state]}${why && ` - ${why}`}`, '  ');
  if (state === 'error' && isObstacle(why)) return block(why, '  ');
  if (state === 'error') return block(`${isOld ? 'Failed last time' : 'Failed'}: ${why}`, '  ');
  return refusal && block(refusal, '  ');
}

const disabledBlock = (
  { name, description }: ServerDefinition,
  about: readonly (string | undefined)[],
  status: boolean,
  { paint, block }: Session,
): string =>
  [
    `${paint('dim', '-')} ${paint('bold', oneLine(name, 200))} (disabled)`,
    description && block(oneLine(description, 2000), '  '),
    ...about.map((sentence) => sentence && block(sentence, '  ')),
    status && '  Status: Disabled',
  ]
    .filter(Boolean)
    .join('\n');

const STEPS: readonly (readonly [number, string])[] = [
  [24 * 3600_000, 'd'],
  [3600_000, 'h'],
  [60_000, 'min'],
];

/** `3 h ago`; `just now` below a minute, or for a time in the future after a clock was set back. */
export function ageOf(at: number, now = wallNow()): string {
  for (const [ms, unit] of STEPS) if (now - at >= ms) return `${Math.floor((now - at) / ms)} ${unit} ago`;
  return 'just now';
}
