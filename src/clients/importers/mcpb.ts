/**
 * Imports the server of an MCPB bundle: the unpacked folder, its manifest.json, or the `.mcpb` file, of which only the
 * manifest is read. Values that the bundle would ask the user for come from the environment.
 * @module
 */
import { existsSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { parseData } from '../../config/parse-data.ts';
import { readIfPresent } from '../../config/read-file.ts';
import type { World } from '../../config/world.ts';
import { ConfigurationError } from '../../core/errors.ts';
import { isObject } from '../../json/plain-object.ts';
import { type Imported, toImported } from './imported-entry.ts';
import { escaped } from './variables.ts';
import { readZipEntry } from './zip-entry.ts';

type Raw = Readonly<Record<string, unknown>>;

/** A bundle whose manifest was read. */
interface Bundle {
  /** The text of the manifest, and its file. */
  readonly text: string;
  readonly place: string;
  /** The folder of its files, existing or to be unpacked. */
  readonly folder: string;
  readonly unpacked: boolean;
}

/**
 * Reads the manifest of a bundle; undefined when the path does not exist.
 * @param read reads files of a project
 */
export async function readBundle(
  path: string,
  read: (path: string) => Promise<string | undefined> = readIfPresent,
): Promise<Bundle | undefined> {
  const info = statSync(path, { throwIfNoEntry: false });
  if (info === undefined) return undefined;
  const packed = info.isFile() && basename(path) !== 'manifest.json';
  const folder = packed ? path.slice(0, path.length - extname(path).length) : info.isFile() ? dirname(path) : path;
  // The unpacked folder is what runs, so its manifest counts.
  const unpacked = !packed || existsSync(join(folder, 'manifest.json'));
  const place = join(unpacked ? folder : path, 'manifest.json');
  const text = unpacked ? await read(place) : await readZipEntry(path, 'manifest.json');
  if (text === undefined) throw new ConfigurationError(`${path} has no manifest.json, so it is not an MCPB bundle.`);
  return { text, place, folder, unpacked };
}

/** Returns the server of a bundle; a string result says what was expected instead. */
export async function fromBundle({ text, place, folder, unpacked }: Bundle, world: World): Promise<Imported | string> {
  const manifest = await parseData(place, text, () => undefined);
  if (!isObject(manifest) || !isObject(manifest.server)) return 'expected a manifest with `server`';
  if (typeof manifest.name !== 'string') return 'expected a manifest with a `name`';
  const { server, name } = manifest;
  const config = launchOf(server, world);
  if (config === undefined) return 'expected `server.mcp_config.command` in the manifest';
  const values = new Values(name, manifest.user_config, folder, world);
  const author = {
    description: typeof manifest.description === 'string' ? manifest.description : undefined,
    enabled: unpacked && runsOn(manifest, world),
    connection: {
      type: 'stdio',
      command:
        typeof config.command === 'string' ? programOf(values.fill(config.command), server, world) : config.command,
      args: Array.isArray(config.args) ? config.args.flatMap((arg: unknown) => values.argument(arg)) : undefined,
      env: isObject(config.env)
        ? Object.fromEntries(
            Object.entries(config.env).map(([key, value]) => [
              key,
              typeof value === 'string' ? values.fill(value) : value,
            ]),
          )
        : undefined,
    },
    tools: Array.isArray(manifest.tools) ? manifest.tools.filter(isObject).map(toTool) : undefined,
  };
  const imported = toImported(name, author, 'server');
  const notes = [
    ...(unpacked ? [] : [`it has to be unpacked into ${folder} before it can run; it is switched off`]),
    ...(runsOn(manifest, world) ? [] : [`it does not run on ${world.platform}; it is switched off`]),
    ...values.missing.map((variable) => `it needs the environment variable ${variable}, which is not set`),
  ];
  return imported.entries.length === 0 ? imported : { ...imported, notes: notes.map((note) => `server: ${note}`) };
}

const toTool = ({ name, description }: Raw) => ({ name, ...(typeof description === 'string' && { description }) });

/** Tells whether a manifest names this platform, or none. */
export function runsOn({ compatibility }: Raw, { platform }: World): boolean {
  const platforms = isObject(compatibility) ? compatibility.platforms : undefined;
  return !Array.isArray(platforms) || platforms.length === 0 || platforms.includes(platform);
}

/** Returns the command for this platform. A `uv` bundle may have none. */
export function launchOf(server: Raw, { platform }: World): Raw | undefined {
  if (!isObject(server.mcp_config)) {
    if (server.type !== 'uv' || typeof server.entry_point !== 'string') return undefined;
    return { command: 'uv', args: ['run', '--directory', '${__dirname}', server.entry_point] };
  }
  const { platform_overrides: overrides, ...config } = server.mcp_config;
  const own = isObject(overrides) ? overrides[platform] : undefined;
  const merged: Raw = isObject(own) ? { ...config, ...own } : config;
  return merged.command === undefined ? undefined : merged;
}

/** Returns the name of a program on this platform. */
export function programOf(command: string, { type }: Raw, { platform }: World): string {
  return platform === 'win32' && type === 'binary' && !/\.\w+$/.test(command) ? `${command}.exe` : command;
}

/** Returns what the variables stand for that every manifest may use, by name. */
export const foldersOf = (folder: string, { home, platform }: World): ReadonlyMap<string, string> =>
  new Map([
    ['__dirname', folder],
    ['HOME', home],
    ['DESKTOP', join(home, 'Desktop')],
    ['DOCUMENTS', join(home, 'Documents')],
    ['DOWNLOADS', join(home, 'Downloads')],
    ['/', platform === 'win32' ? '\\' : '/'],
    ['pathSeparator', platform === 'win32' ? '\\' : '/'],
  ]);

/** Values for the variables of a manifest. */
class Values {
  readonly #bundle: string;
  readonly #config: Raw;
  readonly #fixed: ReadonlyMap<string, string>;
  readonly #world: World;
  readonly #missing = new Set<string>();

  constructor(bundle: string, config: unknown, folder: string, world: World) {
    this.#bundle = bundle;
    this.#config = isObject(config) ? config : {};
    this.#world = world;
    this.#fixed = foldersOf(folder, world);
  }

  /** Required environment variables that are not set. */
  get missing(): readonly string[] {
    return [...this.#missing];
  }

  /** Fills in one argument; a list that is the whole argument becomes several. */
  argument(written: unknown): unknown[] {
    if (typeof written !== 'string') return [written];
    const key = /^\$\{user_config\.([^}]*)\}$/.exec(written)?.[1];
    const asked = key === undefined ? undefined : this.#asked(key);
    if (!Array.isArray(asked?.default)) return [this.fill(written)];
    return asked.default.map((item: unknown) => (typeof item === 'string' ? this.fill(item) : String(item)));
  }

  fill(written: string): string {
    return written.replace(/\$\{([^}]*)\}/g, (whole, inside: string) => {
      if (inside.startsWith('user_config.')) return this.#reference(inside.slice('user_config.'.length));
      const fixed = this.#fixed.get(inside);
      return escaped(fixed ?? whole);
    });
  }

  #asked(key: string): Raw | undefined {
    const asked = Object.hasOwn(this.#config, key) ? this.#config[key] : undefined;
    return isObject(asked) ? asked : undefined;
  }

  #reference(key: string): string {
    const variable = `${this.#bundle}_${key}`
      .toUpperCase()
      .replace(/[^A-Z0-9]/g, '_')
      .replace(/^(?=\d)/, '_');
    const { default: fallback, required } = this.#asked(key) ?? { default: undefined, required: false };
    const text = ['string', 'number', 'boolean'].includes(typeof fallback) ? this.#plain(String(fallback)) : undefined;
    if (text !== undefined) return text.includes('}') ? escaped(text) : `\${${variable}:-${text}}`;
    if (required !== true) return `\${${variable}:-}`;
    if (this.#world.env[variable] === undefined) this.#missing.add(variable);
    return `\${${variable}}`;
  }

  /** Fills folders into a default, because a default cannot contain a reference. */
  #plain(text: string): string {
    return text.replace(/\$\{([^}]*)\}/g, (whole, inside: string) => this.#fixed.get(inside) ?? whole);
  }
}
