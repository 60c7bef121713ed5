/**
 * `anygpt mcp init`: finds the clients on this machine and writes a configuration that uses their servers. Starts no
 * server.
 * @module
 */
import { existsSync } from 'node:fs';
import { realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CLIENT_TYPES, type ClientType } from '../../clients/importers/clients.ts';
import { ownEntryIn } from '../../clients/installers/installed.ts';
import { possibleFiles } from '../../clients/installers/target-files.ts';
import { ConfigurationLoader } from '../../config/configuration-loader.ts';
import { CONFIG_ENDINGS, projectFolders } from '../../config/find-config.ts';
import { type FoundClient, findClients, joinEntries } from '../../config/found-clients.ts';
import { isReallyInside, Snapshot } from '../../config/project-snapshot.ts';
import { readIfPresent } from '../../config/read-file.ts';
import {
  asServers,
  asSources,
  STARTER_FORMATS,
  type Starter,
  type StarterFormat,
  starterText,
} from '../../config/starter-config.ts';
import { TrustStore } from '../../config/trust-store.ts';
import { realWorld, stateFolder, type World } from '../../config/world.ts';
import { ConfigurationError, DiscoveryError } from '../../core/errors.ts';
import { withLock } from '../../disk/file-lock.ts';
import { copyBeside, writeAtomically } from '../../disk/write-atomically.ts';
import { literalSecretIn } from '../../secrets/server-secrets.ts';
import { counted } from '../../text/counted.ts';
import { ask } from '../ask.ts';
import type { Command, Values } from '../command.ts';
import { complain } from '../failure.ts';
import { clientDocument, clientLines, countOf } from '../found-lines.ts';
import { type Done, fileText, nextCommands, notesOn, type Outcome } from '../init-notes.ts';
import { EXIT, type Io } from '../io.ts';
import { toJson } from '../json-document.ts';
import { block, widthOf } from '../layout.ts';
import { paintFor } from '../paint.ts';
import { exactly } from '../positionals.ts';
import { withTilde } from '../source-lines.ts';
import { fileDiff } from '../text-diff.ts';
import { oneOf, refuseWord } from '../usage-error.ts';

/** The exit code after Ctrl-C. */
const INTERRUPTED = 130;

export const init: Command = {
  usage: `Usage: anygpt mcp init [options]

Finds the clients on this machine (Claude, Cursor, VS Code, Codex, ...), shows
their servers, and writes a configuration that uses them. Starts no server and
changes no client. On a terminal it asks which clients to use; otherwise it uses
all.

Options:
  --client NAME      Use this client only; may be repeated
  --project          Write .anygpt/mcp-discovery.config.* in this folder instead
                     of ~/.anygpt, and trust it
  --servers          Copy the servers instead of naming the clients as sources.
                     ${'$'}{NAME} references stay. Secrets are never copied: a
                     client with secrets stays a source
  --format FORMAT    json (default), yaml or ts
  --force            Replace an existing file; a backup (.bak, .bak.2, ...) is
                     kept beside it
  --dry-run          Show what would be written, and write nothing
  --yes, -y          Do not ask
  --json             Print one JSON document and nothing else on stdout; do not
                     ask

Examples:
  anygpt mcp init
  anygpt mcp init --client claude-desktop --client cursor
  anygpt mcp init --project --format ts
  anygpt mcp init --servers --dry-run

Exit codes: 0 success (also if the file exists already), 1 invalid arguments,
2 client not found, 3 cannot write`,
  options: {
    client: { type: 'string', multiple: true },
    project: { type: 'boolean' },
    servers: { type: 'boolean' },
    format: { type: 'string' },
    force: { type: 'boolean' },
    'dry-run': { type: 'boolean' },
    yes: { type: 'boolean', short: 'y' },
    json: { type: 'boolean' },
  },
  async run(values, positionals, io) {
    exactly(positionals);
    const format = oneOf('--format', values.format ?? 'json', STARTER_FORMATS);
    const world = realWorld({ env: io.env, cwd: io.cwd });
    const wanted = namedClients(values.client as readonly string[] | undefined);
    const found = await findClients(world);
    const candidates = usable(found, wanted, values.project === true, world);
    const json = values.json === true;
    const numbered = asksWhich(values, candidates, io);
    if (!json) io.stdout.write(`${foundText(found, numbered ? candidates : [], io, world)}\n`);
    const chosen = numbered ? await choose(candidates, io) : candidates;
    if (chosen === undefined) return complain(io, 'Nothing was written.', INTERRUPTED);
    const starter = values.servers ? asServers(chosen, literalSecretIn) : asSources(chosen);
    const carriedOut = async () => {
      const plan = await planOf(starter, format, values, world);
      return { plan, done: await carryOut(plan, values, world) };
    };
    const { present, file } = await planOf(starter, format, values, world);
    const place = present?.path ?? file;
    const real = existsSync(place) ? await realpath(place) : place;
    const { plan, done } = values['dry-run'] ? await carriedOut() : await withLock(real, carriedOut);
    const project = values.project === true;
    const [trusted, installed] = [await trustedOf(found, world), await installedIn(chosen, world)];
    const outcome = { found, chosen, starter, file: plan.file, done, project, trusted, installed };
    if (json) io.stdout.write(toJson(initDocument(outcome, plan, io)));
    else io.stdout.write(`\n${await outcomeText(outcome, plan, io, world)}\n`);
    return EXIT.ok;
  },
};

/** The project files that are trusted as they are now. */
async function trustedOf(found: readonly FoundClient[], world: World): Promise<ReadonlySet<string>> {
  const store = new TrustStore(stateFolder(world));
  const paths = found.flatMap(({ files }) => files.filter(({ scope }) => scope === 'project').map(({ path }) => path));
  const trusted = new Set<string>();
  for (const path of paths) {
    const record = await store.record(path);
    if (record !== undefined && new Snapshot().verify(path, record)) trusted.add(path);
  }
  return trusted;
}

/** The clients that start this gateway already. */
async function installedIn(clients: readonly FoundClient[], world: World): Promise<ReadonlySet<ClientType>> {
  const installed = new Set<ClientType>();
  for (const { type } of clients)
    for (const file of possibleFiles(type, world)) if (await ownEntryIn(type, file, world)) installed.add(type);
  return installed;
}

function namedClients(names: readonly string[] = []): ReadonlySet<string> {
  for (const name of names) {
    if ((CLIENT_TYPES as readonly string[]).includes(name)) continue;
    refuseWord(`Unknown client "${name}".`, name, CLIENT_TYPES, `Clients: ${CLIENT_TYPES.join(', ')}.`);
  }
  return new Set(names);
}

/** The clients a configuration can name. One that only has a file in this project is of no use elsewhere. */
function usable(
  found: readonly FoundClient[],
  wanted: ReadonlySet<string>,
  project: boolean,
  world: World,
): readonly FoundClient[] {
  const missing = [...wanted].filter((name) => !found.some(({ type }) => type === name));
  if (missing.length > 0) {
    throw new ConfigurationError(
      `${missing.join(', ')} has no configuration on this machine (looked below ${world.home}).`,
    );
  }
  const here = found.filter(({ files }) => project || files.some(({ scope }) => scope !== 'project'));
  return wanted.size === 0 ? here : found.filter(({ type }) => wanted.has(type));
}

const asksWhich = (values: Values, candidates: readonly FoundClient[], { stdin, stderr, stdout }: Io): boolean =>
  candidates.length > 1 &&
  ![values.json, values.yes, values.client, values['dry-run']].some(Boolean) &&
  [stdin, stderr, stdout].every(({ isTTY }) => isTTY);

/** The chosen clients: numbers, or nothing for all; undefined without an answer. */
const choose = (clients: readonly FoundClient[], io: Io): Promise<readonly FoundClient[] | undefined> =>
  ask(io, '\nUse which clients? Enter for all, numbers such as 1,3, or 0 for none: ', (answer) => {
    const numbers = answer.split(/[\s,]+/).map(Number);
    if (answer === '') return clients;
    if (numbers.every((number) => Number.isInteger(number) && number >= 0 && number <= clients.length))
      return clients.filter((_, at) => numbers.includes(at + 1));
    io.stderr.write(`Enter numbers from 0 to ${clients.length}.\n`);
    return undefined;
  });

/** The file to write, and the file that exists. */
interface Plan {
  readonly file: string;
  readonly format: StarterFormat;
  readonly text: string;
  /** The existing file, perhaps with another extension. */
  readonly present: { readonly path: string; readonly text: string } | undefined;
}

async function planOf(starter: Starter, format: StarterFormat, values: Values, world: World): Promise<Plan> {
  const folder = values.project ? join(world.cwd, '.anygpt') : stateFolder(world);
  const file = join(folder, `mcp-discovery.config.${format}`);
  const endings = [format, ...CONFIG_ENDINGS].map((ending) => join(folder, `mcp-discovery.config.${ending}`));
  const path = endings.find((candidate) => existsSync(candidate));
  if (values.project) for (const place of [folder, file, ...(path ? [path] : [])]) refuseLeaving(place, world);
  const present = path === undefined ? undefined : { path, text: (await readIfPresent(path)) ?? '' };
  return { file, format, text: await starterText(starter, format), present };
}

/** A file of a project may be a planted link. The target of a link out of the project is not shown, copied or written. */
function refuseLeaving(path: string, world: World): void {
  if (!existsSync(path) || isReallyInside(path, projectFolders(world).repository ?? world.cwd)) return;
  throw new DiscoveryError(
    'STORAGE_ERROR',
    `${path} is a link to a place outside this project, so nothing was written. Remove the link first.`,
  );
}

async function carryOut({ file, text, present }: Plan, values: Values, world: World): Promise<Done> {
  if (present?.path === file && present.text === text) return { status: 'unchanged' };
  if (values['dry-run']) return { status: 'dry-run' };
  if (present !== undefined && !values.force) return { status: 'exists' };
  const backup = present && (await copyBeside(present.path));
  // A link stays a link: some people keep their settings in a repository.
  await writeAtomically(existsSync(file) ? await realpath(file) : file, text, values.project ? 0o644 : 0o600);
  if (present && present.path !== file) await rm(present.path);
  // Trust exactly the text that was written.
  if (values.project) await new ConfigurationLoader(world).trust(file, text);
  return { status: 'written', ...(backup !== undefined && { backup }) };
}

function foundText(found: readonly FoundClient[], numbered: readonly FoundClient[], io: Io, world: World): string {
  if (found.length === 0) return 'No client with MCP servers was found on this machine.';
  const [paint, width] = [paintFor(io), widthOf(io)];
  const joined = joinEntries(found);
  const servers = found.reduce((sum, client) => sum + countOf(client), 0) - joined.shared.size;
  const blocks = found.map((client) => {
    const at = numbered.indexOf(client);
    const [head = '', ...rest] = clientLines(client, world.home, paint, joined, at === -1 ? '' : `${at + 1}. `);
    return [head, ...rest.map((line) => block(line.trimStart(), width, /^ */.exec(line)?.[0] ?? ''))].join('\n');
  });
  return [`Found ${counted(found.length, 'client')} with ${counted(servers, 'server')}:`, ...blocks].join('\n\n');
}

async function outcomeText(outcome: Outcome, plan: Plan, io: Io, world: World): Promise<string> {
  const { starter, done } = outcome;
  const { file, text, present } = plan;
  const [name, width] = [withTilde(file, world.home), widthOf(io)];
  const say = (sentence: string) => block(sentence, width, '');
  const fine = (sentence: string) => `${paintFor(io)('green', '✓')} ${block(sentence, width, '  ').slice(2)}`;
  const parts: string[] = starter.kept.map(({ type, reason }) =>
    say(`${type} stays a source: ${reason.replace(/\.$/, '')}.`),
  );
  parts.push(...starter.warnings.map(say));
  if (done.status === 'written' || done.status === 'unchanged') parts.push(fine(fileText(outcome, world)));
  if (done.status === 'dry-run' && present === undefined)
    parts.push(`${say(`Would write ${name}:`)}\n\n${text.trimEnd()}`);
  if (present !== undefined && (done.status === 'exists' || done.status === 'dry-run')) {
    const there = withTilde(present.path, world.home);
    const diff = await fileDiff({ path: name, was: present.path, before: present.text, after: text, harmless: true });
    parts.push(
      `${say(`${there} already exists. Nothing was written. --force would change it${present.path === file ? '' : ` to ${name}`}:`)}\n\n${diff}`,
    );
  }
  parts.push(...notesOn(outcome, world).map(say));
  return [parts.join('\n'), ['Next:', ...nextCommands(outcome, io.env).map((line) => `  ${line}`)].join('\n')].join(
    '\n\n',
  );
}

const initDocument = (outcome: Outcome, { file, format, text, present }: Plan, io: Io) => {
  const { found, chosen, starter, done } = outcome;
  const { sources, servers, kept, warnings } = starter;
  const { status, backup } = done;
  const joined = joinEntries(found);
  return {
    file,
    format,
    status,
    ...(present !== undefined && { present: present.path }),
    ...(backup !== undefined && { backup }),
    clients: found.map((client) => clientDocument(client, chosen.includes(client), joined)),
    sources: sources.map(({ type }) => type),
    servers: servers.map((server) => (server as { name: string }).name),
    ...(kept.length > 0 && { kept }),
    ...(warnings.length > 0 && { warnings }),
    text,
    next: nextCommands(outcome, io.env),
  };
};
