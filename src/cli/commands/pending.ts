/**
 * `anygpt mcp pending`: lists the tools that wait for approval, with what the scanner found in them.
 * @module
 */
import type { Command } from '../command.ts';
import { EXIT } from '../io.ts';
import { byRuleLine, findingLines, pendingDocument, titleOf } from '../pending-text.ts';
import { exactly } from '../positionals.ts';
import { SESSION_HELP, SESSION_OPTIONS, withSession } from '../session.ts';

export const pending: Command = {
  usage: `Usage: anygpt mcp pending [server] [options]

Lists the tools, resources and prompts that agents do not see because a person
has not approved them: new ones, and those that have changed since. "!" marks
what the scanner found in a definition: hidden characters, instructions to the
model, a name that looks like another one. "anygpt mcp approve" shows each in
full.
Also lists the tools that only a rule with "approve" has approved.

Options:
${SESSION_HELP}

Examples:
  anygpt mcp pending
  anygpt mcp pending github --refresh
  anygpt mcp pending --json

Exit codes: 0 success, 1 invalid arguments, 2 server not found or configuration
error, 3 connection failed`,
  options: SESSION_OPTIONS,
  async run(values, positionals, io) {
    const [server] = exactly(positionals, ...(positionals.length > 0 ? ['<server>'] : []));
    return withSession(values, io, async (session) => {
      const { engine, paint } = session;
      if (server !== undefined) {
        const listed = await engine.toolsOf(server);
        if (!listed.success) return session.fail(listed.error);
      }
      const failed = await session.lists(server === undefined ? undefined : [server]);
      const tools = await engine.approvals.pending(server);
      const byRule = await engine.approvals.byRule(server);
      const problems = engine.approvals.problems;
      if (session.json) session.printJson({ pending: tools.map(pendingDocument), approvedByRule: byRule, problems });
      else {
        for (const { message } of failed.values()) session.note(message);
        for (const problem of problems) session.note(problem);
        for (const tool of tools)
          session.print([paint('bold', titleOf(tool)), ...findingLines(tool, session)].join('\n'));
        for (const one of byRule) session.print(byRuleLine(one));
        session.print(
          tools.length === 0
            ? 'No tool waits for approval.'
            : `\n${tools.length === 1 ? '1 tool waits' : `${tools.length} tools wait`} for approval. Look at ${tools.length === 1 ? 'it' : 'them'} with: anygpt mcp approve`,
        );
      }
      return EXIT.ok;
    });
  },
};
