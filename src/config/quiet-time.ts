/**
 * Decides how long changed files must have been quiet before the configuration in them takes effect.
 *
 * Half a JSON file is not JSON. But the first half of a YAML file is a configuration, only without the rules that follow,
 * and of code nobody can say anything. So a change in such a format waits longer, and longest where it takes something
 * away: that is what a file that is being written looks like, and a rule that is missing opens what was denied.
 * @module
 */
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import type { ToolRule } from '../core/types.ts';
import { isBrokenSource, type ResolvedConfig } from './resolved-config.ts';

/** Milliseconds, from the shortest to the longest. */
export interface QuietTimes {
  readonly settleMs: number;
  readonly partialMs: number;
  readonly lossMs: number;
}

/** For the step from one configuration to the next, where these files changed. */
export function quietTime(
  before: ResolvedConfig | undefined,
  next: ResolvedConfig,
  changed: readonly string[],
  { settleMs, partialMs, lossMs }: QuietTimes,
): number {
  // A source that cannot be read brings no servers, and says so in no other way.
  if (before && (brokenSources(next) > brokenSources(before) || losesSource(before, next))) return lossMs;
  const partial = changed.filter((path) => !isSelfContained(path));
  if (partial.length === 0) return settleMs;
  if (before?.origin === undefined) return partialMs;
  return onlyAdds(before, next) && partial.every(endsWithLine) ? partialMs : lossMs;
}

/** Formats of which no part is a whole. */
const isSelfContained = (path: string): boolean => /\.jsonc?$/i.test(path);

const brokenSources = ({ sources }: ResolvedConfig): number => sources.filter(isBrokenSource).length;

/** Whether a file that had servers is not there any more: with it goes what it says of them and switches off. */
function losesSource(before: ResolvedConfig, next: ResolvedConfig): boolean {
  const there = new Set(next.sources.flatMap(({ path, status }) => (status === 'missing' ? [] : [path])));
  return before.sources.some(({ path, serverCount }) => serverCount > 0 && !there.has(path) && !existsSync(path));
}

/** Whether everything is as it was, but for new servers and new denials. */
function onlyAdds(before: ResolvedConfig, next: ResolvedConfig): boolean {
  const { servers: old, toolRules: oldRules, files: _f, warnings: _w, sources: _s, ...settings } = before;
  const { servers, toolRules, files: _files, warnings: _warnings, sources: _sources, ...now } = next;
  const names = new Set(old.map(({ name }) => name));
  const kept = servers.filter(({ name }) => names.has(name));
  return equal(settings, now) && equal(kept, old) && equal(withoutNewDenials(toolRules, oldRules), oldRules);
}

function withoutNewDenials(rules: readonly ToolRule[], old: readonly ToolRule[]): ToolRule[] {
  const known = new Set(old.map((rule) => JSON.stringify(rule)));
  return rules.filter((rule) => rule.enabled !== false || known.has(JSON.stringify(rule)));
}

const equal = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const NEWLINE = 0x0a;

/** Whether a file's last line is whole; one that is not there has no line that could be cut. */
function endsWithLine(path: string): boolean {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, 'r');
    const last = Buffer.alloc(1);
    const { size } = fstatSync(descriptor);
    return size > 0 && readSync(descriptor, last, 0, 1, size - 1) === 1 && last[0] === NEWLINE;
  } catch {
    return true;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
