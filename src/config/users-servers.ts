/**
 * Recognises the user's own servers among a project's entries, whatever the project calls them. The user's denying rules
 * and switches then apply to them. The comparison is loose, because it only ever narrows: the same package, script or
 * address is the same server, whatever its arguments and environment are.
 * @module
 */
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { toToolRules } from '../clients/importers/tool-filter.ts';
import { addressWords, isLocal, transportParts, type WrittenConnection } from '../core/transport-parts.ts';
import type { ServerDefinition, ToolRule } from '../core/types.ts';
import type { JoinedServers } from './join-servers.ts';
import { expandReferences } from './references.ts';
import type { PlacedEntry } from './server-entry.ts';
import { identityOf } from './server-identity.ts';
import type { World } from './world.ts';

/** Words that start another program, or a command of such a program. */
const LAUNCHERS =
  /^(?:np[mx]|node(?:js)?|bunx?|deno|pnp[mx]|yarn|corepack|tsx|ts-node|uvx?|pipx?|py|python[\d.]*|java|ruby|php|perl|dotnet|go|cargo|docker|podman|nerdctl|sh|bash|dash|zsh|fish|cmd|powershell|pwsh|env|sudo|nice|nohup|timeout|exec|run|x|dlx|tool|mcp-remote|supergateway|mcp-proxy)$/;
/** Options of containers whose value is the next word. */
const CONTAINER_VALUE =
  /^(?:-[evpuwlm]|--(?:env|env-file|volume|mount|publish|user|workdir|label|name|network|net|entrypoint|platform|add-host|cpus|memory|pull|gpus|hostname))$/;

interface Program {
  /** The package, script or address; undefined if no word looks like one. */
  readonly main: string | undefined;
  /** Every word that may be one. */
  readonly words: ReadonlySet<string>;
}

/** The result of `withUsersWord`. */
interface UsersWord {
  readonly servers: readonly ServerDefinition[];
  /** What the tool lists of the user's clients deny of these servers. */
  readonly toolRules: readonly ToolRule[];
  readonly warnings: readonly string[];
}

/**
 * Finds the project's servers that are the user's own. Gives each the names it has there, and switches it off if the
 * user has.
 */
export function withUsersWord(
  { servers, placed }: Pick<JoinedServers, 'servers' | 'placed'>,
  users: readonly PlacedEntry[],
  rules: readonly ToolRule[],
  world: World,
): UsersWord {
  const projects = new Map(
    placed.filter(({ isProjects }) => isProjects).map(({ entry }) => [entry.name, entry.connection]),
  );
  // Recognising a program costs a disk access for each server.
  if (projects.size === 0) return { servers, toolRules: [], warnings: [] };
  const denies = rules.some(({ enabled }) => enabled === false);
  const known = users.flatMap(({ entry, origin, folder, filter }) => {
    const { connection } = entry;
    if (connection === undefined) return [];
    return [{ entry, origin, filter, identity: identityOf(connection), program: programOf(connection, folder, world) }];
  });
  const switchedOn = new Set(
    users.flatMap(({ entry }) => (entry.connection === undefined && entry.enabled === true ? [entry.name] : [])),
  );
  const toolRules: ToolRule[] = [];
  const warnings: string[] = [];
  const said = (server: ServerDefinition): ServerDefinition => {
    const { name, origin } = server;
    const written = projects.get(name);
    if (written === undefined) return server;
    const identity = identityOf(written);
    const program = programOf(server.connection, undefined, world);
    const same = known.filter((one) => one.identity === identity || isSame(one.program, program));
    if (same.length === 0) return server;
    for (const { filter } of same) if (filter !== undefined) toolRules.push(...toToolRules(name, filter));
    const off = same.find(({ entry }) => entry.enabled === false);
    const isUsed = same.some((one) => one.identity === identity && one.entry.enabled !== false);
    const isOff =
      off !== undefined &&
      !isUsed &&
      ![name, `${origin.client ?? 'project'}/${name}`].some((one) => switchedOn.has(one));
    const [first] = same;
    const which = `${origin.file}: server "${name}" is the same program or address as your "${(isOff ? off : first)?.entry.name}"`;
    if (isOff && server.enabled)
      warnings.push(
        `${which}, which you have switched off, so it is off here too. To use it, add {"name": ${JSON.stringify(name)}, "enabled": true} to "servers" in your own configuration.`,
      );
    else if (denies && server.enabled && first?.entry.name !== name)
      warnings.push(`${which}, so your rules that deny tools of that server apply to it too.`);
    const sameAs = same.flatMap(({ entry, origin: { name: there = entry.name, client } }) => [
      entry.name,
      there,
      ...(client === undefined ? [] : [`${client}/${there}`]),
    ]);
    return { ...server, ...(isOff && { enabled: false }), origin: { ...origin, sameAs: [...new Set(sameAs)] } };
  };
  return { servers: servers.map(said), toolRules, warnings };
}

const isSame = (one: Program, other: Program): boolean =>
  (one.main !== undefined && other.words.has(one.main)) || (other.main !== undefined && one.words.has(other.main));

function programOf(connection: WrittenConnection, folder: string | undefined, world: World): Program {
  const start = transportParts(connection.type).folder(connection) ?? folder ?? world.home;
  const [command = '', ...args] = addressWords(connection).map((word) => expanded(word, world));
  const isRemote = !isLocal(connection);
  const words: string[] = [];
  let main: string | undefined;
  let isContainer = false;
  let isValue = false;
  // A shell's script is one word with many in it.
  for (const [at, word] of [command, ...args.flatMap((arg) => arg.split(/[\s;&|"'`()<>]+/))].entries()) {
    const isSkipped = isValue || /^[A-Za-z_]\w*=/.test(word);
    isValue = isContainer && CONTAINER_VALUE.test(word);
    const key = isRemote ? (addressKey(word) ?? word) : wordKey(word, start);
    if (key === undefined) continue;
    const bare = at === 0 || !/[./\\]/.test(key) ? bareName(word) : key;
    if (LAUNCHERS.test(bare)) {
      isContainer ||= /^(?:docker|podman|nerdctl)$/.test(bare);
      continue;
    }
    words.push(key, ...(at === 0 && !isRemote && !bare.includes('.') ? [bare] : []));
    if (!isSkipped) main ??= at === 0 && !isRemote && !bare.includes('.') ? bare : key;
  }
  return { main, words: new Set(words) };
}

/** Replaces variables. Files are not read for a comparison. */
function expanded(text: string, { env, literal }: World): string {
  if (literal || /\$\{(?:file|envFile):/.test(text)) return text;
  try {
    return expandReferences(text, env);
  } catch {
    // A variable that is not set.
    return text;
  }
}

/** The host and path of an address, however it is written. */
function addressKey(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const { hostname, port, pathname } = new URL(text);
  const host = hostname.replace(/\.$/, '');
  const where = /^(?:localhost|127(?:\.\d+){3}|\[::1\]|\[::ffff:7f.*\])$/.test(host) ? 'localhost' : host;
  const path = decoded(pathname).replace(/\/+/g, '/').toLowerCase();
  return `//${where}:${port}${path.replace(/(?:\/(?:mcp|sse))?\/?$/, '')}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A word as a real path, a package without its version, or an address; undefined for an option. */
function wordKey(word: string, start: string): string | undefined {
  const text = word.replace(/^--?[\w.-]{1,100}=/, '');
  if (text === '' || text.startsWith('-')) return undefined;
  const address = addressKey(text);
  if (address !== undefined) return address;
  const inModules = /^.*[/\\]node_modules[/\\]((?:@[^/\\]+[/\\])?[^/\\]+)[/\\]/.exec(text)?.[1];
  if (inModules !== undefined && inModules !== '.bin') return packageKey(inModules.replace('\\', '/'));
  if (/[/\\.]/.test(text) && !text.startsWith('@')) {
    const path = resolve(start, text);
    try {
      return realpathSync.native(path);
    } catch {
      // Not a file that exists.
      if (/^[/\\.~]|^[A-Za-z]:[/\\]/.test(text)) return path;
    }
  }
  return packageKey(text);
}

/** `@scope/name@1.2`, `name==1.2`, `name[extra]`, `image:tag` and `npm:name` without everything but the name. */
const packageKey = (text: string): string =>
  text
    .replace(/^(?:npm|jsr|pypi):/, '')
    .replace(/^(@?[^@]+)@.*$/, '$1')
    .replace(/(?:\[|[=<>~!]=|[<>]).*$/, '')
    .replace(/:[^/]*$/, '')
    .replaceAll('_', '-')
    .toLowerCase();

/** The name of a program without its folder and its ending. */
const bareName = (path: string): string =>
  (path.split(/[/\\]/).at(-1) ?? '').replace(/\.(?:exe|cmd|bat|ps1)$/i, '').toLowerCase();
