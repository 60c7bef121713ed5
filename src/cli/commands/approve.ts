/**
 * `anygpt mcp approve`: shows what is new or changed in the definitions of tools, and lets agents use them. Exactly what
 * was shown is approved, even if the server has changed it since.
 * @module
 */

import type { PendingTool } from '../../engine/pending-tools.ts';
import { touchTrustStamp } from '../../engine/watch-config.ts';
import { counted } from '../../text/counted.ts';
import { visible } from '../../text/plain-text.ts';
import { isYes } from '../ask.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../io.ts';
import { byRuleLine, pendingDocument, pendingText } from '../pending-text.ts';
import { exactly } from '../positionals.ts';
import { SESSION_HELP, SESSION_OPTIONS, type Session, withSession } from '../session.ts';
import { UsageError } from '../usage-error.ts';

export const approve: Command = {
  usage: `Usage: anygpt mcp approve [server[:tool]] [options]

Shows what waits for approval: tools, resources (resource:URI, template:URI),
prompts (prompt:NAME) and what a server says of itself (introduction). New ones
are shown in full, changed ones as old and new, with invisible characters as
escapes. "!" marks what the scanner found. Tools that a rule with "approve" has
approved are named with the rule. Then asks for each server, and approves the
tools as they were shown; running gateways offer them at once. Without a
terminal nothing is asked: name a server or a tool, or add --all.

Options:
  --all              Approve everything that waits, without asking
  --dry-run          Show it, and approve nothing
${SESSION_HELP}

Examples:
  anygpt mcp approve
  anygpt mcp approve github
  anygpt mcp approve github:create_issue
  anygpt mcp approve github:prompt:review
  anygpt mcp approve github --dry-run
  anygpt mcp approve --all --json

Exit codes: 0 success, 1 invalid arguments, 2 server or tool not found or
configuration error, 3 connection or storage failed, 4 not everything was
approved`,
  options: { ...SESSION_OPTIONS, all: { type: 'boolean' }, 'dry-run': { type: 'boolean' } },
  async run(values, positionals, io) {
    const [isDry, isAll] = [values['dry-run'] === true, values.all === true];
    const words = exactly(positionals, ...['<server>', '<tool>'].slice(0, Math.min(2, positionals.length)));
    const asks = !isAll && !isDry && values.json !== true && io.stdin.isTTY === true;
    if (words.length === 0 && !isAll && !isDry && !asks)
      throw new UsageError('name a server or a tool, or add --all to approve everything that waits');
    return withSession(values, io, async (session) => {
      const found = await wanted(session, words);
      if (typeof found === 'number') return found;
      for (const problem of session.engine.approvals.problems) session.note(problem);
      const said = words.join(':');
      const byRule = (await session.engine.approvals.byRule()).filter(
        ({ server, tool }) => said === '' || said === server || said === `${server}:${tool}`,
      );
      if (!session.json) for (const one of byRule) session.print(byRuleLine(one));
      const approved: PendingTool[] = [];
      for (const server of new Set(found.map((tool) => tool.server))) {
        const tools = found.filter((tool) => tool.server === server);
        if (!session.json) session.print(tools.map((tool) => `${pendingText(tool, session)}\n`).join('\n'));
        const question = `Approve ${tools.length === 1 ? 'this tool' : `these ${tools.length} tools`} of ${visible(server)}? [y/N] `;
        if (isDry || (asks && !(await isYes(io, question)))) continue;
        const definitions = tools.map(({ definition }) => definition);
        const tooLarge = new Set(await session.engine.approvals.approve(server, definitions));
        approved.push(...tools.filter(({ definition }) => !tooLarge.has(definition.name)));
        for (const name of tooLarge)
          session.note(`${visible(server)}:${visible(name)} is too large to be approved, so it cannot be used.`);
      }
      if (approved.length > 0) touchTrustStamp((await session.engine.getConfig()).home);
      if (session.json)
        session.printJson({
          dryRun: isDry,
          tools: found.map((tool) => ({ ...pendingDocument(tool), approved: approved.includes(tool) })),
          approvedByRule: byRule,
        });
      else session.print(summaryOf(found, approved, isDry, session));
      return isDry || approved.length === found.length ? EXIT.ok : EXIT.refused;
    });
  },
};

/** The tools that wait and that the words mean, as their servers list them now; or the exit code of a failure. */
async function wanted(session: Session, words: readonly string[]): Promise<readonly PendingTool[] | number> {
  const { engine } = session;
  const [first, second = ''] = words;
  const isServer = first !== undefined && second === '' && (await engine.serverNames()).includes(first);
  const ref =
    first === undefined ? undefined : isServer ? { server: first, tool: '' } : await engine.refOf(first, second);
  const known = ref && (await engine.toolsOf(ref.server));
  if (known?.success === false) return session.fail(known.error);
  // What is shown is what the servers say now.
  const servers = ref ? [ref.server] : [...new Set((await engine.approvals.pending()).map(({ server }) => server))];
  const failed = await session.lists(ref || servers.length > 0 ? servers : undefined, servers.length > 0);
  for (const { message } of failed.values()) session.note(message);
  const all = await engine.approvals.pending(ref?.server);
  if (!ref?.tool) return all;
  const one = all.filter(({ definition }) => definition.name === ref.tool);
  const described = one.length > 0 ? undefined : await engine.describe(ref.server, ref.tool);
  return described?.success === false ? session.fail(described.error) : one;
}

function summaryOf(
  found: readonly PendingTool[],
  approved: readonly PendingTool[],
  isDry: boolean,
  { paint }: Session,
): string {
  if (found.length === 0) return 'No tool waits for approval.';
  if (isDry) return `Would approve ${counted(found.length, 'tool')}`;
  const left = found.length - approved.length;
  const rest = left === 0 ? '' : `; ${left === 1 ? '1 still waits' : `${left} still wait`}`;
  return approved.length === 0
    ? `Approved nothing${rest}`
    : `${paint('green', '✓')} Approved ${counted(approved.length, 'tool')}${rest}; running gateways will offer them`;
}
