/**
 * Checks a tool's name against the APIs that would refuse it.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { Breach, LintedTool } from './rules.ts';

/** What is wrong with a name, on its own and with the prefix that clients add. */
export function checkName({ server, name }: LintedTool): Breach[] {
  const breaches: Breach[] = [];
  if (!/^[A-Za-z0-9_-]*$/.test(name)) breaches.push(['name-characters']);
  if (/^[^A-Za-z_]/.test(name)) breaches.push(['name-start']);
  if (name.length > LIMITS.names.api) breaches.push(['name-length', `${name.length} characters`]);
  else if (`mcp__${server}__${name}`.length > LIMITS.names.api) breaches.push(['name-prefixed']);
  return breaches;
}

const WRITES = new Set(
  'add append archive assign cancel close create delete destroy disable drop edit enable erase insert install kill merge modify move patch post publish purge push put remove rename replace reset restart revoke save send submit terminate truncate uninstall update upload wipe write'.split(
    ' ',
  ),
);
const READS = new Set('count describe find get inspect list lookup peek query read search show view'.split(' '));

/** Reports hints that contradict each other or the tool's name. */
export function checkAnnotations({ name, annotations = {} }: LintedTool): Breach[] {
  const [verb = ''] = wordsOf(name);
  const { readOnlyHint, destructiveHint } = annotations;
  const rule = 'annotation-contradiction';
  if (readOnlyHint === true && destructiveHint === true) return [[rule, 'readOnlyHint and destructiveHint']];
  if (readOnlyHint === true && WRITES.has(verb)) return [[rule, `readOnlyHint on ${verb}`]];
  // Absent means true in the specification, so only explicit hints count.
  if (readOnlyHint === false && destructiveHint === true && READS.has(verb))
    return [[rule, `destructiveHint on ${verb}`]];
  return [];
}

/** Splits a name into lower-case words: `getIssue`, `get_issue` and `get-issue` give the same two. */
export const wordsOf = (name: string): string[] =>
  name
    .slice(0, 300)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
