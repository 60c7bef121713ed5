/**
 * Names the client files of a project that no source of the configuration reads, and what to do.
 * @module
 */
import type { ResolvedSource } from '../config/resolved-config.ts';
import { LIMITS } from '../core/limits.ts';
import { oneLine } from '../text/plain-text.ts';
import { withTilde } from './source-lines.ts';

/** One sentence for each file of a client that nothing reads; our own configuration is not among them. */
export function unreadLines(
  files: readonly { readonly path: string; readonly type: string }[],
  sources: readonly ResolvedSource[],
  home: string,
): string[] {
  return files
    .filter(({ path, type }) => type !== 'configuration' && !sources.some((source) => source.path === path))
    .slice(0, LIMITS.shown.named)
    .map(
      ({ path, type }) =>
        `${oneLine(withTilde(path, home), 300)} is not used yet: add {"type": "${type}"} to "sources" of your configuration, or run "anygpt mcp init --project" here.`,
    );
}
