/**
 * Decides how long changed files must be quiet before the new configuration takes effect. Half a JSON file is not valid
 * JSON. But the first half of a YAML file is a valid configuration that lacks the later rules, and code may do
 * anything. So a change in such a format waits longer, and longest if it removes something: a half-written file looks
 * like that, and a missing rule would allow what was denied.
 * @module
 */
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import type { ToolRule } from '../core/types.ts';
import { isBrokenSource, type ResolvedConfig } from './resolved-config.ts';

/** Delays in milliseconds, from the shortest to the longest. */
export interface QuietTimes {
  readonly settleMs: number;
  readonly partialMs: number;
  readonly lossMs: number;
}

/** Returns the delay for the step from one configuration to the next, given the changed files. */
export function quietTime(
  before: ResolvedConfig | undefined,
  next: ResolvedConfig,
  changed: readonly string[],
  { settleMs, partialMs, lossMs }: QuietTimes,
): number {
  // An unreadable source has no servers, which looks like a removal.
  if (before && (brokenSources(next) > brokenSources(before) || losesSource(before, next))) return lossMs;
  const partial = changed.filter((path) => !isSelfContained(path));
  if (partial.length === 0) return settleMs;
  if (before?.origin === undefined) return partialMs;
  return onlyAdds(before, next) && partial.every(endsWithLine) ? partialMs : lossMs;
}

/** Formats whose partial text never parses. */
const isSelfContained = (path: string): boolean => /\.jsonc?$/i.test(path);

const brokenSources = ({ sources }: ResolvedConfig): number => sources.filter(isBrokenSource).length;

/** Tells whether a file with servers has disappeared. Its switched-off entries and tool lists disappear with it. */
function losesSource(before: ResolvedConfig, next: ResolvedConfig): boolean {
  const there = new Set(next.sources.flatMap(({ path, status }) => (status === 'missing' ? [] : [path])));
  return before.sources.some(({ path, serverCount }) => serverCount > 0 && !there.has(path) && !existsSync(path));
}

/** Tells whether the change only adds servers and denials. */
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

/** Tells whether a file's last line is complete. True for a missing file, which has no line to cut. */
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
