/**
 * Converts the tool lists of an imported entry into rules for that server. The rules only disable: an enabling rule
 * would turn the rules of all servers into an allow-list.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import type { ToolRule } from '../../core/types.ts';
import type { Dialect } from './dialect.ts';

/** The tools of a server that its client uses. */
export interface ToolFilter {
  /** Only these; undefined means all. */
  readonly include: readonly string[] | undefined;
  /** All but these. */
  readonly exclude: readonly string[];
  /** Whether `*` and `?` in the names are wildcards. */
  readonly globs: boolean;
}

const INCLUDE = ['includeTools', 'enabledTools', 'enabled_tools', 'available_tools'];
const EXCLUDE = ['excludeTools', 'disabledTools', 'disabled_tools'];

/** Returns the filter of an entry; undefined when it has none; a string when it cannot be used. */
export function readToolFilter(
  raw: Readonly<Record<string, unknown>>,
  dialect: Dialect,
): ToolFilter | string | undefined {
  const includeKeys = dialect.toolsAreFilter ? ['tools', ...INCLUDE] : INCLUDE;
  const includes = includeKeys.map((key) => readNames(raw, key));
  const excludes = EXCLUDE.map((key) => readNames(raw, key));
  const problem = [...includes, ...excludes].find((names) => typeof names === 'string');
  if (typeof problem === 'string') return problem;
  const written = includes.find((names): names is readonly string[] => Array.isArray(names));
  const all = written?.includes('*') || (written?.length === 0 && dialect.emptyIncludeIsAll);
  const include = all ? undefined : written;
  const wins = dialect.includeWins && include !== undefined;
  const exclude = wins ? [] : excludes.flatMap((names) => names ?? []);
  if (include === undefined && exclude.length === 0) return undefined;
  return { include, exclude, globs: dialect.globs ?? false };
}

/** Returns the rules that apply a filter to the server of this name. */
export function toToolRules(server: string, { include, exclude, globs }: ToolFilter): readonly ToolRule[] {
  const glob = escapeGlob(server);
  const pattern = (name: string) => {
    const own = name === '*' || globs ? escapeAllBut(name) : escapeGlob(name);
    // A pattern with a colon is matched against `server:tool`.
    return name.includes(':') ? `${glob}:${own}` : own;
  };
  const rules: ToolRule[] = [];
  if (include !== undefined) {
    rules.push({ pattern: include.map((name) => `!${pattern(name)}`), server: glob, enabled: false });
  }
  if (exclude.length > 0) rules.push({ pattern: exclude.map(pattern), server: glob, enabled: false });
  return rules;
}

function readNames(raw: Readonly<Record<string, unknown>>, key: string): readonly string[] | string | undefined {
  const written = raw[key];
  if (written === undefined || written === null) return undefined;
  if (!Array.isArray(written) || !written.every((name) => typeof name === 'string' && name !== '')) {
    return `its \`${key}\` is not a list of tool names`;
  }
  if (written.length > LIMITS.files.toolNames) return `its \`${key}\` has more than ${LIMITS.files.toolNames} names`;
  if (written.some((name: string) => name.length > LIMITS.names.shown)) {
    return `its \`${key}\` has a name of more than ${LIMITS.names.shown} characters`;
  }
  // Gemini CLI allows arguments in brackets after a name.
  return written.map((name: string) => (/^[\w.-]+\(/.test(name) ? name.slice(0, name.indexOf('(')) : name));
}

const escapeGlob = (text: string): string => text.replace(/[\\*?[\]{},!/]/g, '\\$&');
const escapeAllBut = (text: string): string => text.replace(/[\\[\]{},!/]/g, '\\$&');
