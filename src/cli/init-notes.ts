/**
 * What `init` found and did in; what is worth knowing about it, and what to type next, out.
 * @module
 */
import { findCandidates } from '../config/find-config.ts';
import type { FoundClient } from '../config/found-clients.ts';
import { TAKEN_OVER } from '../config/parse-data.ts';
import { howToWriteThem, quotedWords, relativeWords } from '../config/relative-arguments.ts';
import type { Starter } from '../config/starter-config.ts';
import type { World } from '../config/world.ts';
import { oneLine } from '../text/plain-text.ts';
import { counted, countOf } from './found-lines.ts';
import { withTilde } from './source-lines.ts';

/** What came of it. */
export interface Done {
  readonly status: 'written' | 'unchanged' | 'exists' | 'dry-run';
  readonly backup?: string;
}

/** Everything that was found, chosen and done. */
export interface Outcome {
  readonly found: readonly FoundClient[];
  readonly chosen: readonly FoundClient[];
  readonly starter: Starter;
  readonly file: string;
  readonly done: Done;
  /** The configuration is one of this folder. */
  readonly project: boolean;
  /** Files of clients that came with this folder and are trusted as they are. */
  readonly trusted: ReadonlySet<string>;
}

/** Whether the configuration names nothing: a frame to be filled. */
const isEmpty = ({ sources, servers }: Starter): boolean => sources.length + servers.length === 0;

/** `reads claude-desktop and cursor`, `has 3 servers`. */
function contentOf({ sources, servers }: Starter): string {
  const types = sources.map(({ type }) => type);
  const named = [types.slice(0, -1).join(', '), types.at(-1)].filter(Boolean).join(' and ');
  return [named && `reads ${named}`, servers.length > 0 && `has ${counted(servers.length, 'server')}`]
    .filter(Boolean)
    .join(' and ');
}

/** What is to be said of the file that was written, or was there with the same content. */
export function fileText({ starter, file, done: { status, backup } }: Outcome, world: World): string {
  const name = withTilde(file, world.home);
  if (status === 'unchanged')
    return isEmpty(starter)
      ? `${name} is there already and names no client or server yet. Nothing was written.`
      : `${name} ${contentOf(starter)} already. Nothing was written.`;
  const kept = backup === undefined ? '' : ` (the old one is ${withTilde(backup, world.home)})`;
  return `Wrote ${name}${kept}${isEmpty(starter) ? ', which names no client or server yet' : ''}`;
}

/** Files that came with this project and hold servers. */
const projectFiles = (clients: readonly FoundClient[]) =>
  clients.flatMap(({ files }) => files.filter(({ scope, entries }) => scope === 'project' && entries.length > 0));

/** Those that run only once somebody has trusted them. */
const untrusted = ({ chosen, trusted }: Outcome) => projectFiles(chosen).filter(({ path }) => !trusted.has(path));

/** Those of clients that are not used because they have nothing else. */
const unread = ({ found, chosen, project }: Outcome) =>
  project
    ? []
    : projectFiles(
        found.filter((client) => !chosen.includes(client) && client.files.every(({ scope }) => scope === 'project')),
      );

/** What is worth knowing beside that. */
export function notesOn(outcome: Outcome, world: World): string[] {
  const { file, done } = outcome;
  const [first] = findCandidates(world);
  return [
    ...(done.status === 'written' && first !== undefined && first.path !== file
      ? [`In this folder ${withTilde(first.path, world.home)} comes first.`]
      : []),
    ...untrusted(outcome).map(({ path }) => `Nothing in ${withTilde(path, world.home)} runs before: anygpt mcp trust`),
    ...unread(outcome).map(
      ({ path, entries }) =>
        `${withTilde(path, world.home)} came with this folder, and ${withTilde(file, world.home)}, which counts everywhere, does not read it. To use ${entries.length === 1 ? 'its server' : `its ${entries.length} servers`} here: "anygpt mcp init --project" writes a configuration of this folder that does, and "anygpt mcp trust" shows what would run and allows it.`,
    ),
    ...relativeOnes(outcome, world),
    ...leftBehind(outcome),
  ];
}

/** Servers of the user's own files that would be looked for at home, not in the folder the client works in. */
const relativeOnes = ({ chosen }: Outcome, world: World): string[] =>
  chosen.flatMap(({ files }) =>
    files.flatMap(({ path, scope, entries }) =>
      entries.flatMap(({ entry: { name, connection } }) => {
        if (scope === 'project' || connection?.type !== 'stdio' || connection.cwd !== undefined) return [];
        const words = relativeWords('', connection.args ?? []);
        if (words.length === 0) return [];
        return [
          `${oneLine(name, 100)} has ${quotedWords(words)} in its arguments. Behind the gateway it starts in your home folder: in ${withTilde(path, world.home)}, ${howToWriteThem(words)}.`,
        ];
      }),
    ),
  );

/** Servers that were taken over from a client that is not used are nowhere any more. */
const leftBehind = ({ found, chosen, done }: Outcome): string[] =>
  found.flatMap((client) => {
    const { type, title, files } = client;
    const names = files
      .filter(({ path }) => path.endsWith(TAKEN_OVER))
      .flatMap(({ entries }) => entries.map(({ entry }) => entry.name));
    if (names.length === 0 || chosen.includes(client) || done.status === 'exists') return [];
    return [
      `${names.join(', ')}, taken over from ${title}, would be left out; "anygpt mcp uninstall ${type}" gives them back.`,
    ];
  });

/** Three commands that can be typed as they are, however this one was started. */
export function nextCommands(outcome: Outcome, env: Readonly<Record<string, string | undefined>>): string[] {
  const { chosen, file, done, project } = outcome;
  const program = env.npm_command === 'exec' ? 'npx -y @anygpt/discovery mcp' : 'anygpt mcp';
  const look = [`${program} list --status`, `${program} search "read a file"`];
  if (done.status === 'dry-run') return [`${program} init${project ? ' --project' : ''}`, ...look];
  const servers = chosen.reduce((sum, client) => sum + countOf(client), 0);
  if (servers === 0 && unread(outcome).length > 0)
    return [`${program} init --project`, `${program} trust`, `${program} list --status`];
  const whole = chosen.find(
    (client) => client.files.every(({ problem }) => problem === undefined) && countOf(client) > 0,
  );
  const last = whole ? `${program} install ${whole.type}` : `${program} config validate`;
  const before = servers === 0 ? [`"\${EDITOR:-vi}" ${JSON.stringify(file)}`] : [];
  const trust = project && untrusted(outcome).length > 0 ? [`${program} trust`] : [];
  return [...before, ...trust, ...look, last].slice(0, 3);
}
