/**
 * `anygpt mcp export`: writes tools in other languages: RTFS, TypeScript, zod, manifests, a catalogue, tools of APIs.
 * @module
 */

import { isAbsolute, relative, resolve } from 'node:path';
import type { ErrorInfo } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { EXPORT_FORMATS, type ExportFormat, exportFolder } from '../../service/export/export-formats.ts';
import type { CapabilityManifest } from '../../service/manifest.ts';
import { counted } from '../../text/counted.ts';
import { oneLine } from '../../text/plain-text.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../io.ts';
import { SESSION_HELP, SESSION_OPTIONS, type Session, withSession } from '../session.ts';
import { oneOf, UsageError } from '../usage-error.ts';
import { withoutName } from '../without-name.ts';

export const exportTools: Command = {
  usage: `Usage: anygpt mcp export [server…] [options]

Writes the usable tools of all servers, or of the named ones, as files. Starts
only servers whose tools are not known; one that cannot be reached is left out,
unless it was named. Files of an earlier export are replaced, others stay.

Formats:
  rtfs         A capability for each tool: <server>/<tool>.rtfs (default)
  json         The same as a JSON manifest: <server>/<tool>.json
  markdown     A catalogue for people: catalogue.md
  typescript   A typed client whose functions call through the gateway
  zod          Schemas of inputs and outputs: <server>.ts
  anthropic    Tools for the API, and the tool that each name means
  openai       The same for OpenAI

Options:
  --format FORMAT    One of the formats
  --out DIR          Write to this folder (default: capabilities/servers/pending
                     for rtfs, capabilities/FORMAT for the others)
  --include-disabled Write disabled tools, too
${SESSION_HELP}

Examples:
  anygpt mcp export
  anygpt mcp export github --format typescript --out src/github
  anygpt mcp export --format markdown --out docs --json

Exit codes: 0 success, 1 invalid arguments, 2 server not found, no tools or
configuration error, 3 connection failed or files not written`,
  options: {
    ...SESSION_OPTIONS,
    format: { type: 'string' },
    out: { type: 'string' },
    'include-disabled': { type: 'boolean' },
  },
  async run(values, names, io) {
    const format = oneOf('--format', values.format ?? 'rtfs', EXPORT_FORMATS);
    if (values.out === '') throw new UsageError('--out takes a folder');
    const folder = resolve(io.cwd, String(values.out ?? exportFolder(format)));
    return withSession(values, io, async (session) => {
      const failed = await session.lists(names.length > 0 ? names : undefined);
      const servers = names.length > 0 ? [...new Set(names)] : await session.engine.serverNames();
      const unread = names.length > 0 ? servers : await session.engine.unseen();
      const reachable = servers.filter((name) => !failed.has(name) || !unread.includes(name));
      const { manifests, errors } = await manifestsOf(reachable, values['include-disabled'] === true, session);
      const skipped = servers.flatMap((server) => {
        const error = errors.get(server) ?? (reachable.includes(server) ? undefined : failed.get(server));
        return error === undefined ? [] : [{ server, error }];
      });
      const [first] = skipped;
      if (first !== undefined && (names.length > 0 || manifests.length === 0)) return session.fail(first.error);
      if (manifests.length === 0)
        return session.fail({
          code: 'TOOL_NOT_FOUND',
          message: `${names.length > 0 ? names.join(', ') : 'The configuration'} has no usable tools to export. "anygpt mcp list --tools" counts them.`,
          retryable: false,
        });
      const [{ exportFiles }, { writeFiles }] = await Promise.all([
        import('../../service/export/export-files.ts'),
        import('../../service/export/write-files.ts'),
      ]);
      const { files, notes } = exportFiles(manifests, format);
      const { signal, progress } = session;
      await writeFiles(folder, files, {
        // A link in place of the default folder may have come with the working folder.
        within: values.out === undefined ? io.cwd : undefined,
        signal,
        onFile: (count) => progress.show(`Writing to ${folder}: ${count} of ${files.length} files`),
      });
      progress.clear();
      const left = skipped.map(({ server, error }) => ({ server, reason: error.message }));
      const paths = files.map(({ path }) => path);
      const counts = { servers: servers.length - left.length, tools: manifests.length };
      if (session.json)
        session.printJson({
          format,
          folder,
          ...counts,
          files: paths,
          ...(notes.length > 0 && { notes }),
          ...(left.length > 0 && { skipped: left }),
        });
      else {
        session.print(writtenText(shownFolder(folder, io.cwd), format, counts, paths));
        const said = notes.slice(0, LIMITS.shown.named);
        for (const note of said) session.note(oneLine(note, LIMITS.text.note));
        if (notes.length > said.length) session.note(`${notes.length - said.length} more notes (--json has all).`);
        for (const { server, reason } of left) session.note(`${server} was left out: ${withoutName(reason, server)}`);
      }
      return EXIT.ok;
    });
  },
};

/** The manifests of the servers, and the errors of those that have none. */
async function manifestsOf(servers: readonly string[], includeDisabled: boolean, { engine }: Session) {
  const { toolToManifest } = await import('../../service/manifest.ts');
  const { servers: configured } = await engine.getConfig();
  const manifests: CapabilityManifest[] = [];
  const errors = new Map<string, ErrorInfo>();
  for (const name of servers) {
    const listed = await engine.toolsOf(name, { includeDisabled });
    const server = configured.find((one) => one.name === name) ?? { name };
    if (listed.success) manifests.push(...listed.data.map((tool) => toolToManifest(tool, server)));
    else errors.set(name, listed.error);
  }
  return { manifests, errors };
}

/** Writes a folder below the working folder as a relative path. */
function shownFolder(folder: string, cwd: string): string {
  const way = relative(cwd, folder);
  return way === '' ? '.' : way.startsWith('..') || isAbsolute(way) ? folder : way;
}

function writtenText(
  folder: string,
  format: ExportFormat,
  { servers, tools }: { readonly servers: number; readonly tools: number },
  paths: readonly string[],
): string {
  const title = `Wrote ${counted(tools, 'tool')} of ${counted(servers, 'server')} as ${format} to ${folder} (${counted(paths.length, 'file')}):`;
  const shown = paths.slice(0, LIMITS.shown.listed);
  const rest = paths.length - shown.length;
  return [
    title,
    ...shown.map((path) => `  ${path}`),
    ...(rest > 0 ? [`  … and ${rest} more (--json lists all)`] : []),
  ].join('\n');
}
