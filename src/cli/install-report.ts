/**
 * Carries out or shows the plans of `install` and `uninstall` for client files, and reports the results.
 * @module
 */
import { CLIENT_TYPES, type ClientType, clientOf } from '../clients/importers/clients.ts';
import { ChangedFile } from '../clients/installers/files.ts';
import { notBuilt } from '../clients/installers/gateway.ts';
import type { Plan } from '../clients/installers/plan-install.ts';
import { namedTarget, notThere, targetFiles } from '../clients/installers/target-files.ts';
import { realWorld, stateFolder, type World } from '../config/world.ts';
import { ConfigurationError, DiscoveryError, type ErrorInfo } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { didYouMean, nearestNames } from '../text/nearest-names.ts';
import { plainText } from '../text/plain-text.ts';
import type { Values } from './command.ts';
import { complain } from './failure.ts';
import { EXIT, type Io } from './io.ts';
import { toJson } from './json-document.ts';
import { block, widthOf } from './layout.ts';
import { localProgram } from './local-program.ts';
import { paintFor } from './paint.ts';
import { withTilde } from './source-lines.ts';
import { fileDiff } from './text-diff.ts';
import { UsageError } from './usage-error.ts';

/** Options of both commands. */
export const INSTALL_OPTIONS = {
  all: { type: 'boolean' },
  file: { type: 'string' },
  config: { type: 'string' },
  'dry-run': { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

/** Help for these options. */
export const INSTALL_HELP = `  --all              Every client found on this machine
  --file PATH        Use this file instead of the client's usual one
  --dry-run          Show what would change, and write nothing
  --json             Print one JSON document and nothing else on stdout`;

/** The clients, for help. */
export const CLIENT_HELP = `Clients:\n${block(CLIENT_TYPES.join(', '), 80, '  ')}`;

/** A file of a client to change. */
export interface Target {
  readonly type: ClientType;
  readonly file: string;
}

interface Failure extends Target {
  readonly error: ErrorInfo;
}

/** Plans the change of every file, carries the plans out one by one, and reports. A failure does not stop the others. */
export async function runPlans(
  values: Values,
  positionals: readonly string[],
  io: Io,
  plan: (target: Target, world: World) => Promise<Plan>,
  filesOf: (type: ClientType, world: World) => readonly string[] = targetFiles,
): Promise<number> {
  const world = realWorld({ env: io.env, cwd: io.cwd });
  const dryRun = values['dry-run'] === true;
  const targets = await targetsOf(values, positionals, world, filesOf);
  const all: (Plan | Failure)[] = [];
  for (const target of targets) {
    try {
      all.push(await carriedOut(() => plan(target, world), dryRun));
    } catch (error) {
      if (!(error instanceof DiscoveryError)) throw error;
      if (targets.length === 1) throw error;
      all.push({ ...target, error: error.toInfo() });
    }
  }
  const done = withoutEmpty(all);
  if (values.json === true) io.stdout.write(toJson(await resultsOf(done, dryRun)));
  else await printAll(done, io, dryRun, world.home);
  return done.some(isFailure) ? EXIT.failed : EXIT.ok;
}

/** Plans again if another program wrote the file meanwhile, as some clients do all the time. */
async function carriedOut(plan: () => Promise<Plan>, dryRun: boolean): Promise<Plan> {
  for (let tries = 1; ; tries++) {
    const planned = await plan();
    try {
      if (!dryRun) await planned.write();
      return planned;
    } catch (error) {
      if (!(error instanceof ChangedFile) || tries === LIMITS.files.writeTries) throw error;
    }
  }
}

/** Reports a missing entry once per client, and only if no file of that client has one. */
const withoutEmpty = (all: readonly (Plan | Failure)[]): readonly (Plan | Failure)[] =>
  all.filter((result) => {
    if (isFailure(result) || result.status !== 'absent') return true;
    const same = all.filter((other) => !isFailure(other) && other.client === result.client) as readonly Plan[];
    return same[0] === result && same.every(({ status }) => status === 'absent');
  });

const isFailure = (result: Plan | Failure): result is Failure => 'error' in result;

async function targetsOf(
  values: Values,
  positionals: readonly string[],
  world: World,
  filesOf: (type: ClientType, world: World) => readonly string[],
): Promise<readonly Target[]> {
  const file = values.file as string | undefined;
  if (values.all === true) {
    if (positionals.length > 0) throw new UsageError(`--all cannot be combined with "${positionals.join(' ')}"`);
    if (file !== undefined) throw new UsageError('--all cannot be combined with --file');
    const all = CLIENT_TYPES.flatMap((type) => filesOf(type, world).map((path) => ({ type, file: path })));
    if (all.length === 0)
      throw new ConfigurationError(
        'No client was found on this machine. Name a client and its file: <client> --file PATH.',
      );
    return all;
  }
  const [name, ...rest] = positionals;
  if (name === undefined) throw new UsageError('<client> is missing; name one, or use --all');
  if (rest.length > 0)
    throw new UsageError(`unexpected argument "${rest.join(' ')}"; name one client at a time, or use --all`);
  const type = clientNamed(name);
  const { install } = clientOf(type);
  if (install.instead !== undefined && (file === undefined || install.instead.always)) {
    throw new ConfigurationError(await insteadText(type, world));
  }
  if (file !== undefined) return [{ type, file: namedTarget(file, world) }];
  const files = filesOf(type, world);
  if (files.length === 0) throw notThere(type, world);
  return files.map((path) => ({ type, file: path }));
}

function clientNamed(name: string): ClientType {
  const type = CLIENT_TYPES.find((known) => known === name.toLowerCase());
  if (type !== undefined) return type;
  if (name === 'mcpb')
    throw new ConfigurationError(
      'A bundle is a server, not a client. Name it as a source: { type: "mcpb", path: "…" }.',
    );
  const near = nearestNames(name, CLIENT_TYPES);
  throw new UsageError(`Unknown client "${name}". ${didYouMean(near, `${CLIENT_HELP}.`)}`, near);
}

/** What to paste by hand where we cannot write the file. */
async function insteadText(type: ClientType, world: World): Promise<string> {
  const { install } = clientOf(type);
  const text = install.instead?.text ?? '';
  if (!text.endsWith(':')) return text;
  const program = localProgram(stateFolder(world));
  if (program === undefined) throw notBuilt();
  await program.prepare();
  const [command, ...args] = program.command;
  const entry = install.entry({ type: 'stdio', command, args, env: { ANYGPT_GATEWAY: '1' }, inherit: [] }, []);
  return `${text} ${JSON.stringify({ mcpServers: { anygpt: entry } })}`;
}

const DONE = {
  installed: 'added "anygpt" to',
  updated: 'updated "anygpt" in',
  unchanged: '"anygpt" is already in',
  removed: 'removed "anygpt" from',
  absent: '"anygpt" is not in',
} as const;
const WOULD: Readonly<Record<Plan['status'], string>> = {
  ...DONE,
  installed: 'would add "anygpt" to',
  updated: 'would update "anygpt" in',
  removed: 'would remove "anygpt" from',
};

async function printAll(done: readonly (Plan | Failure)[], io: Io, dryRun: boolean, home: string): Promise<void> {
  const paint = paintFor(io);
  const width = widthOf(io);
  const print = (text: string, indent = '') => io.stdout.write(`${block(text, width, indent)}\n`);
  for (const result of done) {
    if (isFailure(result)) {
      io.stdout.write(`${paint('red', '✗')} ${clientOf(result.type).title}: nothing was changed\n`);
      complain(io, result.error.message, 0);
      continue;
    }
    io.stdout.write(`${paint('green', '✓')} ${block(headline(result, dryRun, home), width, '  ').slice(2)}\n`);
    if (dryRun) for (const text of await diffsOf(result, home)) io.stdout.write(`${text}\n`);
    for (const line of detailsOf(result, dryRun, home)) print(line, '  ');
    // Commands are not wrapped, so that they can be copied.
    if (done.length === 1 && result.next !== undefined && !dryRun)
      io.stdout.write(`  Next: ${plainText(result.next)}\n`);
  }
  if (done.length > 1 && !dryRun && done.some((one) => !isFailure(one) && one.changes.length > 0))
    print('Next: restart these clients.');
}

const headline = ({ title, status, file }: Plan, dryRun: boolean, home: string): string =>
  `${title}: ${(dryRun ? WOULD : DONE)[status]} ${withTilde(file, home)}`;

const SAID = { backup: 'Backup', moved: 'Moved behind the gateway', back: 'Restored', config: 'Configuration' };
const WOULD_SAY: typeof SAID = {
  backup: 'Would write a backup',
  moved: 'Would move behind the gateway',
  back: 'Would restore',
  config: 'Would change',
};

function detailsOf({ status, backup, servers, notes, changes }: Plan, dryRun: boolean, home: string): string[] {
  const own = changes[1]?.path;
  const say = dryRun ? WOULD_SAY : SAID;
  // After a move, only the backup has these servers.
  const copy = servers.length > 0 && status !== 'removed' && !dryRun ? 'Backup (needed to undo)' : say.backup;
  return [
    ...(backup === undefined ? [] : [`${copy}: ${withTilde(backup, home)}`]),
    ...(servers.length === 0 ? [] : [`${status === 'removed' ? say.back : say.moved}: ${servers.join(', ')}`]),
    ...(own === undefined ? [] : [`${say.config}: ${withTilde(own, home)}`]),
    ...notes.map((note) => `Note: ${note}.`),
  ];
}

/** Moved entries are hidden here; `servers` has their names. */
async function diffsOf({ changes, servers, status }: Plan, home?: string): Promise<readonly string[]> {
  const texts = await Promise.all(
    changes.map((change, at) =>
      fileDiff(
        { ...change, shownAs: withTilde(change.path, home) },
        at > 0 || servers.length === 0 ? undefined : status === 'removed' ? '+' : '-',
      ),
    ),
  );
  return texts.filter((text) => text !== '');
}

async function resultsOf(done: readonly (Plan | Failure)[], dryRun: boolean) {
  const clients = done.map(async (result) => {
    if (isFailure(result)) return { client: result.type, file: result.file, status: 'failed', error: result.error };
    const { client, file, status, backup, servers, notes, next, changes } = result;
    return {
      client,
      file,
      status,
      ...(backup !== undefined && { backup }),
      ...(servers.length > 0 && { servers }),
      ...(changes[1] !== undefined && { config: changes[1].path }),
      ...(notes.length > 0 && { notes }),
      ...(next !== undefined && { next }),
      ...(dryRun && changes.length > 0 && { diff: await diffsOf(result) }),
    };
  });
  return { success: !done.some(isFailure), ...(dryRun && { dryRun }), clients: await Promise.all(clients) };
}
