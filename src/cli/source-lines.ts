/**
 * Lists the sources of a configuration for people and for scripts, and shortens paths with `~`.
 * @module
 */
import type { ResolvedConfig } from '../config/resolved-config.ts';
import type { Session } from './session.ts';

const REASONS = { missing: 'not found', untrusted: 'not trusted; to review and trust it: anygpt mcp trust' } as const;

/** One line per source: `✓ claude-desktop (~/path)`, or `✗` with the reason. */
export const sourceLines = (
  { sources }: ResolvedConfig,
  { paint, block }: Session,
  home: string | undefined,
): string[] =>
  sources.map(({ type, path, status, message = '' }) => {
    const why = status === 'ok' ? '' : ` - ${status === 'error' ? message : REASONS[status]}`;
    const [mark = '', ...rest] = block(`✓ ${type} (${withTilde(path, home)})${why}`, '  ').split('✓');
    return mark + (status === 'ok' ? paint('green', '✓') : paint('red', '✗')) + rest.join('✓');
  });

/** The sources for `--json`. */
export const sourcesDocument = ({ origin, files, sources }: ResolvedConfig) => ({
  ...(origin !== undefined && { file: origin }),
  files,
  sources: sources.map(({ type, path, status, message, serverCount }) => ({
    type,
    path,
    status,
    servers: serverCount,
    ...(message !== undefined && { message }),
  })),
});

/** The path with `~` for the home folder. */
export const withTilde = (path: string, home: string | undefined): string =>
  home && (path === home || path.startsWith(`${home.replace(/[\\/]$/, '')}/`))
    ? `~${path.slice(home.replace(/[\\/]$/, '').length)}`
    : path;

/**
 * A message in which every path below the home folder begins with `~`. Quoted paths stay, because a shell would not expand
 * them, except values of our configuration, such as `"extends": "~/x"`.
 */
export function withTildes(message: string, home: string | undefined): string {
  const folder = home?.replace(/[\\/]+$/, '') ?? '';
  if (folder.length < 2) return message;
  return message.replaceAll(folder, (found, at: number) => {
    const [before, after] = [message[at - 1] ?? ' ', message[at + found.length] ?? ' '];
    const isValue = message.slice(0, at).endsWith('": "');
    return (isValue || /[\s(:,]/.test(before)) && /[\\/\s),:;]/.test(after) ? '~' : found;
  });
}
