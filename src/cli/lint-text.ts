/**
 * Writes lint findings for people, grouped by server and rule.
 * @module
 */
import { type Finding, RULES, type RuleId, SEVERITIES, type Severity } from '../lint/rules.ts';
import { oneLine } from '../text/plain-text.ts';
import type { Paint } from './paint.ts';

/** How the findings are written. */
interface LintStyle {
  readonly paint: Paint;
  readonly block: (text: string, indent?: string) => string;
  /** Most tools named under one rule. */
  readonly limit: number;
}

const MARKS: Readonly<Record<Severity, readonly ['red' | 'yellow' | 'dim', string]>> = {
  error: ['red', '✗'],
  warn: ['yellow', '!'],
  info: ['dim', '-'],
};

/** One block per server, the most severe findings first. */
export function lintText(findings: readonly Finding[], style: LintStyle): string {
  const servers = groups(findings, ({ server }) => server);
  return [...servers]
    .map(([server, own]) => [style.paint('bold', oneLine(server, 200)), ...ruleLines(own, style)].join('\n'))
    .join('\n\n');
}

function ruleLines(findings: readonly Finding[], style: LintStyle): string[] {
  const rules = [...groups(findings, ({ rule }) => rule)].sort(([a], [b]) => rankOf(a) - rankOf(b));
  return rules.flatMap(([rule, own]) => {
    const { severity, title, fix } = RULES[rule];
    const [colour, mark] = MARKS[severity];
    return [
      `  ${style.paint(colour, mark)} ${style.block(`${title} (${rule})`, '    ').slice(4)}`,
      ...toolLines(own, style),
      `    → ${style.block(fix, '      ').slice(6)}`,
    ];
  });
}

/** Names without a place share a line; a finding with places gets its own. */
function toolLines(findings: readonly Finding[], { block, limit }: LintStyle): string[] {
  const shown = findings.slice(0, limit);
  const bare = shown.filter(({ where }) => where.length === 0).map(({ tool }) => oneLine(tool, 200));
  const placed = shown.filter(({ where }) => where.length > 0);
  const rest = findings.length - shown.length;
  return [
    ...(bare.length > 0 ? [block(bare.join(', '), '      ')] : []),
    ...placed.map(({ tool, where }) => block(`${oneLine(tool, 200)}: ${oneLine(where.join(', '), 300)}`, '      ')),
    ...(rest > 0 ? [`      +${rest} more (--all shows them)`] : []),
  ];
}

const rankOf = (rule: RuleId): number => SEVERITIES.indexOf(RULES[rule].severity);

function groups<K>(findings: readonly Finding[], keyOf: (finding: Finding) => K): Map<K, Finding[]> {
  const found = new Map<K, Finding[]>();
  for (const finding of findings) {
    const group = found.get(keyOf(finding));
    if (group) group.push(finding);
    else found.set(keyOf(finding), [finding]);
  }
  return found;
}
