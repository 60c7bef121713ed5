/**
 * Opens the MCPB bundle of a registry's server: downloads and checks it, and turns its manifest into a way to use it. The
 * bundle is unpacked later, if a person says yes. Starts nothing.
 * @module
 */
import { rm } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { foldersOf, launchOf, programOf, runsOn } from '../../clients/importers/mcpb.ts';
import { readZipEntry } from '../../clients/importers/zip-entry.ts';
import { stateFolder, type World } from '../../config/world.ts';
import { ConfigurationError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { parseWritten } from '../../json/json-nesting.ts';
import { isObject } from '../../json/plain-object.ts';
import type { ConnectionWay, Word } from '../../mcp-registry/connection-ways.ts';
import { fetchBundle } from '../../mcp-registry/fetch-bundle.ts';
import type { NamedInput, RegistryInput } from '../../mcp-registry/registry-server.ts';
import { checkBundle, unpackBundle } from '../../mcp-registry/unpack-bundle.ts';
import { variableWarnings } from '../../mcp-registry/way-warnings.ts';
import { isPlain, oneLine } from '../../text/plain-text.ts';

type Raw = Readonly<Record<string, unknown>>;

/** A bundle that was downloaded and checked. */
export interface OpenBundle {
  /** How its manifest wants it to be started. */
  readonly way: ConnectionWay;
  /** The folder that `unpack` makes. Its name is the SHA-256 of the bundle. */
  readonly folder: string;
  unpack(): Promise<void>;
  /** Removes the downloaded file. */
  discard(): Promise<void>;
}

/** What opening needs of its surroundings. */
interface BundleContext {
  readonly world: World;
  readonly isLocalRegistry: boolean;
  readonly hasCommand: (command: string) => boolean;
  /** Ids of inputs that a person has answered. */
  readonly answered: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

/** Opens the bundle of a way. Throws if it is another one than the registry names, hostile, or cannot run here. */
export async function openBundle(way: ConnectionWay, context: BundleContext): Promise<OpenBundle> {
  const { bundle } = way;
  if (bundle === undefined) throw new TypeError('the way has no bundle');
  const { world, isLocalRegistry, signal } = context;
  const bundles = join(stateFolder(world), 'bundles');
  const file = await fetchBundle({ ...bundle, isLocalRegistry }, bundles, signal);
  const folder = join(bundles, bundle.sha256);
  const discard = () => rm(file, { force: true });
  try {
    await checkBundle(file);
    const text = await readZipEntry(file, 'manifest.json');
    const manifest = text === undefined ? undefined : parsed(text);
    if (!isObject(manifest)) throw refused('it has no manifest.json that can be read');
    return {
      way: { ...way, ...new ManifestReader(manifest, folder, context).launch() },
      folder,
      unpack: () => unpackBundle(file, folder),
      discard,
    };
  } catch (error) {
    await discard();
    throw error;
  }
}

const refused = (why: string): ConfigurationError => new ConfigurationError(`The bundle cannot be used: ${why}.`);

function parsed(text: string): unknown {
  try {
    return parseWritten(text);
  } catch {
    return undefined;
  }
}

const ID = 'user_config.';
const KEY = /^[A-Za-z_][A-Za-z0-9_.-]{0,110}$/;
const FORMATS: Readonly<Record<string, RegistryInput['format']>> = {
  number: 'number',
  boolean: 'boolean',
  directory: 'filepath',
  file: 'filepath',
};
/** Programs that run what is in a bundle. */
const RUNTIME = /^(?:node|python3?|uvx?|dotnet|java)(?:\.exe)?$/;
const FIXED = { isRequired: false, isSecret: false, isRepeated: false, format: 'string', choices: [] } as const;

/** Reads a manifest. Every text is used as it is, so one with something hidden in it is refused. */
class ManifestReader {
  readonly #manifest: Raw;
  readonly #context: BundleContext;
  readonly #folder: string;
  readonly #fixed: ReadonlyMap<string, string>;

  constructor(manifest: Raw, folder: string, context: BundleContext) {
    this.#manifest = manifest;
    this.#context = context;
    this.#folder = folder;
    this.#fixed = foldersOf(folder, context.world);
  }

  launch(): Pick<ConnectionWay, 'words' | 'environment' | 'runtime' | 'isAvailable' | 'warnings'> {
    const { world, hasCommand } = this.#context;
    const server = isObject(this.#manifest.server) ? this.#manifest.server : {};
    const { command, args = [], env = {} } = launchOf(server, world) ?? {};
    if (!runsOn(this.#manifest, world)) throw refused(`it does not run on ${world.platform}`);
    if (command === undefined || !Array.isArray(args) || !isObject(env))
      throw refused('its manifest does not say how it is started');
    if (args.length > LIMITS.registry.list || Object.keys(env).length > LIMITS.registry.list)
      throw refused(`its manifest has more than ${LIMITS.registry.list} arguments or variables`);
    const program = programOf(this.#filled(exact(command)), server, world);
    // A program of the bundle itself is always meant by its full path.
    const isOwn = /[\\/]/.test(program);
    const environment = Object.entries(env).map(([name, value]) => {
      if (!KEY.test(name)) throw refused(`${JSON.stringify(oneLine(name, 40))} is not the name of a variable`);
      return { ...this.#input(exact(value)), name };
    });
    const started = isOwn ? resolve(this.#folder, program) : program;
    const isInside = isOwn ? started.startsWith(`${this.#folder}${sep}`) : RUNTIME.test(program);
    return {
      words: [started, ...args.flatMap((one) => this.#argument(exact(one)))],
      environment,
      runtime: isOwn ? undefined : program,
      isAvailable: isOwn || hasCommand(program),
      warnings: [
        ...variableWarnings(environment),
        ...(isInside ? [] : [`it starts ${started}, which is not in the bundle`]),
      ],
    };
  }

  /** A list that is the whole argument becomes several. */
  #argument(text: string): Word[] {
    const key = /^\$\{user_config\.([^{}]*)\}$/.exec(text)?.[1];
    const { multiple, default: usual } = key === undefined ? {} : this.#asked(key);
    if (key === undefined || multiple !== true) {
      const input = this.#input(text);
      return input.variables.length === 0 ? [this.#filled(text)] : [{ ...input, isRepeated: false }];
    }
    if (Array.isArray(usual) && !this.#context.answered.has(ID + key))
      return usual.slice(0, LIMITS.registry.list).map((one) => this.#filled(exact(one)));
    const { name, ...input } = this.#variable(key);
    return [{ ...input, valueHint: name, isRepeated: true }];
  }

  #input(text: string): RegistryInput {
    const keys = new Set([...text.matchAll(/\$\{user_config\.([^{}]*)\}/g)].map(([, key = '']) => key));
    return { ...FIXED, value: this.#filled(text), variables: [...keys].map((key) => this.#variable(key)) };
  }

  #variable(key: string): NamedInput {
    const { type, title, description, required, sensitive, default: usual } = this.#asked(key);
    const about = [title, description].find((text) => typeof text === 'string');
    return {
      ...FIXED,
      name: ID + key,
      description: about === undefined ? undefined : oneLine(String(about), LIMITS.text.title),
      default: usual === undefined || usual === null || Array.isArray(usual) ? undefined : this.#filled(exact(usual)),
      isRequired: required === true,
      isSecret: sensitive === true,
      format: FORMATS[String(type)] ?? 'string',
      variables: [],
    };
  }

  #asked(key: string): Raw {
    const { user_config: all } = this.#manifest;
    const asked = KEY.test(key) && isObject(all) && Object.hasOwn(all, key) ? all[key] : undefined;
    if (!isObject(asked)) throw refused(`its manifest does not describe ${JSON.stringify(oneLine(ID + key, 60))}`);
    return asked;
  }

  /** Fills folders in. Everything else stays as it is written. */
  #filled(text: string): string {
    return text.replace(/\$\{([^}]*)\}/g, (whole, inside: string) => this.#fixed.get(inside) ?? whole);
  }
}

/** A text that becomes part of a command line. */
function exact(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') throw refused('its manifest has a word that is not a text');
  if (value.length > LIMITS.registry.value || /[\r\n\0]/.test(value) || !isPlain(value))
    throw refused('a word in its manifest is too long or has hidden characters');
  return value;
}
