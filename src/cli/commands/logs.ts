/**
 * `anygpt mcp logs`: shows what a local server wrote to stderr in its last run.
 * @module
 */
import { isLocal } from '../../core/transport-parts.ts';
import { quoteLog, readServerLog, serverLogFile, shownLog } from '../../engine/server-logs.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { Command } from '../command.ts';
import { followFile } from '../follow-file.ts';
import { EXIT } from '../io.ts';
import { exactly } from '../positionals.ts';
import { ENGINE_HELP, ENGINE_OPTIONS, type Session, withSession } from '../session.ts';
import { UsageError } from '../usage-error.ts';

export const logs: Command = {
  usage: `Usage: anygpt mcp logs <server> [options]

Shows what a local server wrote to stderr in its last run, in a gateway or in a
command, without its secrets. The end of the log is kept in ~/.anygpt/logs. Our
own lines begin with "==="; a line of the server that looks like one gets "| "
in front. Starts no server without --start.

Options:
  --start            Start the server, list its tools, and show what it writes
  --follow, -f       Keep showing new lines until Ctrl-C
  --timeout TIME     With --start, the longest wait: 30 (seconds), 500ms, 2m
${ENGINE_HELP}

Examples:
  anygpt mcp logs github
  anygpt mcp logs github --follow
  anygpt mcp logs github --start --timeout 10

Exit codes: 0 success, 1 invalid arguments, 2 server not found or configuration
error, 3 connection failed`,
  options: {
    ...ENGINE_OPTIONS,
    start: { type: 'boolean' },
    follow: { type: 'boolean', short: 'f' },
    timeout: { type: 'string' },
  },
  async run(values, positionals, io) {
    const [server = ''] = exactly(positionals, '<server>');
    const { follow = false, start = false } = values;
    if (follow && values.json) throw new UsageError('--follow cannot be combined with --json');
    if (values.timeout !== undefined && !start) throw new UsageError('--timeout needs --start');
    return withSession(values, io, async (session) => {
      const { engine } = session;
      const { servers, home } = await engine.getConfig();
      const definition = servers.find(({ name }) => name === server);
      if (!definition) {
        const known = await engine.toolsOf(server);
        if (!known.success) return session.fail(known.error);
      }
      if (definition && !isLocal(definition.connection) && !start) {
        session.note(
          `${server} is a remote server (${definition.connection.type}), so its stderr is not available. To check it: anygpt mcp doctor ${shellWord(server)}`,
        );
        if (session.json) session.printJson({ server, log: '' });
        return EXIT.ok;
      }
      if (!follow) return start ? fresh(server, session) : (await kept(server, home, session)).code;
      const from = start ? ((await readServerLog(home, server))?.end ?? 0) : (await kept(server, home, session)).end;
      if (start) void session.lists([server], true);
      let rest = '';
      const onText = (text: string) => {
        const cut = (rest + text).lastIndexOf('\n') + 1;
        const lines = (rest + text).slice(0, cut);
        rest = (rest + text).slice(cut);
        if (lines === '') return;
        session.progress.clear();
        // Each run begins with an empty line.
        session.io.stdout.write(shownLog(lines.replace(/^\n(?==== started )/, '')));
      };
      await followFile(serverLogFile(home, server), { from, onText, signal: session.signal });
      return EXIT.ok;
    });
  },
};

/** Prints the log of the last run and returns where to read on. */
async function kept(server: string, home: string, session: Session) {
  const log = await readServerLog(home, server);
  const text = shownLog(log?.text ?? '');
  const result = { code: EXIT.ok, end: log?.end ?? 0 };
  if (session.json) {
    session.printJson({ server, log: text, ...(log?.startedAt && { startedAt: log.startedAt }) });
    return result;
  }
  const when = log?.startedAt === undefined ? 'Last run' : `Run of ${log.startedAt}`;
  if (log === undefined)
    session.note(`There is no log of ${server} yet. To start the server now: anygpt mcp logs ${server} --start`);
  else session.note(`${when}${text === '' ? ': nothing on stderr.' : ':'}`);
  if (text !== '') session.print(text.trimEnd());
  return result;
}

/** Starts the server and prints what it writes. */
async function fresh(server: string, session: Session): Promise<number> {
  const failure = (await session.lists([server], true)).get(server);
  const log = shownLog(quoteLog(session.engine.connections.log(server)));
  if (session.json && !failure) session.printJson({ server, log });
  else if (!session.json && log !== '') session.print(log.trimEnd());
  if (failure) return session.fail(failure);
  if (log === '' && !session.json) session.note(`${server} wrote nothing to stderr.`);
  return EXIT.ok;
}
