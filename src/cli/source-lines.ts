/**
 * Where a configuration came from, for people and for scripts: files that were read, clients that servers come from.
 * @module
 */
import type { ResolvedConfig } from '../config/resolved-config.ts';
import type { Session } from './session.ts';

const REASONS = { missing: 'not found', untrusted: 'not trusted; look at it, then run: anygpt mcp trust' } as const;

/** One line per source, `✓ claude-desktop (~/path)`, with what is wrong with it. */
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

/** The same for `--json`. */
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

/** A path as people write it. */
export const withTilde = (path: string, home: string | undefined): string =>
  home && (path === home || path.startsWith(`${home.replace(/[\\/]$/, '')}/`))
    ? `~${path.slice(home.replace(/[\\/]$/, '').length)}`
    : path;
