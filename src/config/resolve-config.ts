/**
 * Resolves layers into one configuration: merges and completes the settings, collects the servers of the files and
 * their sources, and applies switches in the environment.
 * @module
 */
import { join } from 'node:path';
import type { ImportedSource } from '../clients/importers/import-source.ts';
import { ConfigurationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { ServerDefinition, ToolRule } from '../core/types.ts';
import { toConsistentSettings, toOrderedSettings } from './consistency.ts';
import { isSameServer, type JoinedServers, joinServers, mayBeSameServer } from './join-servers.ts';
import type { FileProblem, Layer, LayerContext } from './layers.ts';
import { mergeSettings } from './merge-settings.ts';
import { toPathText } from './problems.ts';
import { type Floor, narrowed } from './project-settings.ts';
import type { ResolvedConfig } from './resolved-config.ts';
import { mergeEntries, type PlacedEntry, withAbsolutePaths } from './server-entry.ts';
import { type Settings, settingsSchema } from './settings-schema.ts';
import { withEnvironment } from './shared-variables.ts';
import { withUsersWord } from './users-servers.ts';
import { withWorkspace } from './workspace-folder.ts';
import { absoluteFolder, stateFolder, type World } from './world.ts';

/** What was found out before resolving. */
export interface Findings {
  readonly files: readonly string[];
  readonly warnings: readonly string[];
  readonly origin: string | undefined;
}

/**
 * Resolves layers, the strongest first. Without layers this is the built-in default.
 * @param floor the user's own file, if a project's configuration is in use
 */
export async function resolveConfig(
  layers: readonly Layer[],
  findings: Findings,
  context: LayerContext,
  floor?: Floor,
): Promise<ResolvedConfig> {
  const { world, project, onCode } = context;
  const isShown = onCode !== undefined;
  const { settings, problems, warnings } = project
    ? projectSettings(layers, floor, context)
    : { ...ownSettings(layers, findings, world), warnings: [] };
  const imported = settings.enabled ? await importAll(layers, context) : [];
  const written = settings.enabled ? ownEntries(layers, context) : [];
  const said = (placed: PlacedEntry) => (floor === undefined ? placed : withOwnersWord(placed, floor.entries));
  const joined = joinServers(
    written.map(said),
    imported.flatMap(({ entries, hidden = [] }) => [...entries, ...hidden].map(said)),
    settings.approval,
  );
  const incomplete = unreachableProblems(joined, imported, isShown);
  const all = [...problems, ...incomplete.problems];
  if (all.length > 0) throw toConfigurationError(all);
  // The preview shows servers as written.
  const users = [...(floor?.entries ?? []), ...written, ...joined.placed].filter(({ isProjects }) => !isProjects);
  const rules = layers.flatMap(({ section }) => section.toolRules ?? []);
  const ours = [...(project ? rules.map(withoutApproval) : rules), ...joined.toolRules];
  const known = isShown
    ? { servers: joined.servers, toolRules: [], warnings: [] }
    : withUsersWord(joined, users, [...ours, ...(floor?.toolRules ?? [])], world);
  const inEnvironment = isShown
    ? known
    : withEnvironment(await withWorkspace(known.servers, world, context.isTrustedFolder), world);
  return {
    ...withPlaces(settings, world),
    servers: inEnvironment.servers,
    sources: imported.map(({ source }) => source),
    // The user's own rules come first, so that they can allow what a client's tool list denies.
    toolRules: [...ours, ...known.toolRules],
    ...(project && { floorRules: floorRules(joined, floor, known.toolRules) }),
    files: [...new Set([...findings.files, ...imported.filter(wasRead).map(({ source }) => source.path)])],
    warnings: [
      ...findings.warnings,
      ...warnings,
      ...(project && rules.some((rule) => approvesBeyond(floor, rule)) ? [APPROVE_IGNORED] : []),
      ...(isShown ? sourcesText(layers) : []),
      ...(floor === undefined ? [] : unusedText(floor, joined, findings)),
      ...imported.flatMap(({ warnings }) => warnings),
      ...joined.warnings,
      ...incomplete.warnings,
      ...known.warnings,
      ...inEnvironment.warnings,
      ...looserApprovals(joined),
      ...joined.servers.flatMap((server) => ceilingWarning(server, settings.limits.callCeiling)),
    ],
    origin: findings.origin,
    home: stateFolder(world),
  };
}

/**
 * Resolves the user's own file as the floor of a project's: its settings, its rules, and its servers' names and
 * settings.
 */
export async function toFloor(layers: readonly Layer[], findings: Findings, context: LayerContext): Promise<Floor> {
  const { settings, problems } = ownSettings(layers, findings, context.world);
  if (problems.length > 0) throw toConfigurationError(problems);
  const toolRules = layers.flatMap(({ section }) => section.toolRules ?? []);
  // Project files are left out here without asking for trust.
  const imported = await importAll(layers, { ...context, isTrustedProject: async () => false });
  const entries = imported.flatMap((source) => source.entries.filter(({ isProjects }) => !isProjects));
  const { placed } = joinServers(ownEntries(layers, context), entries);
  return {
    settings,
    toolRules,
    rulePrecedence: settings.rulePrecedence,
    file: findings.origin ?? '',
    entries: placed,
  };
}

/**
 * Gives an entry the name and settings that the server has in the user's own configuration. Settings for its name alone
 * count as well. A project's server can only be switched off this way.
 */
function withOwnersWord(placed: PlacedEntry, floor: readonly PlacedEntry[]): PlacedEntry {
  const { entry, origin, isProjects } = placed;
  const names = [`${origin.client ?? 'project'}/${entry.name}`, entry.name];
  const isNamed = ({ entry: { name } }: PlacedEntry) => names.includes(name);
  const same = floor.filter((word) => isSameServer(word, placed));
  const [word = floor.find((other) => other.entry.connection === undefined && isNamed(other))] = same;
  if (word === undefined) return placed;
  if (isProjects) {
    // The user's servers under other names are recognised after joining.
    const isOff = word.entry.enabled === false && isNamed(word);
    return isOff ? { ...placed, entry: { ...entry, enabled: false } } : placed;
  }
  const { name = entry.name } = same.length === 0 ? {} : word.entry;
  const merged = mergeEntries({ ...word, entry: { ...word.entry, name, connection: undefined } }, placed);
  return {
    ...merged,
    isDecided: true,
    origin: name === entry.name ? origin : { ...origin, name: entry.name },
  };
}

/** A project cannot approve anything: only the user's own rules can. */
const withoutApproval = ({ approve: _approve, ...rule }: ToolRule): ToolRule => rule;
const approvesBeyond = (floor: Floor | undefined, rule: ToolRule): boolean =>
  rule.approve !== undefined && !floor?.toolRules.some((users) => JSON.stringify(users) === JSON.stringify(rule));
const APPROVE_IGNORED = 'toolRules: approve is ignored in a project’s configuration. It belongs into your own.';

/** Returns the user's rules that apply beside a project's, with the tool lists of the user's clients. */
function floorRules(
  { placed, usersToolRules }: JoinedServers,
  floor: Floor | undefined,
  further: readonly ToolRule[],
): ResolvedConfig['floorRules'] {
  const { toolRules = [], rulePrecedence = 'first-match', entries = [] } = floor ?? {};
  const all = [...toolRules, ...usersToolRules, ...further];
  if (all.length === 0) return undefined;
  const strangers = placed.filter((server) =>
    entries.some((users) => users.entry.name === server.entry.name && !mayBeSameServer(users, server)),
  );
  return {
    toolRules: all,
    rulePrecedence,
    strangers: strangers.map(({ entry }) => entry.name),
  };
}

/** Servers of the user's own configuration that are not there because a project's comes first. */
function unusedText({ file, entries }: Floor, { placed }: JoinedServers, { origin = '' }: Findings): string[] {
  const names = entries
    .filter(({ entry }) => entry.connection !== undefined && entry.enabled !== false)
    .filter((users) => !placed.some((server) => !server.isProjects && isSameServer(users, server)))
    .map(({ entry }) => entry.name);
  if (names.length === 0) return [];
  const more = names.length > LIMITS.shown.named ? ` and ${names.length - LIMITS.shown.named} more` : '';
  const [what, them] = names.length === 1 ? ['is', 'it'] : ['are', 'them'];
  return [
    `${names.slice(0, LIMITS.shown.named).join(', ')}${more} of ${file} ${what} not used here, because ${origin} comes first. To use ${them} here too, add "extends": ${JSON.stringify(file)} to ${origin} and trust it again.`,
  ];
}

/** Names the clients that a project's configuration takes servers from. Their servers are not listed. */
function sourcesText(layers: readonly Layer[]): string[] {
  const types = layers.flatMap(({ section }) =>
    (section.sources ?? []).flatMap(({ type, path, enabled }) =>
      path === undefined && enabled !== false ? [type] : [],
    ),
  );
  return [...new Set(types)].map((type) =>
    type === 'auto'
      ? 'Every server of every client on this machine would also be used here.'
      : `Every server of ${type} on this machine would also be used here.`,
  );
}

function ownSettings(layers: readonly Layer[], { origin }: Findings, world: World) {
  const file = origin ?? 'the built-in configuration';
  const prefix = layers[0]?.prefix ?? '';
  const written = mergeSettings(layers, world);
  const { settings, problems } = toConsistentSettings(written, settingsSchema.parse(written));
  return {
    settings,
    problems: problems.map(({ group, key, text }) => ({ file, text: toPathText(prefix, [group, key]) + text })),
  };
}

function projectSettings(layers: readonly Layer[], floor: Floor | undefined, { pins }: LayerContext) {
  const [{ file = '', prefix = '' } = {}] = layers;
  const { settings, ignored } = narrowed(
    floor?.settings ?? settingsSchema.parse({}),
    mergeSettings(layers, undefined),
    prefix,
  );
  const keys = ignored.join(', ');
  const warnings =
    ignored.length === 0
      ? []
      : [
          `${file}: ${keys} ${ignored.length === 1 ? 'is' : 'are'} ignored: a project’s configuration can add and narrow, and this is for your own file to say.`,
        ];
  const search = floor?.settings.search.embedder ? settings.search : withPinnedEmbedder(settings.search, pins);
  return { settings: toOrderedSettings({ ...settings, search }), problems: [], warnings };
}

/** An embedder's URL and key may be references to files too. */
function withPinnedEmbedder(search: Settings['search'], pins: LayerContext['pins']): Settings['search'] {
  const { embedder } = search;
  if (embedder === undefined || pins === undefined) return search;
  const pinned = (text: string | undefined) => (text === undefined ? undefined : pins.pinnedText(text));
  return { ...search, embedder: { ...embedder, url: pinned(embedder.url), apiKey: pinned(embedder.apiKey) } };
}

/** Makes one error of any number of problems in any number of files. */
export function toConfigurationError(problems: readonly FileProblem[]): ConfigurationError {
  const files = [...new Set(problems.map(({ file }) => file))];
  const text = files.map((file) => {
    const own = problems.filter((problem) => problem.file === file);
    const title = own.length === 1 ? `${file} has a problem:` : `${file} has ${own.length} problems:`;
    const lines = own.slice(0, LIMITS.shown.problems).map((problem) => `  - ${problem.text}`);
    if (own.length > LIMITS.shown.problems) lines.push(`  and ${own.length - LIMITS.shown.problems} more`);
    return [title, ...lines].join('\n');
  });
  return new ConfigurationError(
    text.join('\n'),
    problems.map((problem) => `${problem.file}: ${problem.text}`),
  );
}

async function importAll(layers: readonly Layer[], context: LayerContext): Promise<ImportedSource[]> {
  const wanted = layers.flatMap(({ base, section }) => (section.sources ?? []).map((entry) => ({ entry, base })));
  // A preview leaves out sources without a path: they are the user's own files, or are trusted separately.
  const active = wanted.filter(
    ({ entry }) => entry.enabled !== false && (context.onCode === undefined || entry.path !== undefined),
  );
  if (active.length === 0) return [];
  // Imported on demand: the importers are large, and most configurations name none.
  const { importSource } = await import('../clients/importers/import-source.ts');
  const results = await Promise.all(active.map(({ entry, base }) => importSource(entry, { ...context, base })));
  return results.flat();
}

const wasRead = ({ source }: ImportedSource) => source.status === 'ok' || source.status === 'error';

/** Returns the entries of all layers, merged by name. The user's entries are not mixed with a project's. */
function ownEntries(layers: readonly Layer[], context: LayerContext): PlacedEntry[] {
  const { world, project = false } = context;
  const [users, projects] = [new Map<string, PlacedEntry>(), new Map<string, PlacedEntry>()];
  for (const { section, base, file, prefix } of layers) {
    const isProjects = project && !context.isUsers?.(file);
    // The user's servers keep their own working folder, even if a project extends the user's file.
    const { folder, pins } = project && !isProjects ? {} : context;
    const byName = isProjects ? projects : users;
    for (const [index, entry] of (section.servers ?? []).entries()) {
      const origin = { file, path: toPathText(prefix, ['servers', index]) };
      const lower = { entry: withAbsolutePaths(pins?.pinned(entry) ?? entry, base, world), origin, folder, isProjects };
      const upper = byName.get(entry.name);
      byName.set(entry.name, upper === undefined ? lower : mergeEntries(upper, lower));
    }
  }
  return [...projects.values(), ...users.values()];
}

/** An entry without a connection is a mistake, unless a source that may have the server could not be read. */
function unreachableProblems({ unreachable }: JoinedServers, imported: readonly ImportedSource[], isShown: boolean) {
  // A preview does not know which file has the server; it only shows that the entry adjusts one.
  if (isShown) return { problems: [], warnings: unreachable.map(({ entry }) => changesText(entry)) };
  const texts = unreachable.map(({ entry, origin }) => ({
    file: origin.file,
    text: `${origin.path}.connection: is missing; no source has a server called ${JSON.stringify(entry.name)}`,
  }));
  const excused = imported.some(({ source }) => source.status !== 'ok');
  return excused
    ? { problems: [], warnings: texts.map(({ file, text }) => `${file}: ${text}. The entry is left out.`) }
    : { problems: texts, warnings: [] };
}

const changesText = ({ name, ...said }: PlacedEntry['entry']): string =>
  `A server called ${JSON.stringify(name)} that another file has would be given: ${Object.keys(said).join(', ') || 'nothing'}.`;

/** Names the entries of a project that ask for fewer approvals than its servers need. */
function looserApprovals({ placed, servers }: JoinedServers): string[] {
  const modes = new Map(servers.map(({ name, approval = 'off' }) => [name, approval]));
  return placed
    .filter(({ entry, isProjects }) => isProjects && entry.approval && entry.approval !== modes.get(entry.name))
    .map(
      ({ origin: { file, path } }) =>
        `${file}: ${path}.approval is ignored: about a project’s server it can only be stricter.`,
    );
}

function ceilingWarning({ name, timeouts: { call = 0 } }: ServerDefinition, ceiling: number): string[] {
  if (call <= ceiling) return [];
  return [`Server "${name}": timeouts.call is ${call}, but limits.callCeiling ends every call after ${ceiling} ms.`];
}

/** Fills in every path and applies environment variables. */
function withPlaces(settings: Settings, world: World) {
  const { env } = world;
  const state = stateFolder(world);
  const { ANYGPT_CACHE_DIR: dir, ANYGPT_CACHE_TTL: ttl } = env;
  return {
    ...settings,
    cache: {
      enabled: settings.cache.enabled,
      ttl: ttl ? toSeconds(ttl) : settings.cache.ttl,
      dir: (dir && absoluteFolder(dir, world)) || (settings.cache.dir ?? join(state, 'cache')),
    },
    audit: { ...settings.audit, file: settings.audit.file ?? join(state, 'audit', 'audit.jsonl') },
  };
}

function toSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== '' && Number.isFinite(seconds) && seconds >= 0 && seconds <= LIMITS.time.timer) return seconds;
  throw new ConfigurationError('The environment variable ANYGPT_CACHE_TTL must be a number of seconds, 0 or more.');
}
