/**
 * `anygpt mcp trust`: a person's word that files which came with a folder may be used, remembered by path and content.
 * @module
 */
import { expandPath } from '../../config/paths.ts';
import {
  type FilePreview,
  findTrustableFiles,
  previewFile,
  titleOf,
  trustableFileAt,
} from '../../config/project-files.ts';
import { TrustStore } from '../../config/trust.ts';
import { realWorld, stateFolder, type World } from '../../config/world.ts';
import { ConfigurationError } from '../../errors.ts';
import { touchReloadStamp } from '../../watch-config.ts';
import { isYes } from '../ask.ts';
import type { Command } from '../command.ts';
import { EXIT, type Io } from '../io.ts';
import { toJson } from '../json-document.ts';
import { block, widthOf } from '../layout.ts';
import { paintFor } from '../paint.ts';
import { withTilde } from '../source-lines.ts';
import { previewLines, serverDocument } from '../trust-lines.ts';
import { unreadLines } from '../unread-files.ts';
import { UsageError } from '../usage-error.ts';

export const trust: Command = {
  usage: `Usage: anygpt mcp trust [FILE ...] [options]

Shows what the files that came with this folder would run, and trusts them as they are now: this project's own
configuration (.anygpt/mcp-discovery.config.*, anygpt.config.*) and those of its clients (.mcp.json, .vscode/mcp.json,
.cursor/mcp.json, ...), or the FILEs named. A file counts as untrusted again once its content changes. It asks
first; where nobody can be asked it only shows, unless --yes says that somebody has looked.

Options:
  --list             Show every file that was trusted, here and elsewhere, and whether it has changed since
  --revoke           Trust them no longer: the FILEs named, or those of this folder
  --dry-run          Show what would run, and trust nothing
  --yes              Do not ask
  --json             One JSON document on stdout and nothing else; does not ask, and trusts only with --yes

Examples:
  anygpt mcp trust
  anygpt mcp trust .mcp.json
  anygpt mcp trust --list
  anygpt mcp trust --revoke .mcp.json

Exit codes: 0 success, 1 invalid arguments, 2 nothing to trust, 4 answered no, or nobody to ask`,
  options: {
    list: { type: 'boolean' },
    revoke: { type: 'boolean' },
    'dry-run': { type: 'boolean' },
    yes: { type: 'boolean', short: 'y' },
    json: { type: 'boolean' },
  },
  async run(values, positionals, io) {
    const world = realWorld({ env: io.env, cwd: io.cwd });
    const store = new TrustStore(stateFolder(world));
    if (values.list && (values.revoke || positionals.length > 0))
      throw new UsageError('--list shows all files; it takes nothing else');
    const paths = positionals.map((file) => expandPath(file, world.cwd, world));
    const json = values.json === true;
    if (values.list) return list(store, world, io, json);
    if (values.revoke) return revoke(paths, store, world, io, json);
    return give(paths, store, world, io, { json, dryRun: values['dry-run'] === true, yes: values.yes === true });
  },
};

interface Found extends FilePreview {
  readonly type: string;
  readonly title: string;
  readonly trusted: boolean;
}

async function look(paths: readonly string[], store: TrustStore, world: World): Promise<Found[]> {
  const files = paths.length > 0 ? paths.map((path) => trustableFileAt(path, world)) : findTrustableFiles(world);
  return Promise.all(
    files.map(async (file) => {
      const preview = await previewFile(file, world);
      const trusted = preview.hash !== undefined && (await store.isTrusted(file.path, preview.hash));
      return { ...preview, type: file.type, title: titleOf(file.type), trusted };
    }),
  );
}

async function give(
  paths: readonly string[],
  store: TrustStore,
  world: World,
  io: Io,
  { json, dryRun, yes }: { json: boolean; dryRun: boolean; yes: boolean },
): Promise<number> {
  const found = await look(paths, store, world);
  const unreadable = paths.length > 0 ? found.filter(({ hash }) => hash === undefined) : [];
  if (unreadable.length > 0) throw new ConfigurationError(unreadable.flatMap(({ notes }) => notes).join(' '));
  if (found.length === 0)
    throw new ConfigurationError(
      'There is no configuration in this folder to trust, neither ours nor that of a client.',
    );
  const fresh = found.filter(({ trusted, hash }) => !trusted && hash !== undefined);
  if (!json) io.stdout.write(`${found.map((file) => fileText(file, io, world)).join('\n\n')}\n`);
  const agreed = fresh.length > 0 && !dryRun && (yes || (!json && (await isAgreed(fresh.length, io))));
  // What was shown is what is trusted, whatever has become of the file since.
  if (agreed) for (const { path, hash = '' } of fresh) await store.trust(path, hash);
  if (agreed) touchReloadStamp(stateFolder(world));
  if (json)
    io.stdout.write(
      toJson({
        action: 'trust',
        files: found.map((file) => fileDocument(file, file.trusted || (agreed && fresh.includes(file)))),
      }),
    );
  else {
    io.stdout.write(`\n${outcome(fresh, agreed, dryRun, io, world)}\n`);
    if (agreed) for (const line of await unread(fresh, world)) io.stdout.write(`${block(line, widthOf(io), '')}\n`);
  }
  return fresh.length > 0 && !agreed && !dryRun && !json ? EXIT.refused : EXIT.ok;
}

/** A client's file is trusted and still not used where no source of the configuration reads it; that is said. */
async function unread(files: readonly Found[], { env, cwd, home }: World): Promise<string[]> {
  const { ConfigurationLoader } = await import('../../config/configuration-loader.ts');
  const sources = await new ConfigurationLoader({ env, cwd, home }).load().then(
    ({ sources: known }) => known,
    // What is wrong with it is said by the commands that use it.
    () => [],
  );
  return unreadLines(files, sources, home);
}

function outcome(fresh: readonly Found[], agreed: boolean, dryRun: boolean, io: Io, world: World): string {
  if (fresh.length === 0) return 'Nothing to do: all of it is trusted as it is.';
  if (dryRun) return 'Nothing was trusted. Run "anygpt mcp trust" to do it.';
  if (!agreed && !canAsk(io))
    return 'Nothing was trusted: nobody can be asked here. If this is what you want, say --yes.';
  if (!agreed) return 'Nothing was trusted.';
  const green = paintFor(io)('green', '✓');
  return fresh
    .map(({ path, hash = '', files }) =>
      [
        `${green} Trusted ${withTilde(path, world.home)} (sha256 ${hash.slice(0, 12)}…)`,
        ...files.slice(1).map((other) => `  with ${withTilde(other, world.home)}`),
      ].join('\n'),
    )
    .join('\n');
}

const canAsk = ({ stdin, stderr }: Io): boolean => Boolean(stdin.isTTY && stderr.isTTY);

async function isAgreed(count: number, io: Io): Promise<boolean> {
  if (!canAsk(io)) return false;
  const [what, them] = count === 1 ? ['this file', 'it'] : [`these ${count} files`, 'them'];
  return isYes(io, `Use ${what}, now and as long as nothing in ${them} changes? [y/N] `);
}

function fileText(file: Found, io: Io, world: World): string {
  const kind = file.type === 'configuration' ? "this project's configuration" : file.title;
  const state = file.trusted ? ', trusted' : file.hash === undefined ? ', cannot be read' : ', not trusted';
  const head = `${withTilde(file.path, world.home)} (${kind}${state})`;
  const width = widthOf(io);
  return [paintFor(io)('bold', block(head, width, '')), ...previewLines(file).map((line) => hanging(line, width))].join(
    '\n',
  );
}

/** Wrapped with the indent it has. */
const hanging = (line: string, width: number): string => block(line.trimStart(), width, /^ */.exec(line)?.[0] ?? '');

const fileDocument = ({ path, type, hash, files, servers, code, notes }: Found, trusted: boolean) => ({
  path,
  type,
  status: trusted ? 'trusted' : hash === undefined ? 'unreadable' : 'untrusted',
  ...(hash !== undefined && { hash }),
  files,
  servers: servers.map(serverDocument),
  ...(code.length > 0 && { code }),
  ...(notes.length > 0 && { notes }),
});

async function list(store: TrustStore, world: World, io: Io, json: boolean): Promise<number> {
  const files = await Promise.all(
    [...(await store.list())].map(async ([path, hash]) => {
      const { hash: now } = await previewFile(trustableFileAt(path, world), world);
      return { path, status: now === undefined ? 'missing' : now === hash ? 'trusted' : 'changed', hash } as const;
    }),
  );
  if (json) io.stdout.write(toJson({ action: 'list', files }));
  else if (files.length === 0) io.stdout.write('No project file is trusted.\n');
  else {
    const paint = paintFor(io);
    const said = { trusted: '', changed: ' - changed since, so it is not used', missing: ' - not there any more' };
    const lines = files.map(
      ({ path, status }) =>
        `${status === 'trusted' ? paint('green', '✓') : paint('red', '✗')} ${withTilde(path, world.home)}${said[status]}`,
    );
    io.stdout.write(`${lines.join('\n')}\n`);
  }
  return EXIT.ok;
}

async function revoke(
  paths: readonly string[],
  store: TrustStore,
  world: World,
  io: Io,
  json: boolean,
): Promise<number> {
  const known = await store.list();
  const wanted = paths.length > 0 ? paths : findTrustableFiles(world).map(({ path }) => path);
  const unknown = paths.filter((path) => !known.has(path));
  if (unknown.length > 0) throw new ConfigurationError(`${unknown.join(', ')} was not trusted.`);
  const files = wanted.filter((path) => known.has(path));
  for (const path of files) await store.revoke(path);
  if (files.length > 0) touchReloadStamp(stateFolder(world));
  if (json) io.stdout.write(toJson({ action: 'revoke', files: files.map((path) => ({ path, status: 'untrusted' })) }));
  else if (files.length === 0) io.stdout.write('Nothing in this folder was trusted.\n');
  else io.stdout.write(`${files.map((path) => `No longer trusted: ${withTilde(path, world.home)}`).join('\n')}\n`);
  return EXIT.ok;
}
