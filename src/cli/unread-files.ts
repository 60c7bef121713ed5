/**
 * Names the client files of a project that no source of the configuration reads, and what to do.
 * @module
 */
import type { ResolvedSource } from '../config/resolved-config.ts';
import { oneLine } from '../text/plain-text.ts';
import { withTilde } from './source-lines.ts';

/** A project may have any number of such files; the first few are enough. */
const MAX_NAMED = 5;

/** One sentence for each unread client file. */
export function unreadLines(
  files: readonly { readonly path: string; readonly type: string }[],
  sources: readonly ResolvedSource[],
  home: string,
): string[] {
  return files
    .filter(({ path, type }) => type !== 'configuration' && !sources.some((source) => source.path === path))
    .slice(0, MAX_NAMED)
    .map(
      ({ path, type }) =>
        `${oneLine(withTilde(path, home), 300)} is not used yet: add {"type": "${type}"} to "sources" of your configuration, or run "anygpt mcp init --project" here.`,
    );
}
