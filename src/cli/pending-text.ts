/**
 * Shows tools that wait for approval: what is new or changed in each definition, and what the scanner found in it.
 * @module
 */
import { type DefinitionDiff, diffDefinitions } from '../approvals/definition-diff.ts';
import { SCAN_RULES } from '../approvals/scan/scan-definition.ts';
import { itemIn } from '../core/item-definition.ts';
import { LIMITS } from '../core/limits.ts';
import type { PendingTool } from '../engine/pending-tools.ts';
import { shorten, visible } from '../text/plain-text.ts';
import type { Session } from './session.ts';

/** `mail:read (approved by rule 2 (read_*))` */
export const byRuleLine = ({ server, tool, rule }: { server: string; tool: string; rule: string }): string =>
  `${nameOf(server)}:${nameOf(tool)} (approved by ${visible(rule)})`;

/** `mail:send (changed)`, with every invisible character as an escape. */
export const titleOf = ({ server, definition, approval }: PendingTool): string =>
  `${nameOf(server)}:${nameOf(definition.name)} (${approval === 'changed' ? 'changed' : 'new'})`;

const nameOf = (name: string): string => shorten(visible(name), LIMITS.names.shown);

/** The tool with the changes of its definition, old and new, and the findings below. */
export function pendingText(tool: PendingTool, session: Session): string {
  const { paint } = session;
  const { lines, isCut } = diffOf(tool);
  const changes = lines.map((line) => {
    const colour = line.startsWith('  + ') ? 'green' : line.startsWith('  - ') ? 'red' : undefined;
    return `  ${colour ? paint(colour, line) : line}`;
  });
  const cut = `  ${paint('yellow', '!')} is too long to be shown in full here; --dry-run --json shows all of it`;
  return [paint('bold', titleOf(tool)), ...changes, ...(isCut ? [cut] : []), ...findingLines(tool, session)].join('\n');
}

/** The diff; of an item, that of what its server lists. */
const diffOf = ({ before, definition }: PendingTool, isWhole = false): DefinitionDiff =>
  itemIn(definition)
    ? diffDefinitions(before?.item, definition.item, isWhole)
    : diffDefinitions(before, definition, isWhole);

/** The findings, wrapped. Excerpts have escapes for invisible characters already. */
export const findingLines = ({ findings }: PendingTool, { paint, block }: Session): string[] =>
  findings.map(({ rule, place, excerpt }) => {
    // Further lines are indented more, so that they cannot pass for findings.
    const text = block(`! ${SCAN_RULES[rule]}, at ${place}: ${excerpt}`, '      ').trimStart();
    return `  ${text.replace('!', paint('yellow', '!'))}`;
  });

/** The same for --json. */
export const pendingDocument = (tool: PendingTool) => ({
  server: tool.server,
  tool: tool.definition.name,
  ...(itemIn(tool.definition) && { kind: itemIn(tool.definition)?.what }),
  status: tool.approval,
  changes: diffOf(tool, true).lines,
  findings: tool.findings,
});
