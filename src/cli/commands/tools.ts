/**
 * `anygpt mcp tools`: lists the tools of one server.
 * @module
 */

import type { ToolMetadata } from '../../core/types.ts';
import { oneLine } from '../../text/plain-text.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../io.ts';
import { toolsDocument } from '../json-answers.ts';
import { exactly } from '../positionals.ts';
import { SESSION_HELP, SESSION_OPTIONS, type Session, withSession } from '../session.ts';

export const tools: Command = {
  usage: `Usage: anygpt mcp tools <server> [options]

Lists the tools of one server from the cached list. Starts the server if its
tools are not known.

Options:
  --all              Include disabled tools
  --tags             Show tags
  --profile NAME     As a caller with this profile of the configuration
${SESSION_HELP}

Examples:
  anygpt mcp tools github
  anygpt mcp tools github --all
  anygpt mcp tools github --tags

Exit codes: 0 success, 1 invalid arguments, 2 server not found or configuration
error, 3 connection failed`,
  options: { ...SESSION_OPTIONS, profile: { type: 'string' }, all: { type: 'boolean' }, tags: { type: 'boolean' } },
  async run(values, positionals, io) {
    const [server = ''] = exactly(positionals, '<server>');
    return withSession(values, io, async (session) => {
      const failure = (await session.lists([server])).get(server);
      if (failure) return session.fail(failure);
      const found = await session.engine.toolsOf(server, { includeDisabled: true, caller: session.caller });
      if (!found.success) return session.fail(found.error);
      const shown = values.all ? found.data : found.data.filter(({ enabled }) => enabled);
      if (session.json) session.printJson(toolsDocument(server, shown));
      else {
        session.print(toolsText(server, found.data, shown, values.tags === true, session));
        const { unapprovedCount: waiting = 0 } =
          (await session.engine.listServers(session)).find(({ name }) => name === server) ?? {};
        if (waiting > 0)
          session.note(
            `${waiting} more ${waiting === 1 ? 'tool waits' : 'tools wait'} for approval. Look at ${waiting === 1 ? 'it' : 'them'} with: anygpt mcp approve ${shellWord(server)}`,
          );
      }
      return EXIT.ok;
    });
  },
};

function toolsText(
  server: string,
  all: readonly ToolMetadata[],
  shown: readonly ToolMetadata[],
  withTags: boolean,
  { paint, block }: Session,
): string {
  const enabled = all.filter((tool) => tool.enabled).length;
  const blocks = shown.map((tool) =>
    [
      tool.enabled
        ? `${paint('green', '✓')} ${paint('bold', oneLine(tool.name, 200))}`
        : `${paint('red', '✗')} ${paint('bold', oneLine(tool.name, 200))} (disabled)`,
      tool.summary && block(oneLine(tool.summary, 2000), '  '),
      withTags && tool.tags.length > 0 && block(`Tags: ${tool.tags.join(', ')}`, '  '),
    ]
      .filter(Boolean)
      .join('\n'),
  );
  const disabled = all.length - enabled;
  return [`Tools from ${server} (${enabled} enabled, ${disabled} disabled):`, ...blocks].join('\n\n');
}
