/**
 * Names the client files of a project that no source of the configuration reads, and says how to use them.
 * @module
 */
import type { ResolvedSource } from '../config/resolved-config.ts';
import { LIMITS } from '../core/limits.ts';
import { oneLine } from '../text/plain-text.ts';
import { withTilde } from './source-lines.ts';

/** One note about all client files that nothing reads, our own configuration aside; none if there are none. */
export function unreadLines(
  files: readonly { readonly path: string; readonly type: string }[],
  sources: readonly ResolvedSource[],
  home: string,
): string[] {
  const unread = files
    .filter(({ path, type }) => type !== 'configuration' && !sources.some((source) => source.path === path))
    .slice(0, LIMITS.shown.named);
  if (unread.length === 0) return [];
  const paths = unread.map(({ path }) => oneLine(withTilde(path, home), 300)).join(', ');
  const types = [...new Set(unread.map(({ type }) => `{"type": "${type}"}`))].join(', ');
  return [
    `The servers in ${paths} are not used. To use them, run "anygpt mcp init --project" in this folder, or add ${types} to "sources" of your configuration.`,
  ];
}
