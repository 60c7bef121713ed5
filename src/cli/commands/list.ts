/**
 * `anygpt mcp list`: all configured servers.
 * @module
 */
import type { ResolvedSource } from '../../config/resolved-config.ts';
import type { ServerMetadata } from '../../core/types.ts';
import { toolCounts } from '../../meta-tools/answers.ts';
import { oneLine } from '../../text/plain-text.ts';
import { ageOf } from '../age.ts';
import type { Command } from '../command.ts';
import { EXIT, type Io } from '../io.ts';
import { serversDocument } from '../json-answers.ts';
import { exactly } from '../positionals.ts';
import { renamedServers, sameServers } from '../same-servers.ts';
import { SESSION_HELP, SESSION_OPTIONS, type Session, withSession } from '../session.ts';
import { unreadLines } from '../unread-files.ts';
import { UsageError } from '../usage-error.ts';

export const list: Command = {
  usage: `Usage: anygpt mcp list [options]

Lists all configured MCP servers. Starts none of them, unless --status or --tools asks for what only they know.
✓ is a server that answered, now or when its list was kept; ✗ one that failed; · one not tried yet.

Options:
  --status           Show connection status; connects to every server
  --tools            Show tool count per server, without disabled tools; connects to servers that were never seen
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
    if (status && values.offline) throw new UsageError('--status connects to servers and --offline forbids it');
    return withSession(values, io, async (session) => {
      const { engine } = session;
      const wanted = status || values.tools === true || values.refresh === true;
      const failed = wanted ? await session.lists(undefined, status || undefined) : new Map();
      const servers = (await engine.listServers()).map((server) => {
        const reason = failed.get(server.name)?.message;
        if (server.status !== 'disconnected') return server;
        if (reason !== undefined) return { ...server, status: 'error' as const, reason };
        // It has just listed its tools. That its connection was closed to make room for others is not its fault.
        return status ? { ...server, status: 'connected' as const, reason: undefined } : server;
      });
      const config = await engine.getConfig();
      const { servers: configured, sources } = config;
      const unread = await unreadHere(sources, io);
      const renamed = renamedServers(config, io.env.HOME);
      if (session.json) {
        const untrusted = new Set(sources.flatMap(({ status, message }) => (status === 'untrusted' && message) || []));
        // Without servers the engine names the same files, cut short.
        const others = engine.notes().filter((note) => !/(?:is|are) not trusted/.test(note));
        session.printJson(serversDocument(servers, [...others, ...untrusted, ...unread, ...renamed.values()]));
        return EXIT.ok;
      }
      // With servers, these are among the warnings that every command says.
      for (const note of [...(configured.length === 0 ? engine.notes() : []), ...unread]) session.note(note);
      const same = sameServers(config, io.env.HOME);
      const off = configured.filter(({ name }) => !servers.some((server) => server.name === name));
      const blocks = [
        ...servers.map((server) =>
          serverBlock(server, { status, about: [renamed.get(server.name), same.get(server.name)] }, session),
        ),
        ...off.map(({ name, description }) => offBlock(name, description, status, session)),
      ];
      session.print([`MCP Servers (${blocks.length} configured):`, ...blocks].join('\n\n'));
      if (values['log-level'] === undefined && servers.some((server) => markOf(server, status) === '·'))
        session.note('· has not answered yet; "anygpt mcp list --status" connects and says what is true now.');
      return EXIT.ok;
    });
  },
};

/** The clients are looked up only here: no other command needs them. */
async function unreadHere(sources: readonly ResolvedSource[], { env, cwd }: Io): Promise<string[]> {
  const { findTrustableFiles } = await import('../../config/project-files.ts');
  const { realWorld } = await import('../../config/world.ts');
  const world = realWorld({ env, cwd });
  return unreadLines(findTrustableFiles(world), sources, world.home);
}

const STATUS = { connected: 'Connected', disconnected: 'Disconnected', error: 'Error' } as const;

const COLOURS = { '✓': 'green', '✗': 'red', '·': 'dim' } as const;

/** Nobody knows of a server that was never tried whether it works. */
function markOf(server: ServerMetadata, status: boolean): keyof typeof COLOURS {
  if (server.status === 'connected') return '✓';
  if (status || server.status === 'error') return '✗';
  return server.listedAt === undefined ? '·' : '✓';
}

interface Shown {
  readonly status: boolean;
  /** What there is to say where another server is the same, or has its name. */
  readonly about: readonly (string | undefined)[];
}

function serverBlock(server: ServerMetadata, { status, about: said }: Shown, { paint, block }: Session): string {
  const { name, description, stale, reason, listedAt } = server;
  const { toolCount, disabledCount = 0 } = toolCounts(server);
  const mark = markOf(server, status);
  const known = [
    (toolCount > 0 || server.status === 'connected' || listedAt !== undefined) &&
      `${toolCount} tool${toolCount === 1 ? '' : 's'}`,
    disabledCount > 0 && `${disabledCount} disabled`,
    listedAt !== undefined && server.status !== 'connected' && `listed ${ageOf(listedAt)}`,
  ].filter(Boolean);
  const about = known.length > 0 ? ` (${known.join(', ')})` : '';
  return [
    `${paint(COLOURS[mark], mark)} ${paint('bold', oneLine(name, 200))}${about}`,
    description && block(oneLine(description, 2000), '  '),
    ...said.map((sentence) => sentence && block(sentence, '  ')),
    status && block(`Status: ${STATUS[server.status]}${reason ? ` - ${reason}` : ''}`, '  '),
    stale && '  Its tool list is more than a day old.',
  ]
    .filter(Boolean)
    .join('\n');
}

const offBlock = (name: string, description: string | undefined, status: boolean, { paint, block }: Session): string =>
  [
    `${paint('dim', '✗')} ${paint('bold', oneLine(name, 200))} (disabled)`,
    description && block(oneLine(description, 2000), '  '),
    status && '  Status: Disabled',
  ]
    .filter(Boolean)
    .join('\n');
