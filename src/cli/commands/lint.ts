/**
 * `anygpt mcp lint`: finds tool definitions that APIs refuse, that agents misunderstand, or that look like an attack.
 * @module
 */

import { HUGE_TOKENS, lintTools } from '../../lint/lint-tools.ts';
import {
  type Finding,
  type LintedTool,
  RULE_IDS,
  RULES,
  type RuleId,
  SEVERITIES,
  type Severity,
} from '../../lint/rules.ts';
import { aboutTokens } from '../../meta-tools/definition-tokens.ts';
import { counted } from '../../text/counted.ts';
import type { Command, Values } from '../command.ts';
import { EXIT } from '../io.ts';
import { lintText } from '../lint-text.ts';
import { SESSION_HELP, SESSION_OPTIONS, type Session, withSession } from '../session.ts';
import { numberOf, oneOf, refuseWord } from '../usage-error.ts';

const SHOWN = 8;
const idsOf = (severity: Severity): string => RULE_IDS.filter((id) => RULES[id].severity === severity).join(', ');

export const lint: Command = {
  usage: `Usage: anygpt mcp lint [server…] [options]

Checks the definitions of all enabled tools, or of the named servers: what LLM
APIs refuse, what agents confuse or misunderstand, and what looks like an
attack. Starts only servers whose tools are not known.

Options:
  --rule ID          Check only this rule; may be repeated
  --severity LEVEL   Show this and above: error, warn (default) or info
  --max-tokens N     Report definitions above N tokens (default: ${HUGE_TOKENS})
  --strict           Exit with 3 if there are errors
  --all              Name every tool, not only the first ${SHOWN} of a rule
${SESSION_HELP}

Rules:
  error  ${idsOf('error')
    .replace(/(.{1,70})(?:, |$)/g, '$1\n         ')
    .trimEnd()}
  warn   ${idsOf('warn')
    .replace(/(.{1,70})(?:, |$)/g, '$1\n         ')
    .trimEnd()}
  info   ${idsOf('info')
    .replace(/(.{1,70})(?:, |$)/g, '$1\n         ')
    .trimEnd()}

Examples:
  anygpt mcp lint
  anygpt mcp lint github --severity info
  anygpt mcp lint --rule array-items --strict --json

Exit codes: 0 success, even with findings, 1 invalid arguments, 2 server not
found or configuration error, 3 errors with --strict, or a named server cannot
be reached`,
  options: {
    ...SESSION_OPTIONS,
    rule: { type: 'string', multiple: true },
    severity: { type: 'string' },
    'max-tokens': { type: 'string' },
    strict: { type: 'boolean' },
    all: { type: 'boolean' },
  },
  async run(values, names, io) {
    const { rules, severity, maxTokens } = wishesOf(values);
    return withSession(values, io, async (session) => {
      const failed = await session.lists(names.length > 0 ? names : undefined);
      for (const name of names) {
        const failure = failed.get(name);
        if (failure) return session.fail(failure);
        const known = await session.engine.toolsOf(name);
        if (!known.success) return session.fail(known.error);
      }
      const { tools, unknown } = await toolsOf(names, session);
      const looked = tools.filter(({ server }) => names.length === 0 || names.includes(server));
      const all = lintTools(tools, { tokensOf: aboutTokens, maxTokens }).filter(
        ({ server, rule }) => (names.length === 0 || names.includes(server)) && (rules?.includes(rule) ?? true),
      );
      const shown = all.filter((finding) => SEVERITIES.indexOf(finding.severity) <= SEVERITIES.indexOf(severity));
      const missing = names.length > 0 ? [] : unknown;
      if (session.json) session.printJson(documentOf(looked, all, shown, missing));
      else {
        const { paint, block } = session;
        const limit = values.all === true ? Number.POSITIVE_INFINITY : SHOWN;
        const summary = summaryOf(looked, all, severity);
        session.print(
          shown.length > 0 ? `${lintText(shown, { paint, block, limit })}\n\n${block(summary)}` : block(summary),
        );
        if (missing.length > 0) session.note(`The tools of ${missing.join(', ')} are not known and were not checked.`);
      }
      return values.strict === true && all.some((finding) => finding.severity === 'error') ? EXIT.failed : EXIT.ok;
    });
  },
};

function wishesOf(values: Values) {
  const rules = values.rule as readonly RuleId[] | undefined;
  for (const rule of rules ?? []) {
    if (Object.hasOwn(RULES, rule)) continue;
    refuseWord(`Unknown rule "${rule}".`, rule, RULE_IDS, '"anygpt mcp lint --help" lists all rules.');
  }
  const { 'max-tokens': tokens } = values;
  const severity = oneOf('--severity', values.severity ?? (rules ? 'info' : 'warn'), SEVERITIES);
  return { rules, severity, maxTokens: numberOf('--max-tokens', tokens, 1, Number.MAX_SAFE_INTEGER) };
}

/** All known tools. Those of the named servers come first, so that duplicates are reported for them. */
async function toolsOf(names: readonly string[], { engine }: Session) {
  const unknown = await engine.unseen();
  const servers = (await engine.serverNames()).filter((name) => !unknown.includes(name));
  const sorted = [
    ...servers.filter((name) => names.includes(name)),
    ...servers.filter((name) => !names.includes(name)),
  ];
  const tools: LintedTool[] = [];
  for (const name of sorted) tools.push(...(await engine.listTools(name)));
  return { tools, unknown };
}

const countsOf = (findings: readonly Finding[]) => {
  const count = (wanted: Severity) => findings.filter(({ severity }) => severity === wanted).length;
  return { error: count('error'), warn: count('warn'), info: count('info') };
};

function summaryOf(tools: readonly LintedTool[], findings: readonly Finding[], severity: Severity): string {
  const servers = new Set(tools.map(({ server }) => server)).size;
  const { error, warn, info } = countsOf(findings);
  const hidden = severity === 'info' ? 0 : info + (severity === 'error' ? warn : 0);
  const parts = [
    counted(error, 'error'),
    severity !== 'error' && counted(warn, 'warning'),
    severity === 'info' && counted(info, 'note'),
  ];
  const more = hidden > 0 ? `; ${hidden} less severe (--severity info shows them)` : '';
  return `${counted(tools.length, 'tool')} of ${counted(servers, 'server')}: ${parts.filter(Boolean).join(', ')}${more}.`;
}

const documentOf = (
  tools: readonly LintedTool[],
  all: readonly Finding[],
  shown: readonly Finding[],
  unknown: readonly string[],
) => ({
  tools: tools.length,
  servers: new Set(tools.map(({ server }) => server)).size,
  counts: countsOf(all),
  findings: shown,
  unknown,
});
