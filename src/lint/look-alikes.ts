/**
 * Finds tools that an agent can hardly tell apart, within one server and across servers.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { wordsOf } from './check-name.ts';
import type { Breach, LintedTool } from './rules.ts';

/** The share of words that two descriptions must have in common. */
const SIMILAR = 0.6;

/** Returns one breach per group, reported for its first tool. */
export function checkLookAlikes(
  tools: readonly LintedTool[],
): { readonly tool: LintedTool; readonly breach: Breach }[] {
  return [...inOneServer(tools), ...acrossServers(tools)];
}

/** Finds names that differ only in spelling, and tools with the same description. */
function inOneServer(tools: readonly LintedTool[]) {
  const found: { tool: LintedTool; breach: Breach }[] = [];
  const told = new Set<LintedTool>();
  const by = (keyOf: (tool: LintedTool) => string | undefined) => {
    for (const [first, ...others] of groupsOf(tools, keyOf)) {
      if (!first || others.length === 0 || told.has(first)) continue;
      told.add(first);
      found.push({ tool: first, breach: ['look-alike', ...named(others.map(({ name }) => name))] });
    }
  };
  by(({ server, name }) => `${server}\0${wordsOf(name).join(' ')}`);
  by(({ server, description }) => {
    const text = wordsOf((description ?? '').slice(0, 300)).join(' ');
    // Short descriptions are vague, which another rule reports.
    return text.length < 20 ? undefined : `${server}\0${(description ?? '').replace(/\s+/g, ' ').trim().toLowerCase()}`;
  });
  return found;
}

function acrossServers(tools: readonly LintedTool[]) {
  const found: { tool: LintedTool; breach: Breach }[] = [];
  for (const group of groupsOf(tools, coreName)) {
    const told = new Set<LintedTool>();
    const bounded = group
      .slice(0, LIMITS.search.similarTools)
      .map((tool) => ({ tool, words: new Set(wordsOf(tool.description ?? '')) }));
    for (const { tool, words } of bounded) {
      if (told.has(tool) || words.size === 0) continue;
      const others = bounded.filter(
        (other) => other.tool.server !== tool.server && similarity(words, other.words) >= SIMILAR,
      );
      if (others.length === 0) continue;
      for (const other of others) told.add(other.tool);
      const refs = others.map((other) => `${other.tool.server}:${other.tool.name}`);
      found.push({ tool, breach: ['look-alike-server', ...named(refs)] });
    }
  }
  return found;
}

/** Returns the words of a name without those of its server: `github_create_issue` of `github` is `create issue`. */
function coreName({ server, name }: LintedTool): string | undefined {
  const prefix = new Set(wordsOf(server));
  const words = wordsOf(name);
  const own = words.filter((word) => !prefix.has(word));
  return (own.length > 0 ? own : words).join(' ') || undefined;
}

function groupsOf(tools: readonly LintedTool[], keyOf: (tool: LintedTool) => string | undefined): LintedTool[][] {
  const groups = new Map<string, LintedTool[]>();
  for (const tool of tools) {
    const key = keyOf(tool);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group) group.push(tool);
    else groups.set(key, [tool]);
  }
  return [...groups.values()].filter((group) => group.length > 1);
}

/** Shared words over all words. */
function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const word of a) if (b.has(word)) shared++;
  return shared / (a.size + b.size - shared || 1);
}

const named = (names: readonly string[]): string[] =>
  names.length <= LIMITS.shown.named
    ? [...names]
    : [...names.slice(0, LIMITS.shown.named), `+${names.length - LIMITS.shown.named} more`];
