/**
 * Checks tool definitions: reports what APIs refuse, what confuses agents, and what looks like an attack. Pure; all
 * input is untrusted.
 * @module
 */
import { checkDescription, checkWords } from './check-description.ts';
import { checkAnnotations, checkName } from './check-name.ts';
import { checkSchema } from './check-schema.ts';
import { checkLookAlikes } from './look-alikes.ts';
import { type Breach, type Finding, type LintedTool, RULES } from './rules.ts';

interface LintOptions {
  /** Estimates the tokens of a text. */
  readonly tokensOf: (text: string) => number;
  /** Longer definitions are reported. Default 1,500. */
  readonly maxTokens?: number | undefined;
}

/** The token limit of a definition; one real tool in twenty exceeds it. */
export const HUGE_TOKENS = 1500;

/** Returns every finding, in the order of the tools. */
export function lintTools(tools: readonly LintedTool[], options: LintOptions): Finding[] {
  const alike = new Map<LintedTool, Breach[]>();
  for (const { tool, breach } of checkLookAlikes(tools)) alike.set(tool, [...(alike.get(tool) ?? []), breach]);
  return tools.flatMap((tool) =>
    [...breachesOf(tool, options), ...(alike.get(tool) ?? [])].map((breach) => toFinding(tool, breach)),
  );
}

function breachesOf(tool: LintedTool, { tokensOf, maxTokens = HUGE_TOKENS }: LintOptions): Breach[] {
  const { name, title = '', description = '', inputSchema } = tool;
  const { breaches, texts } = checkSchema(tool);
  const words = [
    { where: 'name', text: name },
    { where: 'title', text: title },
    { where: 'description', text: description },
  ];
  const found = [
    ...checkName(tool),
    ...checkDescription(tool),
    ...checkAnnotations(tool),
    ...breaches,
    ...checkWords([...words, ...texts]),
  ];
  const tokens = tokensOf(JSON.stringify({ name, description, inputSchema }));
  if (tokens <= maxTokens) return found;
  const share = `about ${tokens} tokens, the description ${tokensOf(description)}`;
  return [...found, ['definition-huge', share]];
}

function toFinding({ server, name }: LintedTool, [rule, ...where]: Breach): Finding {
  const { severity, title, fix } = RULES[rule];
  const message = where.length > 0 ? `${title}: ${where.join(', ')}` : title;
  return { server, tool: name, rule, severity, message, where, fix };
}
