/**
 * Converts one client entry into a checked server entry. Accepts the spellings of all clients; the differences are in
 * the dialect. Each entry is converted on its own, so a bad one does not affect the others.
 * @module
 */
import { resolve } from 'node:path';
import { parseDotenv } from '../../config/dotenv.ts';
import { expandHome } from '../../config/paths.ts';
import type { Pins } from '../../config/pins.ts';
import { readSmallFile } from '../../config/referenced-file.ts';
import { ConfigurationError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { type TransportType, transportParts } from '../../core/transport-parts.ts';
import { isObject } from '../../json/plain-object.ts';
import type { Adapted, Adapter } from './adapters.ts';
import type { Dialect } from './dialect.ts';
import { type Imported, leftOut, passedOver, toImported } from './imported-entry.ts';
import { loginFields } from './login-fields.ts';
import { isOurselves } from './ourselves.ts';
import { readToolFilter } from './tool-filter.ts';
import { type Surroundings, VariableReader } from './variables.ts';

type Raw = Readonly<Record<string, unknown>>;

/** How the entries of one file are read. */
export interface EntryContext extends Surroundings {
  readonly dialect: Dialect;
  readonly adapt?: Adapter | undefined;
  /** Pins the files that a project's entries name. */
  readonly pins?: Pins | undefined;
}

export function toServer(name: string, raw: unknown, path: string, context: EntryContext): Imported {
  if (!isObject(raw)) return leftOut(`${path}: expected an object`);
  const adapted = context.adapt?.(raw) ?? { raw };
  if ('skip' in adapted) return passedOver(`${path}: ${adapted.skip}`);
  if ('problem' in adapted) return leftOut(`${path}: ${adapted.problem}`);
  if (isOurselves(adapted.raw, name)) return passedOver(`${path}: it starts this gateway itself`);
  const transport = transportOf(adapted.raw, context.dialect);
  if ('problem' in transport) return leftOut(`${path}: ${transport.problem}`);
  const filter = readToolFilter(adapted.raw, context.dialect);
  if (typeof filter === 'string') return leftOut(`${path}: ${filter}`);
  const variables = new VariableReader(context.dialect.variables, context);
  const notes: string[] = [];
  const author = toAuthorEntry(adapted, transport.type, variables, context, notes);
  const attention = transport.attention ?? variables.attention ?? helperOf(adapted.raw);
  const imported = toImported(name, attention === undefined ? author : { ...author, enabled: false }, path, filter);
  if (imported.entries.length === 0) return imported;
  const said = [...notes, ...variables.notes, ...(attention === undefined ? [] : [`${attention}; it is switched off`])];
  return { ...imported, notes: said.map((note) => `${path}: ${note}`) };
}

/** Clients' spellings of the transport, lower-cased, without dashes and underscores. */
const TRANSPORTS: ReadonlyMap<string, TransportType> = new Map<string, TransportType>([
  ['stdio', 'stdio'],
  ['local', 'stdio'],
  ['http', 'http'],
  ['https', 'http'],
  ['streamablehttp', 'http'],
  ['remote', 'http'],
  ['sse', 'sse'],
  ['ws', 'http'],
  ['websocket', 'http'],
]);

type Transport =
  | { readonly type: TransportType; readonly attention?: string | undefined }
  | { readonly problem: string };

function transportOf(raw: Raw, { urlWithoutType }: Dialect): Transport {
  const command = raw.command !== undefined;
  const url = addressOf(raw) !== undefined;
  if (!command && !url) return { problem: 'it has neither `command` nor `url`' };
  const said = raw.type ?? raw.transport ?? raw.transportType;
  if (said === undefined) {
    if (command) return url ? { problem: 'it has both `command` and `url`' } : { type: 'stdio' };
    if (urlWithoutType === 'refused') return { problem: 'it has a `url` but no `type`, so its client does not use it' };
    return { type: urlWithoutType === 'sse' && raw.httpUrl === undefined ? 'sse' : 'http' };
  }
  const word = typeof said === 'string' ? said.toLowerCase().replace(/[-_]/g, '') : '';
  const type = TRANSPORTS.get(word);
  if (type === undefined) return { problem: 'its `type` is none of stdio, http and sse' };
  const { addressField } = transportParts(type);
  if (!{ command, url }[addressField]) return { problem: `its \`type\` is ${type}, but it has no \`${addressField}\`` };
  return { type, ...(word.startsWith('w') && { attention: 'it speaks WebSocket, which this gateway does not' }) };
}

const addressOf = (raw: Raw): unknown => raw.url ?? raw.serverUrl ?? raw.httpUrl;

/** Programs that generate headers are never run. */
const helperOf = (raw: Raw): string | undefined =>
  [raw.headersHelper, raw.http_headers_helper].some((helper) => helper !== undefined)
    ? 'its headers come from a program of its client, which is not run here'
    : undefined;

/** Takes over only the keys we use; clients keep many other keys in an entry. */
function toAuthorEntry(
  adapted: Adapted,
  type: TransportType,
  variables: VariableReader,
  context: EntryContext,
  notes: string[],
) {
  const { raw } = adapted;
  const text = (value: unknown): unknown => (typeof value === 'string' ? variables.convert(value) : value);
  const cwd = raw.cwd ?? raw.working_directory ?? raw.workingDirectory;
  const args: unknown = Array.isArray(raw.args) ? raw.args.map(text) : (raw.args ?? undefined);
  const oauth = loginFields(raw, context.dialect, (value) => variables.convert(value));
  const connection = transportParts(type).isLocal
    ? {
        type,
        command: text(raw.command),
        args,
        env: layered(
          fromEnvFile(raw.envFile, context, notes),
          toTexts(raw.env ?? raw.environment ?? raw.envs, text),
          adapted.env,
        ),
        ...(adapted.inheritEnv !== undefined && { inheritEnv: adapted.inheritEnv }),
        cwd: cwd === null ? undefined : text(cwd),
      }
    : {
        type,
        url: text(addressOf(raw)),
        headers: layered(undefined, toTexts(raw.headers ?? raw.http_headers, text), adapted.headers),
        ...(oauth && { oauth }),
      };
  const timeouts = timeoutsOf(raw, context.dialect);
  return {
    connection,
    ...(typeof raw.description === 'string' &&
      raw.description !== '' && { description: raw.description.slice(0, 10_000) }),
    ...(timeouts !== undefined && { timeouts }),
    enabled: raw.disabled !== true && raw.enabled !== false,
  };
}

/** Clients accept numbers and booleans as text, and `null` to leave a value out. */
function toTexts(map: unknown, text: (value: unknown) => unknown): unknown {
  if (!isObject(map)) return map ?? undefined;
  const kept = Object.entries(map).filter(([, value]) => value !== null);
  return fromEntries(
    kept.map(([name, value]) => [
      name,
      typeof value === 'number' || typeof value === 'boolean' ? String(value) : text(value),
    ]),
  );
}

/** `Object.fromEntries` defines keys, so `__proto__` is an ordinary name. */
const fromEntries = (entries: readonly (readonly [string, unknown])[]): Raw => Object.fromEntries(entries);

/** Merges variables: an adapter's override the entry's, which override those of an `envFile`. */
function layered(below: Raw | undefined, map: unknown, above: Raw | undefined): unknown {
  if ((below === undefined && above === undefined) || (map !== undefined && !isObject(map))) return map;
  return fromEntries([below, map, above].flatMap((part) => Object.entries(part ?? {})));
}

/**
 * Returns the variables of a dotenv file, each as a reference to the file. Names are read now, values when the server
 * starts.
 */
function fromEnvFile(written: unknown, context: EntryContext, notes: string[]): Raw | undefined {
  if (typeof written !== 'string' || written === '') return undefined;
  const { world, folder, workspace, dialect } = context;
  const place = new VariableReader(dialect.variables, context).convert(written);
  const path = resolve(workspace ?? folder, expandHome(place, world));
  if (path.includes('${')) {
    notes.push(`its \`envFile\` ${written.slice(0, 200)} contains a reference that is unknown here, so it is not read`);
    return undefined;
  }
  try {
    const text = context.pins?.textOf(path) ?? readSmallFile(path, 'its `envFile`');
    const names = [...parseDotenv(text).keys()];
    if (!path.includes('}')) return fromEntries(names.map((name) => [name, `\${envFile:${path}#${name}}`]));
    notes.push('its `envFile` has a brace in its path and is not read');
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    notes.push(error.message.replace(/\.$/, ''));
  }
  return undefined;
}

function timeoutsOf(raw: Raw, { timeouts = [] }: Dialect): Raw | undefined {
  const found = timeouts.flatMap(({ key, limits, unit, atLeast = 0 }) => {
    const written = raw[key];
    if (typeof written !== 'number' || !(written > 0) || written < atLeast) return [];
    return [[limits, Math.min(Math.max(1, Math.round(written * unit)), LIMITS.time.timer)] as const];
  });
  return found.length === 0 ? undefined : fromEntries(found);
}
