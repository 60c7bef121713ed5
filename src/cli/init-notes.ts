/**
 * Writes what `init` did, what to know about it, and which commands to type next.
 * @module
 */
import type { ClientType } from '../clients/importers/clients.ts';
import { findCandidates } from '../config/find-config.ts';
import type { FoundClient } from '../config/found-clients.ts';
import { TAKEN_OVER } from '../config/parse-data.ts';
import { howToWriteThem, quotedWords, relativeWords } from '../config/relative-arguments.ts';
import type { Starter } from '../config/starter-config.ts';
import type { World } from '../config/world.ts';
import { isLocal } from '../core/transport-parts.ts';
import { counted } from '../text/counted.ts';
import { oneLine } from '../text/plain-text.ts';
import { countOf } from './found-lines.ts';
import { withTilde } from './source-lines.ts';

/** What happened to the file. */
export interface Done {
  readonly status: 'written' | 'unchanged' | 'exists' | 'dry-run';
  readonly backup?: string;
}

/** The clients that were found and chosen, and what was written. */
export interface Outcome {
  readonly found: readonly FoundClient[];
  readonly chosen: readonly FoundClient[];
  readonly starter: Starter;
  readonly file: string;
  readonly done: Done;
  /** The configuration belongs to this folder. */
  readonly project: boolean;
  /** Client files of this folder that are trusted as they are. */
  readonly trusted: ReadonlySet<string>;
  /** Clients that have an entry of ours already. */
  readonly installed: ReadonlySet<ClientType>;
}

/** Whether the configuration names no client and no server. */
const isEmpty = ({ sources, servers }: Starter): boolean => sources.length + servers.length === 0;

/** `reads claude-desktop and cursor`, `has 3 servers`. */
function contentOf({ sources, servers }: Starter): string {
  const types = sources.map(({ type }) => type);
  const named = [types.slice(0, -1).join(', '), types.at(-1)].filter(Boolean).join(' and ');
  return [named && `reads ${named}`, servers.length > 0 && `has ${counted(servers.length, 'server')}`]
    .filter(Boolean)
    .join(' and ');
}

/** Describes the file that was written, or that already had this content. */
export function fileText({ starter, file, done: { status, backup } }: Outcome, world: World): string {
  const name = withTilde(file, world.home);
  if (status === 'unchanged')
    return isEmpty(starter)
      ? `${name} already exists and names no client or server yet; its comments show how to add one. Nothing was written.`
      : `${name} already ${contentOf(starter)}. Nothing was written.`;
  const kept = backup === undefined ? '' : ` (backup: ${withTilde(backup, world.home)})`;
  return `Wrote ${name}${kept}${isEmpty(starter) ? '. It names no client or server yet; its comments show how to add one.' : ''}`;
}

/** Files of this project that have servers. */
const projectFiles = (clients: readonly FoundClient[]) =>
  clients.flatMap(({ files }) => files.filter(({ scope, entries }) => scope === 'project' && entries.length > 0));

/** Project files that still need to be trusted. */
const untrusted = ({ chosen, trusted }: Outcome) => projectFiles(chosen).filter(({ path }) => !trusted.has(path));

/** Project files of clients that are not used because they have no other file. */
const unread = ({ found, chosen, project }: Outcome) =>
  project
    ? []
    : projectFiles(
        found.filter((client) => !chosen.includes(client) && client.files.every(({ scope }) => scope === 'project')),
      );

/** What else to know. */
export function notesOn(outcome: Outcome, world: World): string[] {
  const { file, done } = outcome;
  const [first] = findCandidates(world);
  return [
    ...(done.status === 'written' && first !== undefined && first.path !== file
      ? [`In this folder, ${withTilde(first.path, world.home)} is used instead.`]
      : []),
    ...untrusted(outcome).map(
      ({ path }) => `Servers of ${withTilde(path, world.home)} start only after: anygpt mcp trust`,
    ),
    ...unread(outcome).map(({ path, entries }) => {
      const servers = entries.length === 1 ? 'its server' : `its ${entries.length} servers`;
      const trust = outcome.trusted.has(path) ? '' : ', then "anygpt mcp trust", which shows what would run and asks';
      return `${withTilde(path, world.home)} came with this folder. ${withTilde(file, world.home)} applies everywhere and does not read it. To use ${servers} here, run "anygpt mcp init --project", which writes a configuration for this folder${trust}.`;
    }),
    ...relativeOnes(outcome, world),
    ...leftBehind(outcome),
  ];
}

/** Servers of the user's own files with relative paths: they start in the home folder, not where the client works. */
const relativeOnes = ({ chosen }: Outcome, world: World): string[] =>
  chosen.flatMap(({ files }) =>
    files.flatMap(({ path, scope, entries }) =>
      entries.flatMap(({ entry: { name, connection } }) => {
        if (scope === 'project' || connection === undefined || !isLocal(connection) || connection.cwd !== undefined)
          return [];
        const words = relativeWords('', connection.args ?? []);
        if (words.length === 0) return [];
        return [
          `${oneLine(name, 100)} has ${quotedWords(words)} in its arguments. Behind the gateway it starts in your home folder. In ${withTilde(path, world.home)}, ${howToWriteThem(words)}.`,
        ];
      }),
    ),
  );

/** Servers that were taken over from a client which is not used now would be lost. */
const leftBehind = ({ found, chosen, done }: Outcome): string[] =>
  found.flatMap((client) => {
    const { type, title, files } = client;
    const names = files
      .filter(({ path }) => path.endsWith(TAKEN_OVER))
      .flatMap(({ entries }) => entries.map(({ entry }) => entry.name));
    if (names.length === 0 || chosen.includes(client) || done.status === 'exists') return [];
    return [
      `${names.join(', ')}, taken over from ${title}, would be left out; "anygpt mcp uninstall ${type}" restores them.`,
    ];
  });

/** Up to three commands, written so that they work as this one was started: installed, or with npx. */
export function nextCommands(outcome: Outcome, env: Readonly<Record<string, string | undefined>>): string[] {
  const { chosen, file, done, project } = outcome;
  const program = env.npm_command === 'exec' ? 'npx -y @anygpt/discovery mcp' : 'anygpt mcp';
  const look = [`${program} list --status`, `${program} search "read a file"`];
  if (done.status === 'dry-run') return [`${program} init${project ? ' --project' : ''}`, ...look];
  const servers = chosen.reduce((sum, client) => sum + countOf(client), 0);
  if (servers === 0 && unread(outcome).length > 0)
    return [
      `${program} init --project`,
      ...(unread(outcome).every(({ path }) => outcome.trusted.has(path)) ? [] : [`${program} trust`]),
      `${program} list --status`,
    ];
  const whole = chosen.filter(
    (client) => client.files.every(({ problem }) => problem === undefined) && countOf(client) > 0,
  );
  const next = whole.find(({ type }) => !outcome.installed.has(type));
  const last = next ? [`${program} install ${next.type}`] : whole.length === 0 ? [`${program} config validate`] : [];
  if (servers === 0)
    return [`"\${EDITOR:-vi}" ${JSON.stringify(file)}`, `${program} config validate`, `${program} list --status`];
  const trust = project && untrusted(outcome).length > 0 ? [`${program} trust`] : [];
  return [...trust, ...look, ...last].slice(0, 3);
}
