/**
 * One entry of `sources` in, the servers in that file out. A missing or broken file is a status and a warning; it never
 * stops the rest.
 * @module
 */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigurationError } from '../../errors.ts';
import { parseData } from '../parse-data.ts';
import { expandPath } from '../paths.ts';
import { isObject } from '../plain-object.ts';
import { readIfPresent } from '../read-file.ts';
import type { ResolvedSource } from '../resolved-config.ts';
import type { SourceEntry } from '../schema.ts';
import { type PlacedEntry, withAbsolutePaths } from '../server-entry.ts';
import type { World } from '../world.ts';
import { fromCustom } from './custom.ts';
import type { Imported } from './imported-entry.ts';
import { fromMcpServers } from './mcp-servers.ts';
import { SOURCE_CLIENTS } from './source-clients.ts';

const MAX_WARNINGS = 20;
const EXPECTED = { custom: 'a `servers` map or list, or a `mcpServers` map', mcpServers: 'a `mcpServers` map' };

/** What a source gave. */
export interface ImportedSource {
  readonly source: ResolvedSource;
  readonly entries: readonly PlacedEntry[];
  readonly warnings: readonly string[];
}

/** What importing needs to know beside the entry itself. */
export interface ImportContext {
  readonly world: World;
  /** The folder relative paths start from. */
  readonly base: string;
  /** Whether the content of this file may be used. */
  readonly isTrusted: (path: string, text: string) => Promise<boolean>;
}

/** Reads one source. */
export async function importSource(
  { type, path: written }: SourceEntry,
  context: ImportContext,
): Promise<ImportedSource> {
  const { world, base } = context;
  const client = SOURCE_CLIENTS[type];
  const usual = client.defaultPaths(world);
  let path = written ?? usual.find((place) => existsSync(place)) ?? usual[0] ?? '';
  const failed = (status: 'missing' | 'error' | 'untrusted', message: string): ImportedSource => ({
    source: { type, path, status, message, serverCount: 0 },
    entries: [],
    warnings: [`Source ${type}: ${message}`],
  });
  try {
    if (written !== undefined) path = expandPath(written, base, world, `the path of source ${type}`);
    const text = await readIfPresent(path);
    if (text === undefined) return failed('missing', `${path} was not found.`);
    if (!(await context.isTrusted(path, text))) {
      return failed(
        'untrusted',
        `${path} came with this project and is not trusted. Look at it, then run \`anygpt mcp trust ${path}\`.`,
      );
    }
    const notes: string[] = [];
    const document = await parseData(path, text, (key, line) =>
      notes.push(`${path}:${line}: ${JSON.stringify(key.slice(0, 100))} is written twice, the last one counts.`),
    );
    const imported = convert(client.shape, document);
    if (imported === undefined) {
      return failed('error', `${path} holds no servers: expected an object with ${EXPECTED[client.shape]}.`);
    }
    const entries = imported.entries.map(({ entry, path: place }) => ({
      entry: withAbsolutePaths(entry, dirname(path), world),
      origin: { file: path, path: place },
    }));
    return {
      source: { type, path, status: 'ok', serverCount: entries.length },
      entries,
      warnings: firstFew([...notes, ...imported.problems.map((problem) => `${path}: left out ${problem}.`)], path),
    };
  } catch (error) {
    if (error instanceof ConfigurationError) return failed('error', error.message);
    throw error;
  }
}

/** A file full of nonsense must not drown what else is said. */
const firstFew = (warnings: readonly string[], path: string): readonly string[] =>
  warnings.length <= MAX_WARNINGS
    ? warnings
    : [...warnings.slice(0, MAX_WARNINGS), `${path}: and ${warnings.length - MAX_WARNINGS} more like these.`];

/** A client's file without servers is a client without servers; a custom file without them is a mistake. */
function convert(shape: 'custom' | 'mcpServers', document: unknown): Imported | undefined {
  if (shape === 'custom') return fromCustom(document);
  if (!isObject(document)) return undefined;
  const servers = document.mcpServers ?? {};
  return isObject(servers) ? fromMcpServers(servers) : undefined;
}
