/**
 * `anygpt mcp read`: reads a resource of a server and prints it.
 * @module
 */

import { OWN_SERVER } from '../../core/own-server.ts';
import type { Command } from '../command.ts';
import { outcomeOf } from '../execute-outcome.ts';
import { EXIT } from '../io.ts';
import { exactly } from '../positionals.ts';
import { pathIn } from '../read-text.ts';
import { rawResult } from '../result-text.ts';
import { openFolder, saveFiles } from '../save-files.ts';
import { SESSION_HELP, SESSION_OPTIONS, withSession } from '../session.ts';

export const read: Command = {
  usage: `Usage: anygpt mcp read <server> <uri> [options]

Reads a resource and prints its text as the server returned it. The URI goes to
this server only. For a template, put values in the places of {variables}.

Options:
  --output DIR       Save images, audio and files in DIR; keep existing files
${SESSION_HELP}

Examples:
  anygpt mcp read github repo://owner/name/README.md
  anygpt mcp read github repo://owner/name/README.md > README.md
  anygpt mcp read docs docs://logo.png --output ~/pictures
  anygpt mcp read docs docs://handbook --json

Exit codes: 0 success, 1 invalid arguments, 2 server or resource not found,
3 reading failed, 4 resource disabled`,
  options: { ...SESSION_OPTIONS, output: { type: 'string' } },
  async run(values, positionals, io) {
    const [server = '', uri = ''] = exactly(positionals, '<server>', '<uri>');
    return withSession(values, io, async ({ engine, progress, signal, timeoutMs, fail, json, printJson }) => {
      const folder = values.output === undefined ? undefined : await openFolder(pathIn(String(values.output), io));
      progress.show(`Reading ${uri} from ${server} …`);
      const request = { server: OWN_SERVER, tool: 'read_resource', arguments: { server, uri } };
      const called = await engine.call({ ...request, signal, timeout: timeoutMs });
      progress.clear();
      const outcome = outcomeOf(called, { server, tool: `resource:${uri}` });
      if (!outcome.success) return fail(outcome.error);
      if (!called.success) return fail(called.error);
      const saved = folder === undefined ? [] : await saveFiles(called.data.content ?? [], folder, 'resource');
      if (json) printJson(saved.length > 0 ? { ...outcome, files: saved } : outcome, 'exact');
      else if (!signal.aborted) io.stdout.write(rawResult(called.data, saved, io.stdout.isTTY));
      return EXIT.ok;
    });
  },
};
