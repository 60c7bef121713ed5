/**
 * Layers in, the resolved configuration out: settings merged and completed, servers collected from the files and from
 * the sources they name, switches in the environment applied.
 * @module
 */
import { join, resolve } from 'node:path';
import { ConfigurationError } from '../errors.ts';
import type { ServerDefinition } from '../types.ts';
import { toConsistentSettings } from './consistency.ts';
import type { ImportedSource } from './importers/import-source.ts';
import { type JoinedServers, joinServers } from './join-servers.ts';
import type { FileProblem, Layer, LayerContext } from './layers.ts';
import { mergeSettings } from './merge-settings.ts';
import { expandHome } from './paths.ts';
import { toPathText } from './problems.ts';
import type { ResolvedConfig } from './resolved-config.ts';
import { mergeEntries, type PlacedEntry, withAbsolutePaths } from './server-entry.ts';
import { type Settings, settingsSchema } from './settings-schema.ts';
import { withEnvironment } from './shared-variables.ts';
import { withWorkspace } from './workspace-folder.ts';
import { stateFolder, type World } from './world.ts';

/** Problems shown for one file; a person mends them a screen at a time. All are in `problems`. */
const MAX_SHOWN = 50;

/** What was found out before resolving. */
export interface Findings {
  readonly files: readonly string[];
  readonly warnings: readonly string[];
  readonly origin: string | undefined;
}

/** Resolves layers, the strongest first. Without layers this is the built-in default. */
export async function resolveConfig(
  layers: readonly Layer[],
  findings: Findings,
  context: LayerContext,
): Promise<ResolvedConfig> {
  const { world } = context;
  const file = findings.origin ?? 'the built-in configuration';
  const prefix = layers[0]?.prefix ?? '';
  const written = mergeSettings(layers, world);
  const { settings, problems } = toConsistentSettings(written, settingsSchema.parse(written));
  const imported = settings.enabled ? await importAll(layers, context) : [];
  const own = settings.enabled ? ownEntries(layers, context) : [];
  const joined = joinServers(
    own,
    imported.flatMap(({ entries }) => entries),
  );
  const incomplete = unreachableProblems(joined, imported);
  const all = [
    ...problems.map(({ group, key, text }) => ({ file, text: toPathText(prefix, [group, key]) + text })),
    ...incomplete.problems,
  ];
  if (all.length > 0) throw toConfigurationError(all);
  const servers = await withWorkspace(joined.servers, world, context.isTrustedFolder);
  const inEnvironment = withEnvironment(servers, world);
  return {
    ...withPlaces(settings, world),
    servers: inEnvironment.servers,
    sources: imported.map(({ source }) => source),
    // The user's own rules come first, so that they can open what a client's tool list closes.
    toolRules: [...layers.flatMap(({ section }) => section.toolRules ?? []), ...joined.toolRules],
    files: [...new Set([...findings.files, ...imported.filter(wasRead).map(({ source }) => source.path)])],
    warnings: [
      ...findings.warnings,
      ...imported.flatMap(({ warnings }) => warnings),
      ...joined.warnings,
      ...incomplete.warnings,
      ...inEnvironment.warnings,
      ...joined.servers.flatMap((server) => ceilingWarning(server, settings.limits.callCeiling)),
    ],
    origin: findings.origin,
    home: stateFolder(world),
  };
}

/** One error for any number of problems in any number of files. */
export function toConfigurationError(problems: readonly FileProblem[]): ConfigurationError {
  const files = [...new Set(problems.map(({ file }) => file))];
  const text = files.map((file) => {
    const own = problems.filter((problem) => problem.file === file);
    const title = own.length === 1 ? `${file} has a problem:` : `${file} has ${own.length} problems:`;
    const lines = own.slice(0, MAX_SHOWN).map((problem) => `  - ${problem.text}`);
    if (own.length > MAX_SHOWN) lines.push(`  and ${own.length - MAX_SHOWN} more`);
    return [title, ...lines].join('\n');
  });
  return new ConfigurationError(
    text.join('\n'),
    problems.map((problem) => `${problem.file}: ${problem.text}`),
  );
}

async function importAll(layers: readonly Layer[], context: LayerContext): Promise<ImportedSource[]> {
  const wanted = layers.flatMap(({ base, section }) => (section.sources ?? []).map((entry) => ({ entry, base })));
  const active = wanted.filter(({ entry }) => entry.enabled !== false);
  if (active.length === 0) return [];
  // What is known about other programs is much, and most configurations name none.
  const { importSource } = await import('./importers/import-source.ts');
  const results = await Promise.all(active.map(({ entry, base }) => importSource(entry, { ...context, base })));
  return results.flat();
}

const wasRead = ({ source }: ImportedSource) => source.status === 'ok' || source.status === 'error';

/** The entries of all layers, those of one name merged. */
function ownEntries(layers: readonly Layer[], { world, folder }: LayerContext): PlacedEntry[] {
  const byName = new Map<string, PlacedEntry>();
  for (const { section, base, file, prefix } of layers) {
    for (const [index, entry] of (section.servers ?? []).entries()) {
      const origin = { file, path: toPathText(prefix, ['servers', index]) };
      const lower = { entry: withAbsolutePaths(entry, base, world), origin, folder };
      const upper = byName.get(entry.name);
      byName.set(entry.name, upper === undefined ? lower : mergeEntries(upper, lower));
    }
  }
  return [...byName.values()];
}

/** An entry without a connection is a mistake, unless the source that should have had the server could not be read. */
function unreachableProblems({ unreachable }: JoinedServers, imported: readonly ImportedSource[]) {
  const texts = unreachable.map(({ entry, origin }) => ({
    file: origin.file,
    text: `${origin.path}.connection: is missing; no source has a server called ${JSON.stringify(entry.name)}`,
  }));
  const excused = imported.some(({ source }) => source.status !== 'ok');
  return excused
    ? { problems: [], warnings: texts.map(({ file, text }) => `${file}: ${text}. The entry is left out.`) }
    : { problems: texts, warnings: [] };
}

function ceilingWarning({ name, timeouts: { call = 0 } }: ServerDefinition, ceiling: number): string[] {
  if (call <= ceiling) return [];
  return [`Server "${name}": timeouts.call is ${call}, but limits.callCeiling ends every call after ${ceiling} ms.`];
}

/** The settings with every place filled in and the environment's word taken. */
function withPlaces(settings: Settings, world: World) {
  const { cwd, env } = world;
  const state = stateFolder(world);
  const { ANYGPT_CACHE_DIR: dir, ANYGPT_CACHE_TTL: ttl } = env;
  return {
    ...settings,
    cache: {
      enabled: settings.cache.enabled,
      ttl: ttl ? toSeconds(ttl) : settings.cache.ttl,
      dir: dir ? resolve(cwd, expandHome(dir, world)) : (settings.cache.dir ?? join(state, 'cache')),
    },
    audit: { ...settings.audit, file: settings.audit.file ?? join(state, 'audit', 'audit.jsonl') },
  };
}

function toSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== '' && Number.isFinite(seconds) && seconds >= 0 && seconds <= 2_147_483_647) return seconds;
  throw new ConfigurationError('The environment variable ANYGPT_CACHE_TTL must be a number of seconds, 0 or more.');
}
