/**
 * `anygpt mcp trust`: records that files which came with a folder may be used, by path and content.
 * @module
 */
import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { projectFolders } from '../../config/find-config.ts';
import { lookBudget } from '../../config/look-budget.ts';
import { expandPath, isInside } from '../../config/paths.ts';
import {
  type FilePreview,
  findTrustableFiles,
  previewFile,
  type TrustableFile,
  titleOf,
  trustableFileAt,
} from '../../config/project-files.ts';
import { Snapshot } from '../../config/project-snapshot.ts';
import { realFolder } from '../../config/real-folder.ts';
import { TrustStore } from '../../config/trust-store.ts';
import { realWorld, stateFolder, type World } from '../../config/world.ts';
import { ConfigurationError } from '../../core/errors.ts';
import { touchTrustStamp } from '../../engine/watch-config.ts';
import { isYes } from '../ask.ts';
import type { Command } from '../command.ts';
import { EXIT, type Io } from '../io.ts';
import { toJson, toWord } from '../json-document.ts';
import { block, widthOf } from '../layout.ts';
import { paintFor } from '../paint.ts';
import { withTilde } from '../source-lines.ts';
import { trustEffects } from '../trust-effects.ts';
import { effectLines, previewText, serverDocument } from '../trust-lines.ts';
import { unreadLines } from '../unread-files.ts';
import { UsageError } from '../usage-error.ts';

export const trust: Command = {
  usage: `Usage: anygpt mcp trust [FILE ...] [options]

Shows what the configuration files of this folder would run, asks, and trusts
them as they are now: the project's own configuration
(.anygpt/mcp-discovery.config.*, anygpt.config.*) and the files of its clients
(.mcp.json, .vscode/mcp.json, .cursor/mcp.json, ...), or the named FILEs. A file
is untrusted again when it, or a file it includes, changes. The folder is
trusted as well: \${workspaceFolder} in your own configuration may stand for it.
Without a terminal it only shows the files, unless --yes is given. Other
commands ask about an untrusted file too; "n" there ends these questions until
the file changes.

Options:
  --list             List everything that is trusted, and what has changed since
  --revoke           Stop trusting the named FILEs or folders, or this folder
                     and its files
  --dry-run          Show what would run, and trust nothing
  --yes, -y          Do not ask
  --json             Print one JSON document and nothing else on stdout; do not
                     ask, and trust only with --yes

Examples:
  anygpt mcp trust
  anygpt mcp trust .mcp.json
  anygpt mcp trust --list
  anygpt mcp trust --revoke .mcp.json

Exit codes: 0 success, 1 invalid arguments, 2 nothing to trust, 4 the answer was
no, or there is no terminal to ask`,
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
      throw new UsageError('--list cannot be combined with --revoke or files');
    const paths = positionals.map((file) => expandPath(file, world.cwd, world));
    const json = values.json === true;
    if (values.list) return list(store, world, io, json);
    if (values.revoke) return revoke(paths, store, world, io, json);
    return give(paths, store, world, io, { json, dryRun: values['dry-run'] === true, yes: values.yes === true });
  },
};

interface Found extends FilePreview {
  readonly type: TrustableFile['type'];
  readonly trusted: boolean;
}

async function look(paths: readonly string[], store: TrustStore, world: World): Promise<Found[]> {
  const files =
    paths.length > 0
      ? paths.map((path) => ({ ...trustableFileAt(path, world), isNamed: true }))
      : findTrustableFiles(world);
  const known = await store.allFiles();
  const [snapshot, budget] = [new Snapshot(), lookBudget()];
  snapshot.favour(known);
  const found = new Map<TrustableFile, Found>();
  // Trusted files come first, so that others cannot use up the budget.
  for (const file of files.toSorted((one, other) => Number(known.has(other.path)) - Number(known.has(one.path)))) {
    const preview = await previewFile(file, world, snapshot, budget);
    const trusted = preview.hash !== undefined && (await store.isTrusted(file.path, preview.hash));
    found.set(file, { ...preview, type: file.type, trusted });
  }
  return files.flatMap((file) => found.get(file) ?? []);
}

async function give(
  paths: readonly string[],
  store: TrustStore,
  world: World,
  io: Io,
  { json, dryRun, yes }: { json: boolean; dryRun: boolean; yes: boolean },
): Promise<number> {
  const folder = folderToTrust(paths, world);
  const isNewFolder = folder !== undefined && !(await store.isTrustedFolder(folder));
  const found = folder !== undefined && paths.length > 0 ? [] : await look(paths, store, world);
  const unreadable = paths.length > 0 ? found.filter(({ hash }) => hash === undefined) : [];
  if (unreadable.length > 0) throw new ConfigurationError(unreadable.flatMap(({ notes }) => notes).join(' '));
  if (found.length === 0 && folder === undefined)
    throw new ConfigurationError("This folder has no configuration to trust, neither ours nor a client's.");
  const fresh = found.filter(({ trusted, hash }) => !trusted && hash !== undefined);
  const folders = isNewFolder && folder !== undefined ? [folder] : [];
  const count = fresh.length + folders.length;
  const effects = await trustEffects(fresh, world);
  if (!json) {
    const blocks = [
      ...found.filter(({ isPassedOver }) => !isPassedOver).map((file) => fileText(file, io, world)),
      ...passedOverText(found, io, world),
      ...folders.map((path) => folderText(path, io, world)),
      ...(effects.length === 0
        ? []
        : [['In this folder:', ...effectLines(effects, widthOf(io), world.home)].join('\n')]),
    ];
    io.stdout.write(blocks.length === 0 ? '' : `${blocks.join('\n\n')}\n`);
  }
  const agreed = count > 0 && !dryRun && (yes || (!json && (await isAgreed(fresh, folders.length > 0, io))));
  // Exactly what was shown is trusted, even if the file has changed since.
  if (agreed) for (const { path, hash = '', files } of fresh) await store.trust(path, hash, files);
  if (agreed) for (const path of folders) await store.trustFolder(path);
  if (agreed) touchTrustStamp(stateFolder(world));
  if (json)
    io.stdout.write(
      toJson({
        action: 'trust',
        files: found.map((file) => fileDocument(file, file.trusted || (agreed && fresh.includes(file)))),
        ...(effects.length > 0 && { effects }),
        ...(folder !== undefined && {
          folders: [{ path: folder, status: agreed || !isNewFolder ? 'trusted' : 'untrusted' }],
        }),
      }),
    );
  else {
    io.stdout.write(`\n${outcome(fresh, folders, { agreed, dryRun }, io, world)}\n`);
    if (agreed) for (const line of await unread(fresh, world)) io.stdout.write(`${block(line, widthOf(io), '')}\n`);
  }
  return count > 0 && !agreed && !dryRun ? EXIT.refused : EXIT.ok;
}

/** The named folder, or the current project. The home folder is not a project: it contains all others. */
function folderToTrust(paths: readonly string[], world: World): string | undefined {
  const [named, ...more] = paths;
  if (named !== undefined) {
    if (more.length > 0 || !isFolder(named)) return undefined;
    if (holdsHome(named, world))
      throw new ConfigurationError(
        `${named} contains all your other folders, so it cannot be trusted. Name the folder of a project.`,
      );
    return named;
  }
  const { folders, repository } = projectFolders(world);
  const folder = repository ?? folders[0] ?? world.cwd;
  return holdsHome(folder, world) ? undefined : folder;
}

function holdsHome(folder: string, { home, platform }: World): boolean {
  const [inner, outer] = [realFolder(home, platform), realFolder(folder, platform)];
  return inner === outer || isInside(inner, outer) || dirname(outer) === outer;
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

function folderText(path: string, io: Io, world: World): string {
  const head = `${shownPath(path, world)} (the folder, not trusted)`;
  const about = 'Servers of your own configuration that use ${workspaceFolder} may work in it and below it.';
  return [paintFor(io)('bold', head), block(about, widthOf(io), '  ')].join('\n');
}

/** An untrusted path on one line. */
const shownPath = (path: string, { home }: World): string => toWord(withTilde(path, home));

/** Names trusted client files that no source of the configuration reads. */
async function unread(files: readonly Found[], { env, cwd, home }: World): Promise<string[]> {
  const { ConfigurationLoader } = await import('../../config/configuration-loader.ts');
  const sources = await new ConfigurationLoader({ env, cwd, home }).load().then(
    ({ sources: known }) => known,
    // Commands that use the configuration report its problems.
    () => [],
  );
  return unreadLines(files, sources, home);
}

function outcome(
  fresh: readonly Found[],
  folders: readonly string[],
  { agreed, dryRun }: { readonly agreed: boolean; readonly dryRun: boolean },
  io: Io,
  world: World,
): string {
  if (fresh.length + folders.length === 0) return 'Nothing to do: everything here is trusted already.';
  if (dryRun) return 'Nothing was trusted. To trust it, run: anygpt mcp trust';
  if (!agreed && !canAsk(io)) return 'Nothing was trusted: there is no terminal to ask. To trust it, add --yes.';
  if (!agreed) return 'Nothing was trusted.';
  const green = paintFor(io)('green', '✓');
  return [
    ...fresh.map(({ path, hash = '', files }) =>
      [
        `${green} Trusted ${shownPath(path, world)} (sha256 ${hash.slice(0, 12)}…)`,
        ...files.slice(1).map((other) => `  with ${shownPath(other, world)}`),
      ].join('\n'),
    ),
    ...folders.map((path) => `${green} Trusted the folder ${shownPath(path, world)}`),
  ].join('\n');
}

const canAsk = ({ stdin, stderr }: Io): boolean => Boolean(stdin.isTTY && stderr.isTTY);

async function isAgreed(files: readonly Found[], withFolder: boolean, io: Io): Promise<boolean> {
  if (!canAsk(io)) return false;
  if (files.length === 0) return isYes(io, 'Trust this folder? [y/N] ');
  const servers = files.reduce(
    (sum, { readings }) => sum + Math.max(0, ...readings.map((each) => each.servers.length)),
    0,
  );
  const file = files.length === 1 ? 'this file' : `these ${files.length} files`;
  const what = servers > 1 ? `${file} with ${servers} servers` : file;
  return isYes(
    io,
    `Trust ${what} until ${files.length === 1 ? 'it changes' : 'they change'}${withFolder ? ', and this folder' : ''}? [y/N] `,
  );
}

function fileText(file: Found, io: Io, world: World): string {
  const readers = [...new Set([file.type, ...file.readings.flatMap(({ types }) => types)])].map(titleOf);
  const kind = file.type === 'configuration' ? "this project's configuration" : readers.join(', ');
  const state = file.trusted ? ', trusted' : file.hash === undefined ? ', cannot be trusted' : ', not trusted';
  const head = `${shownPath(file.path, world)} (${kind}${state})`;
  const width = widthOf(io);
  return [paintFor(io)('bold', block(head, width, '')), ...previewText(file, width, world.home)].join('\n');
}

/** One sentence for all files beyond the budget of one command. */
function passedOverText(found: readonly Found[], io: Io, world: World): string[] {
  const [first, ...more] = found.filter(({ isPassedOver }) => isPassedOver);
  if (first === undefined) return [];
  const [which, them] =
    more.length === 0
      ? [`${shownPath(first.path, world)} was`, 'it']
      : [`${more.length + 1} more files, such as ${shownPath(first.path, world)}, were`, 'those you need'];
  const text = `${which} not read, because there is too much, and cannot be trusted like this. To review ${them}, run: anygpt mcp trust FILE`;
  return [block(text, widthOf(io), '')];
}

const fileDocument = ({ path, type, hash, files, readings, code, sends, notes, values }: Found, trusted: boolean) => ({
  path,
  type,
  status: trusted ? 'trusted' : hash === undefined ? 'unreadable' : 'untrusted',
  ...(hash !== undefined && { hash }),
  files,
  servers: readings.flatMap((reading) => reading.servers.map((server) => serverDocument(server, reading, values))),
  ...(code.length > 0 && { code }),
  ...(sends.length > 0 && { sends }),
  ...(notes.length > 0 && { notes }),
});

async function list(store: TrustStore, world: World, io: Io, json: boolean): Promise<number> {
  const files = await Promise.all(
    [...(await store.list())].map(async ([path, hash]) => {
      const record = await store.record(path);
      const trusted = record !== undefined && new Snapshot().verify(path, record);
      return { path, status: trusted ? 'trusted' : existsSync(path) ? 'changed' : 'missing', hash } as const;
    }),
  );
  const folders = (await store.listFolders()).map(
    (path) => ({ path, status: isFolder(path) ? 'trusted' : 'missing' }) as const,
  );
  if (json) io.stdout.write(toJson({ action: 'list', files, ...(folders.length > 0 && { folders }) }));
  else if (files.length + folders.length === 0) io.stdout.write('Nothing is trusted yet.\n');
  else {
    const paint = paintFor(io);
    const said = { trusted: '', changed: ' - changed since, so it is not used', missing: ' - no longer exists' };
    const mark = (isFine: boolean) => (isFine ? paint('green', '✓') : paint('red', '✗'));
    const lines = [
      ...files.map(({ path, status }) => `${mark(status === 'trusted')} ${shownPath(path, world)}${said[status]}`),
      ...folders.map(
        ({ path, status }) => `${mark(status === 'trusted')} ${shownPath(path, world)} (folder)${said[status]}`,
      ),
    ];
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
  const project = folderToTrust([], world);
  const files: string[] = [];
  const folders: string[] = [];
  for (const path of paths.length > 0 ? paths : [project ?? world.cwd]) {
    if (known.has(path) && (await store.revoke(path))) {
      files.push(path);
      continue;
    }
    const inside = await store.revokeInside(path);
    if (paths.length > 0 && inside.files.length + inside.folders.length === 0)
      throw new ConfigurationError(`${path} was not trusted.`);
    files.push(...inside.files);
    folders.push(...inside.folders);
  }
  // Files elsewhere that apply here, such as those of a parent folder.
  for (const { path } of paths.length > 0 ? [] : findTrustableFiles(world)) {
    if (!files.includes(path) && (await store.revoke(path))) files.push(path);
  }
  if (files.length + folders.length > 0) touchTrustStamp(stateFolder(world));
  const untrusted = (path: string) => ({ path, status: 'untrusted' });
  if (json)
    io.stdout.write(
      toJson({
        action: 'revoke',
        files: files.map(untrusted),
        ...(folders.length > 0 && { folders: folders.map(untrusted) }),
      }),
    );
  else if (files.length + folders.length === 0) io.stdout.write('Nothing in this folder was trusted.\n');
  else {
    const lines = [...files, ...folders].map((path) => `No longer trusted: ${shownPath(path, world)}`);
    io.stdout.write(`${lines.join('\n')}\n`);
  }
  return EXIT.ok;
}
